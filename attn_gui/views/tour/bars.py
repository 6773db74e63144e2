"""Bars: parts of a whole by name, in one column or more."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from attn_gui.views.context import Context
from attn_gui.views.figures import percentages
from attn_gui.views.look import number_font
from attn_gui.views.painting import guarded

ROW, HEAD, GAP = 18, 20, 8
LONGEST_NAME = 84


class Bars(QWidget):
    """A line for each name: in each column a bar, the longest of them all for the largest part, and the per cent."""

    def __init__(self, context: Context, columns: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = context.look
        self._columns = list(columns)
        self._names: list[str] = []
        self._parts: list[Sequence[float]] = []
        self.setFont(number_font(8.5))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        context.look.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(260, self._head + ROW * len(self._names) + 4)

    @property
    def _head(self) -> int:
        return HEAD if any(self._columns) else 0

    def show_parts(self, names: Sequence[str], parts: Sequence[Sequence[float]]) -> None:
        """``parts`` column by column, each as long as ``names``."""
        self._names, self._parts = list(names), list(parts)
        told = [
            f"{column}: {', '.join(f'{name} {text}' for name, text in zip(names, percentages(part), strict=True))}"
            for column, part in zip(self._columns, parts, strict=True)
        ]
        self.setAccessibleDescription("; ".join(told))
        self.updateGeometry()
        self.update()

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        theme, metrics = self._look.theme, QFontMetricsF(self.font())
        painter = QPainter(self)
        names = [metrics.elidedText(n, Qt.TextElideMode.ElideRight, LONGEST_NAME) for n in self._names]
        left = max((metrics.horizontalAdvance(name) for name in names), default=0.0) + GAP
        number = metrics.horizontalAdvance("<0.1%") + 4
        width = (self.width() - left) / len(self._columns)
        sides = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.setPen(theme.colour("muted"))
        for c, column in enumerate(self._columns):
            painter.drawText(QRectF(left + c * width, 0, width, self._head), sides, column)
        for row, name in enumerate(names):
            painter.setPen(theme.colour("text"))
            painter.drawText(QRectF(0, self._head + row * ROW, left, ROW), sides, name)
        longest = width - number - GAP
        most = max((share for part in self._parts for share in part), default=0.0) or 1.0
        for c, part in enumerate(self._parts):
            for row, (share, text) in enumerate(zip(part, percentages(part), strict=True)):
                bar = QRectF(left + c * width, self._head + row * ROW + 4, longest * share / most, ROW - 8)
                painter.fillRect(bar, theme.colour("accent"))
                where = QRectF(bar.right() + 4, self._head + row * ROW, number + 8, ROW)
                painter.setPen(theme.colour("text"))
                painter.drawText(where, sides, text)
