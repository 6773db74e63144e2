"""ColourBar: what the colours of a heatmap stand for."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from attn_gui.model.picture import LAST_COLOUR, MASKED, NON_FINITE
from attn_gui.views.heatmap.hatch import hatch_pen, line_colours, lines_in
from attn_gui.views.heatmap.image import index_to_qimage
from attn_gui.views.heatmap.scale import Scale
from attn_gui.views.look import Look, number_font
from attn_gui.views.painting import guarded
from attn_gui.views.theme import ColourTable, Theme

GAP = 6
SWATCH = 12
SWATCH_STEP = 4
NARROWEST_BAR, WIDEST_BAR = 48, 160
POINTS = 8.0
SAMPLED = "sampled rows"


class ColourBar(QWidget):
    """The ends of the scale with the colours between them, the mapping's name, and swatches for signs that occur."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._scale: Scale | None = None
        self._table: ColourTable | None = None
        self._centred = False
        self._gradient = QImage()
        self.setFont(number_font(POINTS))
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Colour scale")

    @property
    def scale(self) -> Scale | None:
        return self._scale

    def show_scale(self, scale: Scale, table: ColourTable, centred: bool) -> None:
        """Show ``scale`` in the colours of ``table``; ``centred`` marks the middle, which stands for 0."""
        if (scale, centred) == (self._scale, self._centred) and table is self._table:
            return
        if table is not self._table:
            self._table = table
            self._gradient = index_to_qimage(np.arange(LAST_COLOUR + 1, dtype=np.uint8)[np.newaxis], table)
        self._scale, self._centred = scale, centred
        self.setAccessibleDescription(described(scale))
        self.setToolTip(described(scale))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(NARROWEST_BAR, 16)

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        if self._scale is not None and self._table is not None:
            painter = QPainter(self)
            rect = QRectF(self.rect())
            paint_bar(painter, rect, self._scale, self._gradient, self._centred, self._look.theme, self.font())


def described(scale: Scale) -> str:
    """The scale as a sentence."""
    parts = [f"Colours from {scale.low} to {scale.high}"]
    parts += [scale.mapping] if scale.mapping else []
    parts += ["some rows stand for those around them until all are computed"] if scale.sampled else []
    parts += ["masked cells are hatched"] if scale.masked else []
    parts += ["non-finite cells are crossed"] if scale.non_finite else []
    return ", ".join(parts)


def paint_bar(
    painter: QPainter, rect: QRectF, scale: Scale, gradient: QImage, centred: bool, theme: Theme, font: QFont
) -> None:
    """Draw a colour bar into ``rect``, from its left; what has no room at the right end is left out."""
    metrics = QFontMetricsF(font)
    painter.setFont(font)
    baseline = rect.center().y() + (metrics.ascent() - metrics.descent()) / 2
    low, high = metrics.horizontalAdvance(scale.low), metrics.horizontalAdvance(scale.high)
    notes: list[tuple[int | None, str]] = [(None, scale.mapping)] if scale.mapping else []
    notes += [(None, SAMPLED)] if scale.sampled else []
    notes += [(MASKED, "masked")] if scale.masked else []
    notes += [(NON_FINITE, "not finite")] if scale.non_finite else []
    after = sum(GAP + metrics.horizontalAdvance(text) + (0 if index is None else SWATCH + 4) for index, text in notes)
    width = rect.width() - low - high - 2 * GAP - after
    width = max(NARROWEST_BAR, min(width, WIDEST_BAR))
    x = rect.left()

    def write(text: str, colour: str) -> None:
        nonlocal x
        painter.setPen(theme.colour(colour))
        painter.drawText(QPointF(x, baseline), text)
        x += metrics.horizontalAdvance(text)

    write(scale.low, "text")
    bar = QRectF(round(x + GAP), round(rect.center().y() - SWATCH / 2), round(width), SWATCH)
    painter.drawImage(bar, gradient)
    painter.setPen(QPen(theme.colour("line"), 1))
    painter.drawRect(bar.adjusted(0.5, 0.5, -0.5, -0.5))
    if centred:
        middle = QRectF(round(bar.center().x()), bar.top(), 1, bar.height())
        painter.fillRect(middle, theme.colour("muted"))
    x = bar.right() + GAP
    write(scale.high, "text")
    for index, text in notes:
        x += GAP
        space = metrics.horizontalAdvance(text) + (0 if index is None else SWATCH + 4)
        if x + space > rect.right() + 1:
            return
        if index is not None:
            box = QRectF(round(x), bar.top(), SWATCH, SWATCH)
            paint_swatch(painter, box, index, theme)
            x = box.right() + 4
        write(text, "muted")


def paint_swatch(painter: QPainter, box: QRectF, index: int, theme: Theme) -> None:
    """A cell that is masked or not finite."""
    fill: QColor = theme.colour("masked" if index == MASKED else "non_finite")
    painter.fillRect(box, fill)
    painter.setPen(hatch_pen(line_colours(theme)[index], 1.0))
    painter.drawLines(lines_in(box, SWATCH_STEP, crossed=index == NON_FINITE))
    painter.setPen(QPen(theme.colour("line"), 1))
    painter.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5))
