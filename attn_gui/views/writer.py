"""Writer: single lines of text in one font, each laid out once however often it is drawn."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QPainter, QTextLayout

# lines of one font that are kept laid out
KEPT = 4096
# where lines begin that have more room than they need: at its left end, in its middle, or so that they end at its right
LEFT, CENTRE, RIGHT = 0.0, 0.5, 1.0


class Line:
    """One line of text; ``width`` and ``height`` are the pixels that it takes."""

    def __init__(self, text: str, font: QFont) -> None:
        self._layout = QTextLayout(text, font)
        self._layout.setCacheEnabled(True)
        self._layout.beginLayout()
        line = self._layout.createLine()
        self._layout.endLayout()
        self.width = line.horizontalAdvance()
        self.height = line.height()

    def draw(
        self, painter: QPainter, left: float, top: float, width: float, height: float, along: float = LEFT
    ) -> None:
        """Draw it in the middle of the height of a rectangle, ``along`` its width, as QPainter.drawText does."""
        at = QPointF(left + (width - self.width) * along, top + (height - self.height) / 2)
        if self.width <= width and self.height <= height:
            self._layout.draw(painter, at)
            return
        painter.save()
        painter.setClipRect(QRectF(left, top, width, height), Qt.ClipOperation.IntersectClip)
        self._layout.draw(painter, at)
        painter.restore()


class Writer:
    """Writes in ``font``; whoever writes in one font shares it (:func:`writer`)."""

    def __init__(self, font: QFont) -> None:
        self.font = QFont(font)
        self.line = lru_cache(maxsize=KEPT)(self._laid_out)

    def _laid_out(self, text: str) -> Line:
        return Line(text, self.font)


def writer(font: QFont) -> Writer:
    """The one for ``font``."""
    return _writer(font.key())


@lru_cache(maxsize=8)
def _writer(key: str) -> Writer:
    font = QFont()
    font.fromString(key)
    return Writer(font)


def along(alignment: Qt.AlignmentFlag) -> float:
    """Where lines so aligned begin."""
    if alignment & Qt.AlignmentFlag.AlignRight:
        return RIGHT
    return CENTRE if alignment & Qt.AlignmentFlag.AlignHCenter else LEFT
