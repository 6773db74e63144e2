"""The cursor: the selected cell, the band of its query, and the cross-hair under the pointer."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPen
from PySide6.QtWidgets import QGraphicsItem, QGraphicsRectItem

from attn_gui.views.heatmap.grid import Grid
from attn_gui.views.theme import Theme

# an outline around a smaller cell would hide it
SMALLEST_OUTLINE = 8
CROSS_OPACITY = 0.6
ORDER = 10


class Cursor:
    """Rectangles that are moved about, above everything else in the heatmap; each repaints only where it lies."""

    def __init__(self) -> None:
        self._cross = [frame(ORDER), frame(ORDER)]  # around the hovered row and column
        self._band = [_bar(ORDER + 1), _bar(ORDER + 1)]  # the upper and the lower edge of the selected row
        self._halo, self._outline = frame(ORDER + 2), frame(ORDER + 3)
        self.items: list[QGraphicsItem] = [*self._cross, *self._band, self._halo, self._outline]
        self._accent, self._panel = QColor(), QColor()
        self._focused = False

    def set_theme(self, theme: Theme) -> None:
        self._accent, self._panel = theme.colour("accent"), theme.colour("panel")
        cross = QColor(theme.colour("text"))
        cross.setAlphaF(CROSS_OPACITY)
        for frame in self._cross:
            frame.setPen(sharp(cross, 1))
        for bar in self._band:
            bar.setBrush(self._accent)
        self._draw_frames()

    def set_focused(self, focused: bool) -> None:
        """Whether the keyboard moves this cursor."""
        self._focused = focused
        self._draw_frames()

    def show_selected(self, grid: Grid, query: int, key: int) -> None:
        """Outline the cell and light the edges of its query's band."""
        cell, area = grid.cell(query, key), grid.covered
        dx = max(0.0, SMALLEST_OUTLINE - cell.width()) / 2
        dy = max(0.0, SMALLEST_OUTLINE - cell.height()) / 2
        box = cell.adjusted(-dx, -dy, dx, dy)
        put(self._halo, box, area)
        put(self._outline, box, area)
        top, bottom = round(cell.top()), round(cell.bottom())
        put(self._band[0], QRectF(area.left(), top, area.width(), 1), area)
        put(self._band[1], QRectF(area.left(), max(top + 1, bottom - 1), area.width(), 1), area)

    def show_hovered(self, grid: Grid, cell: tuple[int, int] | None) -> None:
        """Cross-hair through ``cell``, or none."""
        for frame in self._cross:
            frame.setVisible(cell is not None)
        if cell is not None:
            place, area = grid.cell(*cell), grid.covered
            put(self._cross[0], QRectF(area.left(), place.top(), area.width(), place.height()), area)
            put(self._cross[1], QRectF(place.left(), area.top(), place.width(), area.height()), area)

    def hide(self) -> None:
        for item in self.items:
            item.setVisible(False)

    def _draw_frames(self) -> None:
        width = 3 if self._focused else 2
        self._halo.setPen(sharp(self._panel, width + 2))
        self._outline.setPen(sharp(self._accent, width))


def _bar(order: int) -> QGraphicsRectItem:
    item = QGraphicsRectItem()
    item.setPen(QPen(Qt.PenStyle.NoPen))
    item.setZValue(order)
    item.setVisible(False)
    return item


def frame(order: int) -> QGraphicsRectItem:
    """An empty rectangle, out of sight."""
    item = QGraphicsRectItem()
    item.setBrush(QBrush(Qt.BrushStyle.NoBrush))
    item.setZValue(order)
    item.setVisible(False)
    return item


def sharp(colour: QColor, width: int) -> QPen:
    """A pen that draws corners as corners."""
    pen = QPen(colour, width)
    pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
    return pen


def put(item: QGraphicsRectItem, rect: QRectF, area: QRectF) -> None:
    """Put ``item`` at ``rect`` if any of it is in sight."""
    inside = rect.intersects(area)
    if inside and rect != item.rect():
        item.setRect(rect)
    item.setVisible(inside)
