"""ScoresPage: the table of the scores of all heads, and the way to have it as a file."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QLabel, QPushButton, QVBoxLayout, QWidget

from attn_gui.control.storage import reason
from attn_gui.control.worker import Priority, at_once
from attn_gui.files.scores_csv import LayerScores, write_scores
from attn_gui.views.context import Context
from attn_gui.views.drawers.drawer import SPACING, table_height
from attn_gui.views.drawers.flow import Flow
from attn_gui.views.drawers.statistics_table import StatisticsTable
from attn_gui.views.layers.scores_model import ScoresModel

TOPIC = "layers"
CSV = "CSV (*.csv)"


class ScoresPage(QWidget):
    """Every head a line, every score a column; ``table.opened`` tells the line that was chosen."""

    def __init__(
        self,
        context: Context,
        model: ScoresModel,
        layers: Callable[[], list[LayerScores] | None],
        parent: QWidget | None = None,
    ) -> None:
        """``layers``: the scores of every head there is, None while some are not known."""
        super().__init__(parent)
        self._context = context
        self._layers = layers
        self.table = StatisticsTable(model, "Scores of each head")
        self.save = QPushButton("Save as CSV…")
        self.save.setToolTip("Every number of every head as it was computed")
        self.save.clicked.connect(self._choose_file)
        hint = QLabel("Click a heading to sort; point at it for its formula and its source")
        hint.setObjectName("muted")
        below = self._below = Flow()
        below.addWidget(self.save)
        below.addWidget(hint)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACING)
        column.addWidget(self.table, 1)
        column.addLayout(below)

    def refresh(self) -> None:
        """Offer the file once every head is scored."""
        self.save.setEnabled(self._layers() is not None)

    def height_for(self, width: int) -> int:
        """Pixels for every line where it is ``width`` wide."""
        return table_height(self.table, width) + SPACING + self._below.heightForWidth(width)

    def write(self, path: Path) -> None:
        """Put the table at ``path``, in the worker, and say how it went."""
        layers, notices = self._layers(), self._context.notices
        if layers is None:
            return
        self._context.worker.submit(
            "save scores",
            at_once(partial(write_scores, path, layers)),
            Priority.TRACE,
            lambda _: notices.info(f"Saved {path.name}", TOPIC),
            lambda error: notices.error(f"{path.name} was not saved: {reason(error)}", TOPIC),
            owed=True,
        )

    def _choose_file(self) -> None:
        start = self._context.settings.export_folder / f"{self._context.document.title} scores.csv"
        chosen, _ = QFileDialog.getSaveFileName(self, "Save the scores", str(start), CSV)
        if chosen:
            self.write(Path(chosen))
