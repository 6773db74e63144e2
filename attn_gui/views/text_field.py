"""TextField: a line whose text stands for something; what stands for nothing stays, with the reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLabel, QLineEdit, QWidget

from attn_gui.model.errors import ExperimentError
from attn_gui.views import half_typed


class TextField(QLineEdit):
    """``shown`` is the text that stands for the present value; ``reason``, which its owner finds a place for, says why
    another was refused.

    ``take`` is called with each text typed; it may raise ValueError. Escape gives up what is typed. What was refused is
    not tried again until it is typed anew, or Enter is pressed.
    """

    def __init__(self, name: str, take: Callable[[str], None], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._take = take
        self._refused: str | None = None
        self.shown = ""
        self.setAccessibleName(name)
        self.reason = QLabel()
        self.reason.setObjectName("error")
        self.reason.hide()
        self.returnPressed.connect(self._retry)
        self.editingFinished.connect(self.commit)
        self.textEdited.connect(self._on_edited)

    @property
    def typed(self) -> bool:
        """Whether what stands here is neither in force nor refused."""
        return self.text() != self.shown and not self.refused

    @property
    def refused(self) -> bool:
        """Whether what stands here was not taken."""
        return self._refused is not None and self._refused == self.text()

    def show_text(self, text: str) -> None:
        """Show ``text``, in place of whatever was typed."""
        half_typed.end(self)
        self.shown = text
        self.setText(text)
        self.setCursorPosition(0)
        self._say("")

    def commit(self) -> bool:
        """Have what is typed taken; False where it is refused just now."""
        text = self.text()
        if not self.typed:
            return True
        half_typed.end(self)
        try:
            self._take(text)
        except ValueError as error:
            self._refused = text
            self._say(why(error))
            half_typed.begin(self)
            return False
        if self.text() == text:
            self.drop()  # it stood for the present value
        return True

    def drop(self) -> None:
        """Show the text of the present value again."""
        self.show_text(self.shown)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and self._gives_up(cast(QKeyEvent, event)):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._gives_up(event):
            self.drop()
        else:
            super().keyPressEvent(event)

    def _gives_up(self, event: QKeyEvent) -> bool:
        return event.key() == Qt.Key.Key_Escape and self.text() != self.shown

    def _retry(self) -> None:
        self._refused = None

    def _on_edited(self) -> None:
        self._say("")
        if self.text() == self.shown:
            half_typed.end(self)
        else:
            half_typed.begin(self)

    def _say(self, reason: str) -> None:
        if not reason:
            self._refused = None
        self.reason.setText(reason)
        self.reason.setVisible(bool(reason))
        self.setAccessibleDescription(reason)


def why(error: ValueError) -> str:
    """``error`` as it is said beside the control whose value was refused."""
    if isinstance(error, ExperimentError):
        return f"⚠ Expected {error.expected}, received {error.received}"
    return f"⚠ {str(error)[:1].upper()}{str(error)[1:]}"
