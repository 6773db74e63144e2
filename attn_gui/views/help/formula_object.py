"""Formulas within a text: each is one character of it, drawn by this."""

from __future__ import annotations

import math

from PySide6.QtCore import QObject, QPointF, QRect, QRectF, QSizeF
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontDatabase,
    QFontMetrics,
    QPainter,
    QPyTextObject,
    QTextCharFormat,
    QTextDocument,
    QTextFormat,
)

from attn_gui.views.help.mathematics.formula import Formula, formula

TYPE = QTextFormat.ObjectTypes.UserObject + 1
CHARACTER = "\ufffc"
_SOURCE = QTextFormat.Property.UserProperty + 1
_POINTS = QTextFormat.Property.UserProperty + 2
_DISPLAY = QTextFormat.Property.UserProperty + 3


def formula_format(source: str, points: float, colour: QColor, *, display: bool) -> QTextCharFormat:
    """The format of the character that stands for ``source``."""
    made = QTextCharFormat()
    made.setObjectType(TYPE)
    made.setProperty(_SOURCE, source)
    made.setProperty(_POINTS, points)
    made.setProperty(_DISPLAY, display)
    made.setForeground(colour)
    # what is set so reaches below the line by the descent of its own font, whose size nothing else goes by
    made.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignBaseline)
    made.setFont(_font_reaching(formula(source, points, display).descent))
    return made


def _font_reaching(descent: float) -> QFont:
    """A font that descends by ``descent`` pixels, rounded up."""
    font = QFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont))
    font.setPixelSize(max(1, math.floor(descent)))
    while QFontMetrics(font).descent() < descent:
        font.setPixelSize(font.pixelSize() + 1)
    return font


def _descent(form: QTextFormat) -> int:
    return QFontMetrics(form.toCharFormat().font()).descent()


def formula_of(form: QTextFormat) -> Formula:
    """The formula that a character of this format stands for."""
    return formula(form.property(_SOURCE), form.property(_POINTS), form.property(_DISPLAY))


class FormulaObject(QPyTextObject):
    """Measures and draws the formulas of a document, once it is registered with its layout."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)

    def intrinsicSize(self, doc: QTextDocument, position: int, form: QTextFormat) -> QSizeF:
        made = formula_of(form)
        return QSizeF(made.size.width(), made.ascent + _descent(form))

    def drawObject(
        self, painter: QPainter, rect: QRectF | QRect, doc: QTextDocument, position: int, form: QTextFormat
    ) -> None:
        baseline = QPointF(rect.left(), QRectF(rect).bottom() - _descent(form))
        formula_of(form).draw_on_baseline(painter, baseline, form.foreground().color())
