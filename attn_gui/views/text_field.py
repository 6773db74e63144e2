"""TextField: a line whose text stands for something; what stands for nothing stays, with the reason."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QLabel, QLineEdit, QWidget

from attn_gui.model.errors import ExperimentError


class TextField(QLineEdit):
    """``shown`` is the text that stands for the present value; ``reason``, which its owner finds a place for, says why
    another was refused.

    ``take`` is called with each text typed; it may raise ValueError.
    """

    def __init__(self, name: str, take: Callable[[str], None], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._take = take
        self.shown = ""
        self.setAccessibleName(name)
        self.reason = QLabel()
        self.reason.setObjectName("error")
        self.reason.hide()
        self.editingFinished.connect(self._commit)
        self.textEdited.connect(lambda text: self._say(""))

    def show_text(self, text: str) -> None:
        """Show ``text``, in place of whatever was typed."""
        self.shown = text
        self.setText(text)
        self.setCursorPosition(0)
        self._say("")

    def _commit(self) -> None:
        text = self.text()
        if text == self.shown:
            return
        try:
            self._take(text)
        except ValueError as error:
            self._say(why(error))

    def _say(self, reason: str) -> None:
        self.reason.setText(reason)
        self.reason.setVisible(bool(reason))
        self.setAccessibleDescription(reason)


def why(error: ValueError) -> str:
    """``error`` as it is said beside the control whose value was refused."""
    if isinstance(error, ExperimentError):
        return f"⚠ Expected {error.expected}, received {error.received}"
    return f"⚠ {str(error)[:1].upper()}{str(error)[1:]}"
