"""Stamps: pictures of short texts that are written again and again, so that to move them is to copy them."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QColor, QImage, QPainter

What = TypeVar("What", bound=Hashable)
Write = Callable[[QPainter, What, QRectF], None]
Pixels = NDArray[np.uint32]

# of one strip of labels; more are never in sight, and those of places left behind go
KEPT = 2048


class Stamps:
    """The ground of a strip and the texts on it, laid together as pixels and drawn as one image.

    Each text is written once for where within a pixel it begins, on the ground that it lies on. Where a pixel is not a
    whole number of the device's, texts are written each time, as they would be without stamps.
    """

    def __init__(self) -> None:
        self._kept: dict[Hashable, Pixels] = {}
        self._of: tuple[object, ...] = ()
        self._ratio = 1.0
        self._whole = 1
        self._ground, self._ink = QColor(), QColor()
        self._sheet: Pixels = np.empty((0, 0), np.uint32)
        self._size = QSize()
        self._written: list[tuple[Any, QRectF, Write[Any]]] = []
        self._bars: list[tuple[QRectF, QColor]] = []

    def use(self, ratio: float, ground: QColor, ink: QColor, *others: object) -> None:
        """Write in ``ink`` on ``ground`` from now on; those that were kept for anything else go."""
        of = (ratio, ground.rgb(), ink.rgb(), *others)
        if of != self._of:
            self._of, self._ratio, self._ground, self._ink = of, ratio, QColor(ground), QColor(ink)
            self._whole = int(ratio) if ratio.is_integer() else 0
            self._kept.clear()

    def forget(self) -> None:
        """The texts are others."""
        self._kept.clear()

    def begin(self, size: QSize) -> None:
        """Have nothing but the ground on a strip of ``size``."""
        self._size = size
        self._written.clear()
        self._bars.clear()
        shape = size.height() * self._whole, size.width() * self._whole
        if self._sheet.shape != shape:
            self._sheet = np.empty(shape, np.uint32)
        self._sheet.fill(self._ground.rgb())

    def put(self, what: What, box: tuple[float, float, float, float], write: Write[What]) -> None:
        """Lay ``what`` on the strip as ``write`` writes it into ``box`` (left, top, width, height).

        Writing does not leave the box, of which the part outside the strip is left out.
        """
        if not self._whole:
            self._written.append((what, QRectF(*box), write))
            return
        x, y, width, height = box
        left, top = math.floor(x), math.floor(y)
        key = what, x - left, y - top, width, height
        kept = self._kept.get(key)
        if kept is None:
            if len(self._kept) >= KEPT:
                self._kept.clear()
            kept = self._kept[key] = self._made(what, QRectF(x - left, y - top, width, height), write)
        self._lay(kept, left * self._whole, top * self._whole)

    def bars(self, boxes: Iterable[tuple[int, int, int, int]], colour: QColor) -> None:
        """Rectangles of one colour, within the strip."""
        k, pixel = self._whole, colour.rgb()
        if not k:
            self._bars += [(QRectF(*box), colour) for box in boxes]
            return
        for left, top, width, height in boxes:
            self._sheet[top * k : (top + height) * k, left * k : (left + width) * k] = pixel

    def draw(self, painter: QPainter) -> None:
        """Draw the strip with all that was laid on it."""
        if self._whole:
            height, width = self._sheet.shape
            image = QImage(self._sheet.data, width, height, 4 * width, QImage.Format.Format_RGB32)
            image.setDevicePixelRatio(self._ratio)
            painter.drawImage(0, 0, image)
            return
        painter.fillRect(QRectF(0, 0, self._size.width(), self._size.height()), self._ground)
        painter.setPen(self._ink)
        for what, room, write in self._written:
            write(painter, what, room)
        for bar, colour in self._bars:
            painter.fillRect(bar, colour)

    def _lay(self, pixels: Pixels, left: int, top: int) -> None:
        if left < 0 or top < 0:
            pixels = pixels[max(0, -top) :, max(0, -left) :]
            left, top = max(0, left), max(0, top)
        part = self._sheet[top : top + pixels.shape[0], left : left + pixels.shape[1]]
        part[:] = pixels if part.shape == pixels.shape else pixels[: part.shape[0], : part.shape[1]]

    def _made(self, what: What, room: QRectF, write: Write[What]) -> Pixels:
        """The picture of ``room``."""
        ratio = self._whole
        width, height = max(1, math.ceil(room.right()) * ratio), max(1, math.ceil(room.bottom()) * ratio)
        pixels = np.full((height, width), self._ground.rgb(), np.uint32)
        made = QImage(pixels.data, width, height, 4 * width, QImage.Format.Format_RGB32)
        made.setDevicePixelRatio(ratio)
        painter = QPainter(made)
        painter.setPen(self._ink)
        write(painter, what, room)
        painter.end()
        return pixels
