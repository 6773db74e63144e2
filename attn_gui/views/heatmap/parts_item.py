"""PartsItem: gaps that set the keys of the cache, and those that are no token's, apart from the present ones."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from attn_gui.model.experiment import Experiment
from attn_gui.views.heatmap.grid import Grid
from attn_gui.views.painting import guarded
from attn_gui.views.theme import Theme

# pixels of a gap, and of a cell beside which there is room for one so wide
GAP, NARROW_GAP = 5, 3
WIDE_CELL = 16


def parts_of(experiment: Experiment) -> tuple[int, ...]:
    """The keys that begin another part of the axis: the present after the cache, then those that are appended."""
    ends = (experiment.offset, experiment.n_k - len(experiment.appended))
    return tuple(key for key in ends if 0 < key < experiment.n_k)


def paint_parts(painter: QPainter, grid: Grid, parts: tuple[int, ...], gap: QColor, line: QColor) -> None:
    """A gap with a line in its middle before each of ``parts``."""
    area = grid.covered
    width = GAP if grid.cell_width >= WIDE_CELL else NARROW_GAP
    for key in parts:
        left = round(grid.x(key)) - width // 2
        whole = QRectF(left, area.top(), width, area.height())
        painter.fillRect(whole & area, gap)
        painter.fillRect(QRectF(left + width // 2, area.top(), 1, area.height()) & area, line)


class PartsItem(QGraphicsItem):
    """Lies above the cells of a heatmap, and below their numbers."""

    def __init__(self) -> None:
        super().__init__()
        self._grid: Grid | None = None
        self._parts: tuple[int, ...] = ()
        self._gap = self._line = QColor(Qt.GlobalColor.transparent)
        self.setVisible(False)

    def set_theme(self, theme: Theme) -> None:
        self._gap, self._line = theme.colour("panel"), theme.colour("muted")
        self.update()

    def show_parts(self, parts: tuple[int, ...]) -> None:
        """Set ``parts`` apart from what comes before them."""
        if parts != self._parts:
            self._parts = parts
            self.setVisible(bool(parts))
            self.update()

    def show_grid(self, grid: Grid) -> None:
        if grid != self._grid:
            self.prepareGeometryChange()
            self._grid = grid
            self.update()

    def boundingRect(self) -> QRectF:
        return QRectF() if self._grid is None else self._grid.covered

    @guarded
    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        if self._grid is not None:
            paint_parts(painter, self._grid, self._parts, self._gap, self._line)
