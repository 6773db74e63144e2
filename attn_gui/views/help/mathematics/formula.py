"""Formula: a formula as it is drawn, at a font's size."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, QSizeF
from PySide6.QtGui import QColor, QFont, QFontDatabase, QPainter

from attn_gui.views.help.mathematics.boxes import Box
from attn_gui.views.help.mathematics.layout import Setting, laid_out
from attn_gui.views.help.mathematics.linear import linear
from attn_gui.views.help.mathematics.parsing import parsed

# above and below, in pixels: what smoothing takes
MARGIN = 1.0


class Formula:
    """``source`` in LaTeX's notation set at ``points``; ``display`` where it has a line to itself.

    Lines stay whole pixels at any scale of the screen, since it is drawn anew and not enlarged. Raises FormulaError.
    """

    def __init__(self, source: str, points: float, *, display: bool) -> None:
        self.source = source
        row = parsed(source)
        self.text = linear(row)
        font = QFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont))
        font.setPointSizeF(points)
        font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
        setting = Setting(font, display)
        self._box: Box = laid_out(row, setting)
        self._axis = setting.axis

    @property
    def size(self) -> QSizeF:
        """Its own size, with its axis in the middle."""
        half = max(self._box.ascent - self._axis, self._box.descent + self._axis) + MARGIN
        return QSizeF(self._box.width, 2 * half)

    @property
    def ascent(self) -> float:
        """How far it reaches above its baseline, with room for smoothing."""
        return self._box.ascent + MARGIN

    @property
    def descent(self) -> float:
        """How far it reaches below its baseline, with room for smoothing."""
        return max(0.0, self._box.descent) + MARGIN

    def draw(self, painter: QPainter, at: QPointF, colour: QColor) -> None:
        """Draw with the upper left corner of :attr:`size` at ``at``."""
        self.draw_on_baseline(painter, QPointF(at.x(), at.y() + self.size.height() / 2 + self._axis), colour)

    def draw_on_baseline(self, painter: QPainter, at: QPointF, colour: QColor) -> None:
        """Draw with the left end of the baseline at ``at``."""
        painter.save()
        painter.setPen(colour)
        painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
        self._box.draw(painter, at.x(), at.y())
        painter.restore()

    def ink(self) -> QRectF:
        """Where it draws, within :attr:`size`."""
        base = self.size.height() / 2 + self._axis
        return QRectF(0.0, base - self._box.ascent, self._box.width, self._box.ascent + self._box.descent)


@lru_cache(maxsize=512)
def formula(source: str, points: float, display: bool) -> Formula:
    """The same, made once."""
    return Formula(source, points, display=display)
