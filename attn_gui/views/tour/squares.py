"""Squares: a small matrix of shares as coloured cells, one row of it marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from attn_gui.model.picture import LAST_COLOUR
from attn_gui.views.context import Context
from attn_gui.views.look import number_font
from attn_gui.views.painting import guarded

SIDE, HEAD = 124, 20


class Squares(QWidget):
    """Cells from 0 (pale) to 1; ``pressed(row, column)`` says which was clicked."""

    pressed = Signal(int, int)

    def __init__(self, context: Context, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = context.look
        self._title = title
        self._names: list[str] = []
        self._shares: NDArray[Any] = np.zeros((0, 0))
        self._row = 0
        self.setFont(number_font(8.5))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(title)
        context.look.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(SIDE, SIDE + HEAD)

    def show_shares(self, names: Sequence[str], shares: NDArray[Any]) -> None:
        """``shares`` [n, n]: what of each column's token reaches each row's position."""
        self._names, self._shares = list(names), shares
        self.update()

    def mark_row(self, row: int) -> None:
        self._row = row
        self.update()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            place = self._place(event.pos().x(), event.pos().y())
            if place is not None:
                i, j = place
                share = f"{self._shares[i, j]:.1%}"
                QToolTip.showText(
                    event.globalPos(), f"{share} of what reaches “{self._names[i]}” is “{self._names[j]}”"
                )
            else:
                QToolTip.hideText()
            return True
        return super().event(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = self._place(event.position().x(), event.position().y())
        if place is not None:
            self.pressed.emit(*place)

    def _place(self, x: float, y: float) -> tuple[int, int] | None:
        n = len(self._names)
        if not n or not (0 <= x < SIDE and 0 <= y - HEAD < SIDE):
            return None
        return int((y - HEAD) * n / SIDE), int(x * n / SIDE)

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        theme, n = self._look.theme, len(self._names)
        painter = QPainter(self)
        painter.setPen(theme.colour("muted"))
        painter.drawText(QRectF(0, 0, SIDE, HEAD), Qt.AlignmentFlag.AlignLeft, self._title)
        colours = theme.sequential
        for i in range(n):
            for j in range(n):
                rgb = colours[round(float(self._shares[i, j]) * LAST_COLOUR), :3].tolist()
                left, top = j * SIDE / n, HEAD + i * SIDE / n
                painter.fillRect(QRectF(left, top, SIDE / n, SIDE / n), QColor(*rgb))
        painter.setPen(QPen(theme.colour("line"), 1))
        painter.drawRect(QRectF(0.5, HEAD + 0.5, SIDE - 1, SIDE - 1))
        if self._row < n:
            painter.setPen(QPen(theme.colour("text"), 2))
            painter.drawRect(QRectF(1, HEAD + self._row * SIDE / n, SIDE - 2, SIDE / n))
