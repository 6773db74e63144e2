"""LinesItem: a hairline between neighbouring cells, while cells are large enough to bear one."""

from __future__ import annotations

import math

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from attn_gui.views.heatmap.grid import Grid
from attn_gui.views.painting import guarded
from attn_gui.views.theme import Theme

SMALLEST_CELL = 12


class LinesItem(QGraphicsItem):
    """Keeps cells of one colour apart."""

    def __init__(self) -> None:
        super().__init__()
        self._grid: Grid | None = None
        self._ratio = 1.0
        self._colour = QColor(Qt.GlobalColor.transparent)

    def set_theme(self, theme: Theme) -> None:
        self._colour = theme.colour("panel")
        self.update()

    def show_grid(self, grid: Grid, ratio: float) -> None:
        """Lines for ``grid``, at ``ratio`` device pixels a pixel."""
        if (grid, ratio) != (self._grid, self._ratio):
            self.prepareGeometryChange()
            self._grid, self._ratio = grid, ratio
            self.setVisible(min(grid.cell_width, grid.cell_height) >= SMALLEST_CELL)
            self.update()

    def boundingRect(self) -> QRectF:
        return QRectF() if self._grid is None else self._grid.covered

    @guarded
    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        grid = self._grid
        if grid is None:
            return
        area = grid.covered
        for i in grid.queries[1:]:
            painter.fillRect(QRectF(area.left(), self._first(grid.y(i)), area.width(), 1), self._colour)
        for j in grid.keys[1:]:
            painter.fillRect(QRectF(self._first(grid.x(j)), area.top(), 1, area.height()), self._colour)

    def _first(self, edge: float) -> float:
        """Where the first device pixel begins whose centre lies beyond ``edge``: the first of a cell's colour."""
        return math.ceil(edge * self._ratio - 0.5) / self._ratio
