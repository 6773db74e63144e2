"""The bars above everything: one matter each, in words, with what can be done about it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QToolButton, QWidget

from attn_gui.views.context import Context


class Bar(QFrame):
    """Words, then whatever is added to ``row``, then a cross; out of sight until there is something to say."""

    def __init__(self, context: Context, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.setObjectName("bar")
        self.setAccessibleName(title)
        self.text = QLabel()
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.later = QToolButton()
        self.later.setText("✕")
        self.later.setAutoRaise(True)
        self.row = QHBoxLayout(self)
        self.row.setContentsMargins(12, 4, 8, 4)
        self.row.setSpacing(8)
        self.row.addWidget(self.text, 1)
        self.row.addWidget(self.later)
        context.look.changed.connect(self._restyle)
        self._restyle()
        self.hide()

    def add(self, button: QWidget) -> None:
        """Put ``button`` before the cross."""
        self.row.insertWidget(self.row.count() - 1, button)

    def say(self, text: str) -> None:
        """Come into sight with ``text``, and have it read aloud."""
        self.text.setText(text)
        self.setAccessibleDescription(text)
        self.show()
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))

    def _restyle(self) -> None:
        theme = self._context.look.theme
        width = 2 if theme.name == "contrast" else 1
        self.setStyleSheet(
            f"QFrame#bar {{ background: {theme.band}; border: {width}px solid {theme.line}; border-radius: 6px; }}"
        )
