"""LinesItem: a hairline between neighbouring cells, while cells are large enough to bear one."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from attn_gui.views.heatmap.grid import Grid
from attn_gui.views.theme import Theme

SMALLEST_CELL = 12


class LinesItem(QGraphicsItem):
    """Keeps cells of one colour apart."""

    def __init__(self) -> None:
        super().__init__()
        self._grid: Grid | None = None
        self._colour = QColor(Qt.GlobalColor.transparent)

    def set_theme(self, theme: Theme) -> None:
        self._colour = theme.colour("panel")
        self.update()

    def show_grid(self, grid: Grid) -> None:
        if grid != self._grid:
            self.prepareGeometryChange()
            self._grid = grid
            self.setVisible(min(grid.cell_width, grid.cell_height) >= SMALLEST_CELL)
            self.update()

    def boundingRect(self) -> QRectF:
        return QRectF() if self._grid is None else self._grid.covered

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        grid = self._grid
        if grid is None:
            return
        area = grid.covered
        for i in grid.queries[1:]:
            painter.fillRect(QRectF(area.left(), round(grid.y(i)), area.width(), 1), self._colour)
        for j in grid.keys[1:]:
            painter.fillRect(QRectF(round(grid.x(j)), area.top(), 1, area.height()), self._colour)
