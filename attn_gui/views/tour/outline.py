"""Outline: a calm frame round the part of the window that a tour speaks of."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QRegion
from PySide6.QtWidgets import QWidget

from attn_gui.views.look import Look
from attn_gui.views.painting import guarded

WIDTH, RADIUS = 2, 6


class Outline(QWidget):
    """Lies over the edge of a widget, lets every click through and covers nothing inside."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._target: QWidget | None = None
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()
        look.changed.connect(self.update)

    @property
    def target(self) -> QWidget | None:
        return self._target

    def point_at(self, target: QWidget | None) -> None:
        """Frame ``target``, or nothing."""
        if self._target is not None:
            self._target.removeEventFilter(self)
        self._target = target
        self.setParent(target)  # hides it
        if target is not None:
            target.installEventFilter(self)
            self._fit()
            self.show()
            self.raise_()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._target and event.type() == QEvent.Type.Resize:
            self._fit()
        return False

    def _fit(self) -> None:
        if self._target is not None:
            whole = self._target.rect()
            self.setGeometry(whole)
            edge = WIDTH + RADIUS
            self.setMask(QRegion(whole) - QRegion(whole.adjusted(edge, edge, -edge, -edge)))

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._look.theme.colour("accent"), WIDTH))
        half = WIDTH / 2
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(half, half, -half, -half), RADIUS, RADIUS)
