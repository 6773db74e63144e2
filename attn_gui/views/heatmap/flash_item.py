"""FlashItem: cells that an edit has changed light up once, softly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, QRectF, Qt, QVariantAnimation
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from attn_gui.model.picture import MASKED, Picture
from attn_gui.views.heatmap.grid import Grid
from attn_gui.views.painting import guarded
from attn_gui.views.theme import Theme

LARGEST = 64
DURATION_MS = 480
# repaints of one flash; more are not seen
STEPS = 12
STRENGTH = 0.75


@dataclass(frozen=True, eq=False)
class Changes:
    """Which cells of the block that begins at (top, left) have changed: [rows, columns], uint8, 1 or 0."""

    top: int
    left: int
    cells: NDArray[np.uint8]


def changed_cells(before: Picture | None, after: Picture) -> Changes | None:
    """The smallest block with the cells that differ between two exact pictures of one window of at most 64 x 64.

    None where nothing differs, or where the pictures cannot be compared.
    """
    if before is None or not (before.exact and after.exact) or before.request != after.request:
        return None
    if max(after.index.shape) > LARGEST:
        return None
    differs = (before.values != after.values) & ~(np.isnan(before.values) & np.isnan(after.values))
    differs |= (before.index == MASKED) != (after.index == MASKED)
    rows, columns = (differs.any(axis=axis).nonzero()[0] for axis in (1, 0))
    if len(rows) == 0:
        return None
    block = differs[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    top, left = after.request.rows[0] + int(rows[0]), after.request.columns[0] + int(columns[0])
    return Changes(top, left, np.ascontiguousarray(block).view(np.uint8))


class FlashItem(QGraphicsItem):
    """Covers the changed cells and fades away, so that they seem to come back with their new values."""

    def __init__(self, owner: QObject) -> None:
        super().__init__()
        self._changes: Changes | None = None
        self._place = QRectF()
        self._colour = QColor(Qt.GlobalColor.white)
        self._image = QImage()
        self._step = 0
        self._animation = QVariantAnimation(owner)
        self._animation.setDuration(DURATION_MS)
        self._animation.setStartValue(STEPS)
        self._animation.setEndValue(0)
        self._animation.valueChanged.connect(self._fade)
        self.setVisible(False)

    @property
    def running(self) -> bool:
        return self._animation.state() == QVariantAnimation.State.Running

    def set_theme(self, theme: Theme) -> None:
        self._colour = theme.colour("panel")

    def start(self, grid: Grid, changes: Changes) -> None:
        self.stop()
        height, width = changes.cells.shape
        self.prepareGeometryChange()
        x, y = grid.x(changes.left), grid.y(changes.top)
        self._place = QRectF(x, y, width * grid.cell_width, height * grid.cell_height)
        self._changes = changes
        self._image = QImage(changes.cells.data, width, height, width, QImage.Format.Format_Indexed8)
        self._image.setColorTable([0, self._colour.rgba()])
        self._fade(STEPS)
        self._animation.start()

    def stop(self) -> None:
        self._animation.stop()
        self.setVisible(False)

    def boundingRect(self) -> QRectF:
        return self._place

    @guarded
    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        painter.setOpacity(STRENGTH * self._step / STEPS)
        painter.drawImage(self._place, self._image)

    def _fade(self, step: Any) -> None:
        if step != self._step or not self.isVisible():
            self._step = int(step)
            self.setVisible(self._step > 0)
            self.update()
