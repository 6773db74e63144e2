"""FlashItem: cells that an edit has changed light up once, softly."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QObject, QRectF, QVariantAnimation
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from attn_gui.model.picture import MASKED, Picture
from attn_gui.views.heatmap.grid import Grid
from attn_gui.views.theme import Theme

LARGEST = 64
DURATION_MS = 480
# repaints of one flash; more are not seen
STEPS = 12
STRENGTH = 0.75


def changed_cells(before: Picture | None, after: Picture) -> list[tuple[int, int]]:
    """The cells (query, key) that differ between two exact pictures of one window of at most 64 x 64 cells."""
    if before is None or not (before.exact and after.exact) or before.request != after.request:
        return []
    if max(after.index.shape) > LARGEST:
        return []
    differs = (before.values != after.values) & ~(np.isnan(before.values) & np.isnan(after.values))
    differs |= (before.index == MASKED) != (after.index == MASKED)
    (top, _), (left, _) = after.request.rows, after.request.columns
    return [(int(i) + top, int(j) + left) for i, j in np.argwhere(differs)]


class FlashItem(QGraphicsItem):
    """Covers the changed cells and fades away, so that they seem to come back with their new values."""

    def __init__(self, owner: QObject) -> None:
        super().__init__()
        self._cells: list[QRectF] = []
        self._bounds = QRectF()
        self._colour = QColor()
        self._step = 0
        self._animation = QVariantAnimation(owner)
        self._animation.setDuration(DURATION_MS)
        self._animation.setStartValue(STEPS)
        self._animation.setEndValue(0)
        self._animation.valueChanged.connect(self._fade)
        self.setVisible(False)

    def set_theme(self, theme: Theme) -> None:
        self._colour = theme.colour("panel")

    def start(self, grid: Grid, cells: list[tuple[int, int]]) -> None:
        self.stop()
        self._cells = [grid.cell(i, j) & grid.covered for i, j in cells]
        self.prepareGeometryChange()
        self._bounds = QRectF()
        for cell in self._cells:
            self._bounds |= cell
        self._fade(STEPS)
        self._animation.start()

    def stop(self) -> None:
        self._animation.stop()
        self.setVisible(False)

    def boundingRect(self) -> QRectF:
        return self._bounds

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        colour = QColor(self._colour)
        colour.setAlphaF(STRENGTH * self._step / STEPS)
        for cell in self._cells:
            painter.fillRect(cell, colour)

    def _fade(self, step: Any) -> None:
        if step != self._step or not self.isVisible():
            self._step = int(step)
            self.setVisible(self._step > 0)
            self.update()
