"""Legend: the three signs with their words."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from attn_gui.model.check import Verdict
from attn_gui.views.check.check_table import SIGN, draw_sign
from attn_gui.views.look import Look
from attn_gui.views.painting import guarded

GAP, BETWEEN = 6, 16
WORDS = {Verdict.RIGHT: "right", Verdict.CARRIED: "follows from yours", Verdict.WRONG: "wrong"}


class Legend(QWidget):
    """One line."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Signs")
        self.setAccessibleDescription(", ".join(f"{v.sign} {v.word}" for v in WORDS))
        self.setToolTip("Right, at its own decimals · follows from an earlier table of yours · wrong")
        look.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        width = sum(SIGN + GAP + metrics.horizontalAdvance(word) + BETWEEN for word in WORDS.values()) - BETWEEN
        return QSize(width, max(metrics.height(), SIGN) + 4)

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme, x = QPainter(self), self._look.theme, 0
        for verdict, word in WORDS.items():
            draw_sign(painter, verdict, QRectF(x, (self.height() - SIGN) / 2, SIGN, SIGN), theme)
            x += SIGN + GAP
            width = self.fontMetrics().horizontalAdvance(word)
            painter.setPen(theme.colour("muted"))
            painter.drawText(x, 0, width + 1, self.height(), Qt.AlignmentFlag.AlignVCenter, word)
            x += width + BETWEEN
