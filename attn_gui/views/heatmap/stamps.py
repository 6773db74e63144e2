"""Stamps: pictures of short texts that are written again and again, so that to move them is to copy them."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import TypeVar

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPainter, QPixmap

What = TypeVar("What", bound=Hashable)
Write = Callable[[QPainter, What, QRectF], None]

# of one strip of labels; more are never in sight, and those of places left behind go
KEPT = 2048


class Stamps:
    """Each is written once for where within a pixel it begins, on the ground that it lies on.

    Where a pixel is not a whole number of the device's, it is written as it would be without stamps.
    """

    def __init__(self) -> None:
        self._kept: dict[Hashable, QPixmap] = {}
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
        painter.drawPixmap(left, top, kept)

    def _made(self, what: What, room: QRectF, write: Write[What]) -> QPixmap:
        """The picture of ``room``."""
        ratio = int(self._ratio)
        made = QPixmap(max(1, math.ceil(room.right()) * ratio), max(1, math.ceil(room.bottom()) * ratio))
        made.setDevicePixelRatio(ratio)
        made.fill(self._ground)
        painter = QPainter(made)
        painter.setPen(self._ink)
        write(painter, what, room)
        return made
