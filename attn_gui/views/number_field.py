"""NumberField: one number to type; what is no number stays with the reason, and the old value is kept."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QLabel, QLineEdit, QWidget

from attn_gui.model.errors import ExperimentError
from attn_gui.views.clipboard import read_numbers


class NumberField(QLineEdit):
    """A line to type a number into; ``reason``, which its owner finds a place for, says why one was refused.

    ``take`` is called with each number typed; it may raise ExperimentError.
    """

    def __init__(self, name: str, take: Callable[[float], None], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._take = take
        self._shown = ""
        self.setAccessibleName(name)
        self.reason = QLabel()
        self.reason.setObjectName("error")
        self.reason.setWordWrap(True)
        self.reason.hide()
        self.editingFinished.connect(self._commit)
        self.textEdited.connect(lambda text: self._say(""))

    def show_number(self, value: float) -> None:
        """Show ``value`` in full."""
        self._shown = repr(float(value)).removesuffix(".0")
        self.setText(self._shown)
        self.setCursorPosition(0)
        self._say("")

    def _commit(self) -> None:
        text = self.text()
        if text == self._shown:
            return
        try:
            number = read_numbers([[text]])[0][0]
            if number is not None:
                self._take(number)
        except ExperimentError as error:
            self._say(f"⚠ Expected {error.expected}, received {error.received}")
        except ValueError as error:
            self._say(f"⚠ {str(error)[:1].upper()}{str(error)[1:]}")

    def _say(self, reason: str) -> None:
        self.reason.setText(reason)
        self.reason.setVisible(bool(reason))
        self.setAccessibleDescription(reason)
