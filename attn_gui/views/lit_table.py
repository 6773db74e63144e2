"""LitTable: a spreadsheet whose rows are queries (or keys); the selected one is lit, and is the current row."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QRect
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHeaderView, QWidget

from attn_gui.model.edits import Side
from attn_gui.views.bands import HEADER
from attn_gui.views.context import Context
from attn_gui.views.foot_scroll import THICKNESS, thin_bars
from attn_gui.views.painting import guarded
from attn_gui.views.spreadsheet import SpreadsheetView

# so many columns of numbers have a place in a panel, however narrow the window
LEAST_COLUMNS = 3
# pixels of a panel beside its table, in the theme with the widest lines
BESIDE = 28


class LitTable(SpreadsheetView):
    """Rows are queries where ``side`` is "tokens", keys otherwise: those of the cache, or the present ones after it.

    Making a row current selects its token, and the other way round; columns stay where they are.
    """

    def __init__(self, context: Context, side: Side, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.side = side
        self._following = False
        self.setFrameShape(QFrame.Shape.NoFrame)
        rows, columns = self.verticalHeader(), self.horizontalHeader()
        rows.hide()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        columns.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        columns.setFixedHeight(HEADER)
        context.selection.cell_changed.connect(self.follow_selection)
        context.look.changed.connect(self._dress)
        self._dress()

    @property
    def lit(self) -> int:
        """The row whose token is selected; there may be no such row where rows are keys."""
        selection = self.context.selection
        return selection.query if self.side == "tokens" else selection.key - self.first_key

    @property
    def first_key(self) -> int:
        """Which key the first row is."""
        return 0 if self.side == "past" else self.context.document.experiment.offset

    def select_token(self, row: int) -> None:
        """Select the token of ``row``, as query or as key; the other one stays."""
        selection, experiment = self.context.selection, self.context.document.experiment
        if self.side == "tokens":
            selection.set_cell(row, min(selection.key, experiment.n_k - 1))
        else:
            selection.set_cell(min(selection.query, experiment.n_q - 1), row + self.first_key)

    @property
    def least_width(self) -> int:
        """Pixels that the columns take which are to be in sight in any window."""
        raise NotImplementedError

    def keep_room(self, panel: QWidget, widths: tuple[int, int]) -> None:
        """Keep ``panel`` wide enough for :attr:`least_width`, within ``widths``."""
        panel.setMinimumWidth(max(widths[0], min(self.least_width + THICKNESS + BESIDE, widths[1])))

    def follow_selection(self) -> None:
        """Make the lit row current, unless that would lose what is being typed."""
        self.viewport().update()
        current, row = self.currentIndex(), self.lit
        there = 0 <= row < self.grid.rowCount() and self.grid.columnCount()
        if self.held or current.row() == row or not there:
            return
        self._following = True
        across = self.horizontalScrollBar().value()
        self.go_to(row, max(0, current.column()))
        self.horizontalScrollBar().setValue(across)
        self._following = False

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        if 0 <= self.lit < self.grid.rowCount():
            # over the whole width, so that the band goes on into the next panel
            top, height = self.rowViewportPosition(self.lit), self.rowHeight(self.lit)
            band = QRect(0, top, self.viewport().width(), height)
            QPainter(self.viewport()).fillRect(band, self.context.look.theme.colour("band"))
        super().paintEvent(event)

    def currentChanged(self, current: QModelIndex, previous: QModelIndex) -> None:  # type: ignore[override]
        super().currentChanged(current, previous)
        if current.isValid() and not self._following:
            self.select_token(current.row())

    def _dress(self) -> None:
        self.verticalScrollBar().setStyleSheet(thin_bars(self.context.look.theme))
