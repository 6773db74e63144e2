"""LitTable: a spreadsheet whose rows are queries (or keys); the selected one is lit, and is the current row."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QModelIndex, QRect
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QHeaderView, QWidget

from attn_gui.model.edits import Side
from attn_gui.model.lit import Lit
from attn_gui.views.bands import HEADER
from attn_gui.views.cell_painter import faint
from attn_gui.views.cell_ranges import CellRange
from attn_gui.views.context import Context
from attn_gui.views.foot_scroll import THICKNESS, thin_bars
from attn_gui.views.grid import Index
from attn_gui.views.painting import guarded
from attn_gui.views.spreadsheet import SpreadsheetView

# so many columns of numbers have a place in a panel, however narrow the window
LEAST_COLUMNS = 3
# pixels of a panel beside its table, in the theme with the widest lines
BESIDE = 28
# of the colour behind cells that are pointed out
LIT_ALPHA = 40


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
        context.highlight.changed.connect(self._point_out)
        context.look.changed.connect(self._dress)
        self._dress()

    def range_of(self, part: Lit) -> CellRange | None:
        """The cells of this table that ``part`` is; None where it is of something else."""
        return None

    def cells_of(self, part: Lit, first: int, columns: range) -> CellRange:
        """The cells of ``part`` where row ``first`` of its stage is this table's first and ``columns`` are its."""
        top, bottom = (0, self.grid.rowCount() - 1) if part.row is None else (part.row - first, part.row - first)
        left, right = columns.start, columns.stop - 1
        if part.column is not None:
            left = right = columns.start + part.column
        return CellRange(top, left, bottom, right)

    def backdrop(self, index: Index) -> QColor | None:
        if self.context.highlight.parts:  # asked of every cell that is drawn, and most of the time there are none
            row, column = index.row(), index.column()
            if any(row in cells.rows and column in cells.columns for cells, _ in self._pointed_out()):
                return faint(self.context.look.theme.colour("accent"), LIT_ALPHA)
        return super().backdrop(index)

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
        for cells, result in self._pointed_out():
            first, last = self.grid.index(cells.top, cells.left), self.grid.index(cells.bottom, cells.right)
            place = self.visualRect(first).united(self.visualRect(last)).adjusted(0, 0, -1, -1)
            painter = QPainter(self.viewport())
            painter.setPen(QPen(self.context.look.theme.colour("accent"), 2 if result else 1))
            painter.drawRect(place.adjusted(1, 1, 0, 0) if result else place)
            painter.end()

    def _pointed_out(self) -> Iterator[tuple[CellRange, bool]]:
        """The cells of what is pointed out here, and whether it is the number in question."""
        rows, columns = self.grid.rowCount(), self.grid.columnCount()
        for part in self.context.highlight.parts:
            cells = self.range_of(part)
            if cells is not None and 0 <= cells.top <= cells.bottom < rows and cells.left <= cells.right < columns:
                yield cells, part.result

    def _point_out(self) -> None:
        """Mark what is pointed out, and bring the number in question into sight."""
        self.viewport().update()
        bar = self.horizontalScrollBar()
        for cells, result in self._pointed_out():
            if result:
                left = self.columnViewportPosition(cells.left)
                beyond = left + self.columnWidth(cells.left) - self.viewport().width()
                bar.setValue(bar.value() + (min(left, 0) or max(beyond, 0)))

    def currentChanged(self, current: QModelIndex, previous: QModelIndex) -> None:  # type: ignore[override]
        super().currentChanged(current, previous)
        if current.isValid() and not self._following:
            self.select_token(current.row())

    def _dress(self) -> None:
        self.verticalScrollBar().setStyleSheet(thin_bars(self.context.look.theme))
