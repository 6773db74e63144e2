"""Reason: why something typed or pasted was refused, shown at the place where it was."""

from __future__ import annotations

from PySide6.QtCore import QRect
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QLabel, QWidget

from attn_gui.views.look import Look

PADDING = 8
GAP = 4


class Reason(QLabel):
    """A small label over its parent, beneath (or above) the rectangle it speaks of; hidden while there is none."""

    def __init__(self, look: Look, parent: QWidget) -> None:
        super().__init__(parent)
        self._look = look
        self._over = parent
        self.setObjectName("reason")
        self.setWordWrap(True)
        self.setAccessibleName("Reason")
        self.hide()
        look.changed.connect(self._dress)
        self._dress()

    def say(self, text: str, of: QRect) -> None:
        """Show ``text`` at ``of``, in the parent's coordinates, and have a screen reader speak it."""
        self.setText(text)
        self.setAccessibleDescription(text)
        self.place(of)
        self.show()
        self.raise_()
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))

    def place(self, of: QRect) -> None:
        """Stand at ``of``, within the parent."""
        space = self._over.rect().adjusted(GAP, GAP, -GAP, -GAP)
        words = self.fontMetrics().boundingRect(self.text()).width() + 2 * PADDING + 4
        width = max(40, min(words, space.width()))
        height = self.heightForWidth(width)
        below = of.bottom() + GAP
        top = below if below + height <= space.bottom() else of.top() - GAP - height
        left = max(space.left(), min(of.left(), space.right() - width))
        self.setGeometry(left, max(space.top(), top), width, height)

    def withdraw(self) -> None:
        """There is nothing to say any more."""
        self.hide()
        self.clear()

    def _dress(self) -> None:
        theme = self._look.theme
        self.setStyleSheet(
            f"QLabel#reason {{ color: {theme.error}; background: {theme.panel}; border: 1px solid {theme.error};"
            f" border-radius: 4px; padding: 4px {PADDING - 1}px; }}"
        )
