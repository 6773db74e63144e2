"""The formula in a panel's title: whole, or where its room is short the symbol it is of, or nothing, but never cut."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QStyle, QStyleOption, QWidget

from attn_gui.views.painting import guarded


class FormulaLabel(QLabel):
    """Plain text on one line, which takes what width is left over."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    @property
    def drawn(self) -> str:
        """As much of the text as there is room for."""
        symbol, equals, _ = self.text().partition(" = ")
        ways = (self.text(), symbol if equals else "", "")
        return next(text for text in ways if self.fontMetrics().horizontalAdvance(text) <= self.width())

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        option = QStyleOption()
        option.initFrom(self)
        painter = QPainter(self)
        self.style().drawPrimitive(QStyle.PrimitiveElement.PE_Widget, option, painter, self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(self.rect(), self.alignment(), self.drawn)
