"""Stamps: pictures of short texts that are written again and again, so that to move them is to copy them."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import TypeVar

import numpy as np
from PySide6.QtCore import QRect, QRectF
from PySide6.QtGui import QColor, QImage, QPainter, QPixmap

What = TypeVar("What", bound=Hashable)
Write = Callable[[QPainter, What, QRectF], None]

# of one strip of labels; more are never in sight, and those of places left behind go
KEPT = 2048


class Stamps:
    """Each is written once for where within a pixel it begins, on the ground that it lies on, and cut to its ink.

    Where a pixel is not a whole number of the device's, it is written as it would be without stamps.
    """

    def __init__(self) -> None:
        self._kept: dict[Hashable, tuple[QPixmap, int, int]] = {}
        self._of: tuple[object, ...] = ()
        self._ratio = 1.0
        self._ground, self._ink = QColor(), QColor()

    def use(self, ratio: float, ground: QColor, ink: QColor, *others: object) -> None:
        """Write in ``ink`` on ``ground`` from now on; those that were kept for anything else go."""
        of = (ratio, ground.rgb(), ink.rgb(), *others)
        if of != self._of:
            self._of, self._ratio, self._ground, self._ink = of, ratio, QColor(ground), QColor(ink)
            self._kept.clear()

    def forget(self) -> None:
        """The texts are others."""
        self._kept.clear()

    def draw(self, painter: QPainter, what: What, room: QRectF, write: Write[What]) -> None:
        """Draw ``what``, as ``write`` writes it into ``room``, which it does not leave."""
        x, y, width, height = room.x(), room.y(), room.width(), room.height()
        left, top = math.floor(x), math.floor(y)
        key = what, x - left, y - top, width, height
        kept = self._kept.get(key)
        if kept is None:
            if not self._ratio.is_integer():
                pen = painter.pen()
                painter.setPen(self._ink)
                write(painter, what, room)
                painter.setPen(pen)
                return
            if len(self._kept) >= KEPT:
                self._kept.clear()
            kept = self._kept[key] = self._made(what, room.translated(-left, -top), write)
        pixmap, across, down = kept
        painter.drawPixmap(left + across, top + down, pixmap)

    def _made(self, what: What, room: QRectF, write: Write[What]) -> tuple[QPixmap, int, int]:
        """The picture of the ink, and where in ``room`` it lies."""
        ratio = int(self._ratio)
        width, height = math.ceil(room.right()), math.ceil(room.bottom())
        image = QImage(max(1, width * ratio), max(1, height * ratio), QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(ratio)
        image.fill(self._ground)
        painter = QPainter(image)
        painter.setPen(self._ink)
        write(painter, what, room)
        painter.end()
        pixels = np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), image.width())
        inked = pixels != pixels.dtype.type(self._ground.rgb())
        rows, columns = (inked.any(axis=axis).nonzero()[0] // ratio for axis in (1, 0))
        if not len(rows):
            return QPixmap(), 0, 0
        left, top = int(columns[0]), int(rows[0])
        right, bottom = int(columns[-1]) + 1, int(rows[-1]) + 1
        ink = QRect(left * ratio, top * ratio, (right - left) * ratio, (bottom - top) * ratio)
        return QPixmap.fromImage(image.copy(ink)), left, top
