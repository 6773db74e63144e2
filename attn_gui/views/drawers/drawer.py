"""Drawer: what every drawer shares. While it is out of sight it has nothing computed for it."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent, QPalette, QShowEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QVBoxLayout, QWidget

from attn_gui.model.asks import Ask
from attn_gui.views.context import Context


class Drawer(QWidget):
    """The content of a dock. ``refresh`` is called when it comes into sight; its asks are withdrawn when it leaves."""

    title = ""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.context = context
        self.setAccessibleName(self.title)
        self._slots: set[str] = set()
        self.setBackgroundRole(QPalette.ColorRole.AlternateBase)
        self.setAutoFillBackground(True)

    def refresh(self) -> None:
        """Bring what is shown up to date."""
        raise NotImplementedError

    def keep_asks(self, asks: Mapping[str, Ask]) -> None:
        """Have ``asks`` answered, slot by slot, and none of those asked before that are not among them."""
        wanted = asks if self.isVisible() else {}
        for slot in self._slots - wanted.keys():
            self.context.feed.ask(slot, None)
        self._slots = set(wanted)
        for slot, ask in wanted.items():
            self.context.feed.ask(slot, ask)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.keep_asks({})


class EmptyState(QWidget):
    """Says in the middle of an empty drawer why it is empty and what to do next."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = _centred("title")
        self._text = _centred("muted")
        self.row = QVBoxLayout(self)
        self.row.setContentsMargins(24, 16, 24, 16)
        self.row.setSpacing(8)
        self.row.addStretch(1)
        self.row.addWidget(self._title)
        self.row.addWidget(self._text)
        self.row.addStretch(1)

    def say(self, title: str, text: str) -> None:
        self._title.setText(title)
        self._text.setText(text)
        self.setAccessibleName(title)
        self.setAccessibleDescription(text)

    def add_button(self, button: QWidget) -> None:
        """Put a button that does the next step under the text."""
        self.row.insertSpacing(self.row.count() - 1, 4)
        self.row.insertWidget(self.row.count() - 1, button, 0, Qt.AlignmentFlag.AlignHCenter)


def _centred(name: str) -> QLabel:
    label = QLabel()
    label.setObjectName(name)
    label.setWordWrap(True)
    label.setAlignment(Qt.AlignmentFlag.AlignCenter)
    label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
    return label
