"""HeatmapPanel: steps 2 and 3 of the formula, the scores A and the weights N."""

from __future__ import annotations

from typing import Literal

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from attn_gui.model.experiment import Experiment
from attn_gui.model.stage_shape import missing
from attn_gui.views import formulas
from attn_gui.views.context import Context
from attn_gui.views.heatmap.arranged_words import arranged_title, arranged_words
from attn_gui.views.heatmap.heatmap import Heatmap
from attn_gui.views.panel import Panel


class HeatmapPanel(Panel):
    """A heatmap with its colour bar. ``A`` gives the shared rows their height; ``N`` has the sums of its rows."""

    def __init__(self, context: Context, which: Literal["A", "N"], parent: QWidget | None = None) -> None:
        scores = which == "A"
        step, title = ("2", "Scores") if scores else ("3", "Weights")
        super().__init__(context, step, title, "", parent)
        self._scores, self._stage = scores, "A_masked" if scores else "N"
        self.menu_title = f"{title} {which}"
        self.heatmap = Heatmap(
            context,
            which,
            self._stage,
            diverging=scores,
            name=self.menu_title,
            drives_bands=scores,
            sums=not scores,
        )
        self.set_body(self.heatmap)
        self.set_footer(self.heatmap.footer)
        context.feed.traced.connect(lambda trace: self._write_formula(trace.experiment))
        context.document.changed.connect(lambda before, after: self.show_absent(missing(after.experiment, self._stage)))
        self._write_formula(context.document.experiment)

    def drive_bands(self, on: bool) -> None:
        """Whether this panel's height is what the shared rows have to fill."""
        self.heatmap.plot.drive_bands(on)

    def share_columns(self, other: HeatmapPanel) -> None:
        """Have ``other`` show the keys that this panel shows, from now on."""
        other.heatmap.plot.set_columns(self.heatmap.plot.columns)

    def actions_for_menu(self) -> list[QAction | None]:
        """What can be done here, None for a separator."""
        return self.heatmap.menu.for_menu()

    def picture_actions(self) -> list[QAction]:
        """Saving the heatmap as an image."""
        return [self.heatmap.menu.save_picture]

    def _write_formula(self, experiment: Experiment) -> None:
        self.show_absent(missing(experiment, self._stage))
        explained = (formulas.scores_explained if self._scores else formulas.weights_explained)(experiment)
        text = explained.partition("\n")[0]
        arranged = self.context.feed.arranged
        if arranged is not None:
            text = arranged_title(arranged)
            explained = f"{explained}\n{arranged_words(arranged, self.heatmap.pictures.stage)}"
        self.show_formula(text, explained)
