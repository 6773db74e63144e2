"""Hatching: the sign of cells that have no colour of the scale, drawn from the same index image as the colours."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QImage, QPainter, QPen
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from attn_gui.model.picture import MASKED, NON_FINITE
from attn_gui.views.heatmap.image import Indices
from attn_gui.views.painting import guarded
from attn_gui.views.theme import Theme

WIDEST = 8
NARROWEST = 3
LINE = 1.2
# between the lines where cells are too small for a line of their own
OVER_MANY = 6


def spacing(cell_width: float, cell_height: float) -> int:
    """Pixels from line to line, so that a single cell has one; of smaller cells only areas show lines."""
    side = math.floor(min(cell_width, cell_height))
    return OVER_MANY if side < NARROWEST else min(side, WIDEST)


def hatch_pen(colour: QColor, ratio: float) -> QPen:
    """Lines that end where they are said to end, at ``ratio`` device pixels a pixel."""
    return QPen(colour, max(1.0, LINE * ratio), Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap)


def line_colours(theme: Theme) -> dict[int, QColor]:
    """The colour of the lines over masked and over non-finite cells."""
    return {MASKED: theme.colour("hatch"), NON_FINITE: theme.colour("panel")}


def hatching(pixels: Indices, ratio: float, step: int, colours: dict[int, QColor]) -> QImage:
    """Lines over the masked pixels, crossed lines over the non-finite ones; the rest is transparent.

    ``pixels`` are device pixels, [h, w], ``ratio`` of them a pixel; ``step`` pixels lie from line to line.
    """
    height, width = pixels.shape
    result = QImage(width, height, QImage.Format.Format_ARGB32_Premultiplied)
    result.fill(0)
    for index, crossed in ((MASKED, False), (NON_FINITE, True)):
        layer = _stencil(pixels, index)
        painter = QPainter(layer)
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceIn)
        painter.fillRect(layer.rect(), _brush(colours[index], round(step * ratio), ratio, crossed))
        painter.end()
        painter.begin(result)
        painter.drawImage(0, 0, layer)
        painter.end()
    return result


def lines_in(cell: QRectF, step: float, crossed: bool) -> list[QLineF]:
    """The hatching of one cell, continued from cell to cell: where x + y (crossed: and x - y) is a multiple of step."""
    lines = []
    first = math.ceil((cell.left() + cell.top()) / step)
    for k in range(first, math.floor((cell.right() + cell.bottom()) / step) + 1):
        start, stop = max(cell.left(), k * step - cell.bottom()), min(cell.right(), k * step - cell.top())
        lines.append(QLineF(start, k * step - start, stop, k * step - stop))
    if crossed:
        first = math.ceil((cell.left() - cell.bottom()) / step)
        for k in range(first, math.floor((cell.right() - cell.top()) / step) + 1):
            start, stop = max(cell.left(), k * step + cell.top()), min(cell.right(), k * step + cell.bottom())
            lines.append(QLineF(start, start - k * step, stop, stop - k * step))
    return lines


class HatchItem(QGraphicsItem):
    """The hatching above the heatmap's image."""

    def __init__(self) -> None:
        super().__init__()
        self._pixels: Indices | None = None
        self._place = QRectF()
        self._ratio = 1.0
        self._step = WIDEST
        self._colours: dict[int, QColor] = {}
        self._image: QImage | None = None
        self.setVisible(False)

    def set_theme(self, theme: Theme) -> None:
        self._colours = line_colours(theme)
        self._image = None
        self.update()

    def show_pixels(self, pixels: Indices | None, place: QRectF, ratio: float, step: int) -> None:
        """Hatch ``pixels`` at ``place``; None where there is nothing to hatch."""
        if pixels is None:
            if self._pixels is not None:
                self._pixels = self._image = None
                self.setVisible(False)
            return
        if place != self._place:
            self.prepareGeometryChange()
        self._pixels, self._place, self._ratio, self._step = pixels, place, ratio, step
        self._image = None
        self.setVisible(True)
        self.update()

    def boundingRect(self) -> QRectF:
        return self._place

    @guarded
    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        if self._pixels is None:
            return
        if self._image is None:
            self._image = hatching(self._pixels, self._ratio, self._step, self._colours)
        painter.drawImage(self._place, self._image)


def _stencil(pixels: Indices, index: int) -> QImage:
    """Opaque where ``pixels`` are ``index``."""
    height, width = pixels.shape
    packed = np.ascontiguousarray(pixels)  # QImage does not keep the memory alive
    image = QImage(packed.data, width, height, width, QImage.Format.Format_Indexed8)
    image.setColorTable([0xFF000000 if k == index else 0 for k in range(256)])
    return image.convertToFormat(QImage.Format.Format_ARGB32_Premultiplied)


def _brush(colour: QColor, period: int, ratio: float, crossed: bool) -> QBrush:
    """Diagonal lines, ``period`` device pixels apart along both axes."""
    tile = QImage(period, period, QImage.Format.Format_ARGB32_Premultiplied)
    tile.fill(0)
    painter = QPainter(tile)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, period > OVER_MANY)
    pen = hatch_pen(colour, ratio)
    pen.setCapStyle(Qt.PenCapStyle.SquareCap)
    painter.setPen(pen)
    # one line a tile, and its neighbours' ends in the corners
    for shift in (-period, 0, period):
        painter.drawLine(QPointF(shift, period), QPointF(shift + period, 0))
        if crossed:
            painter.drawLine(QPointF(shift, 0), QPointF(shift + period, period))
    painter.end()
    return QBrush(tile)
