"""Boxes: what a laid-out formula consists of, each with its size about a baseline, in pixels."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPainterPath, QPen


class Box:
    """``width``, and how far it reaches above and below its baseline."""

    def __init__(self, width: float, ascent: float, descent: float) -> None:
        self.width, self.ascent, self.descent = width, ascent, descent

    def draw(self, painter: QPainter, x: float, y: float) -> None:
        """Draw with the painter's pen, the left end of the baseline at (x, y)."""


class Glyphs(Box):
    """A piece of text."""

    def __init__(self, text: str, font: QFont, raised: float = 0.0) -> None:
        metrics = QFontMetricsF(font)
        ink = metrics.tightBoundingRect(text)
        self._text, self._font, self._raised = text, font, raised
        # slanted letters reach out of the room that is theirs
        self._left = max(0.0, -ink.left())
        width = self._left + max(metrics.horizontalAdvance(text), ink.right())
        super().__init__(width, -ink.top() + raised, ink.bottom() - raised)

    def draw(self, painter: QPainter, x: float, y: float) -> None:
        painter.setFont(self._font)
        painter.drawText(QPointF(x + self._left, y - self._raised), self._text)


class Bar(Box):
    """A line ``thickness`` thick, whose middle is ``height`` above the baseline; drawn on whole pixels."""

    def __init__(self, width: float, thickness: float, height: float) -> None:
        self._thickness, self._height = thickness, height
        super().__init__(width, height + thickness / 2, thickness / 2 - height)

    def draw(self, painter: QPainter, x: float, y: float) -> None:
        scale = painter.worldTransform().m22() * painter.device().devicePixelRatio()
        offset = painter.worldTransform().dy() * painter.device().devicePixelRatio()
        thick = max(1, round(self._thickness * scale)) / scale
        top = (round((y - self._height - thick / 2) * scale + offset) - offset) / scale
        painter.fillRect(QRectF(x, top, self.width, thick), painter.pen().color())


class Path(Box):
    """A stroke or a shape; the path's origin is the left end of the baseline."""

    def __init__(self, path: QPainterPath, width: float, ascent: float, descent: float, thickness: float) -> None:
        self._path, self._thickness = path, thickness
        super().__init__(width, ascent, descent)

    def draw(self, painter: QPainter, x: float, y: float) -> None:
        pen = QPen(painter.pen().color(), self._thickness)
        pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.translate(x, y)
        painter.strokePath(self._path, pen)
        painter.restore()


class Placed(Box):
    """Boxes at their places: (x, how far its baseline is below this one's, box)."""

    def __init__(self, parts: Sequence[tuple[float, float, Box]], width: float | None = None) -> None:
        self._parts = tuple(parts)
        wide = max((x + box.width for x, _, box in parts), default=0.0) if width is None else width
        ascent = max((box.ascent - down for _, down, box in parts), default=0.0)
        descent = max((box.descent + down for _, down, box in parts), default=0.0)
        super().__init__(wide, ascent, descent)

    def draw(self, painter: QPainter, x: float, y: float) -> None:
        for right, down, box in self._parts:
            box.draw(painter, x + right, y + down)
