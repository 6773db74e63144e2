"""SideView: one of the three heatmaps of a comparison, under its name and its colour bar."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from html import escape

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QHelpEvent
from PySide6.QtWidgets import QHBoxLayout, QToolTip, QVBoxLayout, QWidget

from attn_gui.control.comparing import SideFeed
from attn_gui.model.experiment import Experiment
from attn_gui.model.stages import STAGES
from attn_gui.model.trace import Head
from attn_gui.views.bands import Bands
from attn_gui.views.compare.linked_selection import LinkedSelection
from attn_gui.views.compare.words import table_cell
from attn_gui.views.context import Context
from attn_gui.views.elided_label import ElidedLabel
from attn_gui.views.heatmap.columns import Columns
from attn_gui.views.heatmap.heatmap import Heatmap
from attn_gui.views.heatmap.labels import token_text

TITLE_HEIGHT = 16
SPACING = 4
# in a low window the lines below go before these
LEAST_ROWS = 2
QWIDGETSIZE_MAX = (1 << 24) - 1
# stages that every experiment has, whose values a heatmap can call by their names; the others' are read as scores
NAMED = ("raw", "scaled", "capped", "A", "A_masked", "N")


class SideHeatmap(Heatmap):
    """Of a stage that may change; nothing is painted on it, and a cell is read out on both sides at once."""

    compared = "N"
    heading = ""
    is_difference = False

    @property
    def maskable(self) -> bool:
        return False

    def show_stage(self, stage: str, *, diverging: bool) -> None:
        """Take what comes for ``stage``. diverging: whether colours are centred on 0."""
        self.compared = stage
        # it names the axes of queries and keys
        self.plot.corner.setVisible(STAGES[stage].square)
        name = stage if stage in NAMED else "A"
        if (name, diverging) != (self.pictures.stage, self.pictures.diverging):
            self.pictures.stage, self.pictures.diverging = name, diverging
            self._restore(self.context.document.session)
            self.plot.set_theme(diverging)
            if self.shows_table:
                self.twin.open(name)

    def described(
        self,
        experiment: Experiment,
        stage: str,
        head: Head,
        cell: tuple[int, int],
        found: tuple[float, bool] | None,
        decimals: int,
    ) -> str:
        """A cell of the table by the stage that is compared; ``experiment`` names its rows and columns."""
        row, column = experiment.tokens.tokens[cell[0]], experiment.keys.tokens[cell[1]]
        names = token_text(row), token_text(column)
        return table_cell(self.compared, self.heading, names, found, decimals, difference=self.is_difference)

    def look_like(self, other: SideHeatmap) -> None:
        """Take the colours and the pooling that were chosen in another heatmap."""
        if self.pictures.mapping != other.pictures.mapping:
            self.choices.set_mapping(other.pictures.mapping)
        if self.pictures.pooling != other.pictures.pooling:
            self.choices.set_pooling(other.pictures.pooling)

    def say(self, text: str) -> None:
        """Have a screen reader say ``text`` of what is selected."""
        if text != self.plot.accessibleDescription():
            self.plot.setAccessibleDescription(text)
            if self.plot.hasFocus() and QAccessible.isActive():
                QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self.plot, text))

    def _say(self) -> None:
        """Nothing of its own: see :meth:`say`."""


class SideView(QWidget):
    """``told`` gives the words for the cell under the pointer. Rows and columns are shared with the other two."""

    def __init__(
        self,
        context: Context,
        feed: SideFeed,
        selection: LinkedSelection,
        slot: str,
        name: str,
        bands: Bands,
        columns: Columns,
        told: Callable[[], str],
        *,
        drives_bands: bool = False,
    ) -> None:
        super().__init__()
        own = replace(context, feed=feed, selection=selection, bands=bands)
        self.heatmap = SideHeatmap(
            own, slot, "N", diverging=False, name=name, columns=columns, drives_bands=drives_bands
        )
        self.heatmap.menu.paint.setVisible(False)
        self._explainer = Explainer(self.heatmap, selection, told)
        self.title = ElidedLabel(name)
        self.title.setObjectName("step")
        self.head(name)
        self.bar = self.heatmap.footer.bar
        top = QHBoxLayout()
        top.setContentsMargins(0, 0, 0, 0)
        top.setSpacing(2 * SPACING)
        top.addWidget(self.title, 1)
        top.addWidget(self.bar, 2)
        self.title.setFixedHeight(TITLE_HEIGHT)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACING)
        column.addLayout(top)
        column.addWidget(self.heatmap, 1)

    def head(self, name: str) -> None:
        """Have ``name`` over it, and in what a screen reader says."""
        self.title.setText(name)
        self.heatmap.heading = name
        self.heatmap.plot.setAccessibleName(f"{name}, heatmap")

    def limit_height(self, cells: int) -> None:
        """Be no taller than what ``cells`` pixels for the heatmap make it."""
        self.setMaximumHeight(min(TITLE_HEIGHT + SPACING + cells, QWIDGETSIZE_MAX))


class Explainer(QObject):
    """Has the tool tip of a heatmap say of a cell what it is on both sides."""

    def __init__(self, heatmap: SideHeatmap, selection: LinkedSelection, told: Callable[[], str]) -> None:
        super().__init__(heatmap)
        self._plot = heatmap.plot
        self._selection = selection
        self._told = told
        # after the heatmap's own filter, and so asked before it
        self._plot.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() != QEvent.Type.ToolTip or not isinstance(event, QHelpEvent):
            return False
        cell = self._plot.at(event.pos())
        if cell is None:
            return False
        self._selection.set_hover(cell)
        place = self._plot.grid.cell(*cell).toAlignedRect().translated(self._plot.area.topLeft())
        # a token may look like markup
        QToolTip.showText(event.globalPos(), f"<span>{escape(self._told())}</span>", self._plot, place)
        return True
