"""SearchBar: a field to search by, the way from match to match, and how many there are."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLineEdit, QToolButton, QWidget

FIELD_WIDTH = 240


class SearchBar(QFrame):
    """Hidden until :meth:`open`; Enter goes to the next match, Shift+Enter to the one before, Escape closes it."""

    def __init__(self, wanted: str, what: str, label: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        self.field = QLineEdit()
        self.field.setPlaceholderText(wanted)
        self.field.setAccessibleName(wanted)
        self.field.setFixedWidth(FIELD_WIDTH)
        self.found = QLabel()
        self.found.setObjectName("muted")
        self.back = _button("‹", f"Previous {what}", lambda: self.step(-1))
        self.on = _button("›", f"Next {what}", lambda: self.step(1))
        self.leave = _button("✕", "Close", self.close_bar)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 4, 8, 4)
        row.setSpacing(8)
        if label:
            before = QLabel(label)
            before.setBuddy(self.field)
            row.addWidget(before)
        for widget in (self.field, self.back, self.on, self.found):
            row.addWidget(widget)
        row.addStretch(1)
        row.addWidget(self.leave)
        self.field.textChanged.connect(lambda text: self.search())
        self.field.installEventFilter(self)
        self.hide()

    def open(self) -> None:
        """Come into sight, ready to be typed in."""
        self.show()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()
        self.search()

    def close_bar(self) -> None:
        self.hide()

    def search(self) -> None:
        """Find what is typed."""
        raise NotImplementedError

    def step(self, by: int) -> None:
        """Go to the next match, or the one before."""
        raise NotImplementedError

    def say(self, words: str, count: int) -> None:
        """Show ``words`` on what was found, ``count`` matches."""
        self.found.setText(words)
        self.found.setAccessibleName(words)
        for button in (self.back, self.on):
            button.setEnabled(count > 0)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.step(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
                return True
            if event.key() == Qt.Key.Key_Escape:
                self.close_bar()
                return True
        return False


def _button(text: str, name: str, go: Callable[[], None]) -> QToolButton:
    button = QToolButton()
    button.setText(text)
    button.setAutoRaise(True)
    button.setAccessibleName(name)
    button.setToolTip(name)
    button.clicked.connect(go)
    return button
