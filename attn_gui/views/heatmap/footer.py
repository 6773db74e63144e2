"""Footer: the colour bar under a heatmap, and under that the read-out."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from attn_gui.views.heatmap.colour_bar import ColourBar
from attn_gui.views.heatmap.words import Sentence
from attn_gui.views.look import Look, number_font
from attn_gui.views.painting import guarded


class Line(QWidget):
    """One sentence, with parts left out where there is no room for all; the whole of it is in the tooltip."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self.sentence = Sentence("")
        self.setFont(number_font())
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setAccessibleName("Read-out")

    def show_sentence(self, sentence: Sentence) -> None:
        self.sentence = sentence
        self.setToolTip(f"<span>{escape(sentence.full)}</span>" if sentence.full else "")
        self.setAccessibleDescription(sentence.full)
        self.update()

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(self._look.theme.colour("text"))
        metrics = QFontMetrics(self.font())
        text = metrics.elidedText(self.text(), Qt.TextElideMode.ElideRight, self.width())
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)

    def text(self) -> str:
        """As much of the sentence as there is room for."""
        metrics = QFontMetrics(self.font())
        ways = (self.sentence.full, *self.sentence.shorter)
        return next((text for text in ways if metrics.horizontalAdvance(text) <= self.width()), ways[-1])


class Footer(QWidget):
    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.bar = ColourBar(look)
        self.line = Line(look)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.bar)
        column.addWidget(self.line, 1)
