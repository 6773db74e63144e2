"""CellPainter: how the cells of a spreadsheet are drawn, all of those in sight in one go."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QLine, QPointF, QRect, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QHeaderView

from attn_gui.views.cut_text import PADDING, cut_text
from attn_gui.views.grid import Index
from attn_gui.views.theme import Theme
from attn_gui.views.writer import along, writer

if TYPE_CHECKING:
    from attn_gui.views.spreadsheet import SpreadsheetView

SELECTED_ALPHA = 56
INDICATOR = 14
# corners of the tick in it
TICK = ((3.5, 7.5), (6.0, 10.0), (10.5, 4.5))

_CHECKED, _TEXT = Qt.ItemDataRole.CheckStateRole, Qt.ItemDataRole.DisplayRole
_ALIGNMENT = Qt.ItemDataRole.TextAlignmentRole


class _Lane(NamedTuple):
    """A row or a column: which one, where it begins in the viewport, and its length without the grid line."""

    section: int
    start: int
    length: int


class _Column(NamedTuple):
    """Where the texts of a column lie. marked: whether its cells are checked instead; whole: no edge cuts it."""

    lane: _Lane
    along: float
    marked: bool
    whole: bool


class CellPainter:
    """Draws cells with the lit row, the selection and a frame round the current cell."""

    # pixels at the left of a cell that its text leaves to :meth:`mark`
    before = 0

    def __init__(self, view: SpreadsheetView) -> None:
        self._view = view
        self._writer = writer(view.font())

    def paint(self, painter: QPainter, area: QRect) -> None:
        """Draw the cells that have a part in ``area`` of the viewport."""
        view = self._view
        line = 1 if view.showGrid() else 0
        rows = _lanes(view.verticalHeader(), area.top(), area.bottom(), line)
        lanes = _lanes(view.horizontalHeader(), area.left(), area.right(), line)
        if not rows or not lanes:
            return
        self._writer = writer(view.font())
        columns = [self._column(rows[0].section, lane) for lane in lanes]
        selected, marks = view.selected, view.shows_selection
        painter.setFont(self._writer.font)
        for row in rows:
            painter.setPen(self._ink)
            here = [cells.columns for cells in selected if row.section in cells.rows]
            for column in columns:
                index = view.grid.createIndex(row.section, column.lane.section)  # not asked whether it is there
                self._paint_back(painter, row, column.lane, index, here, marks)
                if column.marked:
                    self._paint_indicator(painter, row, column.lane, index)
                else:
                    self._paint_text(painter, row, column, index)
        if line:
            self._paint_lines(painter, area, rows, lanes)
        current = view.currentIndex()
        if view.hasFocus() and current.isValid():
            painter.setPen(QPen(view.context.look.theme.colour("accent"), 2))
            painter.drawRect(view.visualRect(current).adjusted(1, 1, -1, -1))

    def drawn(self, rect: QRect, index: Index) -> tuple[QRect, str]:
        """Where and as what the text of a cell, which lies in ``rect``, is drawn."""
        view, grid = self._view, self._view.grid
        place = rect.adjusted(self.before + PADDING, 0, -PADDING, 0)
        alignment = grid.data(index, _ALIGNMENT)
        text = str(grid.data(index, _TEXT))
        return cut_text(text, view.fontMetrics(), place, alignment, view.viewport().rect())

    def mark(self, painter: QPainter, rect: QRect, index: Index) -> None:
        """Draw what stands before the text of a cell, which lies in ``rect``."""

    def _column(self, row: int, lane: _Lane) -> _Column:
        grid = self._view.grid
        # what is aligned otherwise than the first cell in sight is so in another column
        alignment = grid.data(grid.index(row, lane.section), _ALIGNMENT)
        whole = lane.start >= 0 and lane.start + lane.length <= self._view.viewport().width()
        return _Column(lane, along(alignment), grid.marks(lane.section), whole)

    @property
    def _ink(self) -> QColor:
        return self._view.context.look.theme.colour("muted" if self._view.faded else "text")

    def _paint_back(
        self, painter: QPainter, row: _Lane, column: _Lane, index: Index, here: Iterable[range], marks: bool
    ) -> None:
        """``here``: the selected columns of this row; ``marks``: whether they are told from one cell alone."""
        view, theme = self._view, self._view.context.look.theme
        place = column.start, row.start, column.length, row.length
        selected = any(column.section in columns for columns in here)
        if selected:
            painter.fillRect(*place, theme.colour("band"))
        backdrop = view.backdrop(index)
        if backdrop is not None:
            painter.fillRect(*place, backdrop)
        if selected and marks:
            painter.fillRect(*place, faint(theme.colour("accent"), SELECTED_ALPHA))

    def _paint_text(self, painter: QPainter, row: _Lane, column: _Column, index: Index) -> None:
        lane = column.lane
        room = lane.length - self.before - 2 * PADDING
        line = self._writer.line(str(self._view.grid.data(index, _TEXT)))
        if column.whole and line.width <= room:
            line.draw(painter, lane.start + self.before + PADDING, row.start, room, row.length, column.along)
        else:
            place, text = self.drawn(_rect(row, lane), index)
            at = place.left(), place.top(), place.width(), place.height()
            self._writer.line(text).draw(painter, *at, column.along)
        if self.before:
            self.mark(painter, _rect(row, lane), index)

    def _paint_indicator(self, painter: QPainter, row: _Lane, column: _Lane, index: Index) -> None:
        checked = bool(self._view.grid.data(index, _CHECKED))
        draw_indicator(painter, _rect(row, column), checked, self._view.context.look.theme)
        painter.setPen(self._ink)

    def _paint_lines(self, painter: QPainter, area: QRect, rows: list[_Lane], columns: list[_Lane]) -> None:
        right = min(area.right(), columns[-1].start + columns[-1].length)
        bottom = min(area.bottom(), rows[-1].start + rows[-1].length)
        ends = [top + height for _, top, height in rows]
        lines = [QLine(area.left(), y, right, y) for y in ends]
        ends = [left + width for _, left, width in columns]
        lines += [QLine(x, area.top(), x, bottom) for x in ends]
        painter.setPen(self._view.context.look.theme.colour("line"))
        painter.drawLines(lines)


def _rect(row: _Lane, column: _Lane) -> QRect:
    return QRect(column.start, row.start, column.length, row.length)


def draw_indicator(painter: QPainter, rect: QRect, checked: bool, theme: Theme) -> None:
    """Draw a box, with a tick if it is ``checked``: the style's own cannot be told from a dark ground behind it."""
    box = QRect(0, 0, INDICATOR, INDICATOR)
    box.moveCenter(rect.center())
    painter.fillRect(box, theme.colour("accent" if checked else "field"))
    painter.setPen(QPen(theme.colour("accent" if checked else "muted"), 1))
    painter.drawRect(box.adjusted(0, 0, -1, -1))
    if checked:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.colour("accent_text"), 2))
        painter.drawPolyline([QPointF(box.left() + x, box.top() + y) for x, y in TICK])
        painter.restore()


def faint(colour: QColor, alpha: int) -> QColor:
    """``colour`` with ``alpha`` of 255."""
    thin = QColor(colour)
    thin.setAlpha(alpha)
    return thin


def _lanes(header: QHeaderView, first: int, last: int, line: int) -> list[_Lane]:
    """The rows or columns that have a part between two pixels, each with a grid line of ``line`` pixels at its end."""
    start, stop = header.visualIndexAt(first), header.visualIndexAt(last)
    if start < 0:
        return []
    stop = stop if stop >= 0 else header.count() - 1
    return [_Lane(k, header.sectionViewportPosition(k), header.sectionSize(k) - line) for k in range(start, stop + 1)]
