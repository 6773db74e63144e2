"""NumberField: one number to type; what is no number stays with the reason, and the old value is kept."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QLabel, QLineEdit, QWidget

from attn_gui.model.errors import ExperimentError
from attn_gui.views.clipboard import read_numbers

SIGNIFICANT = 6


class NumberField(QLineEdit):
    """A line to type a number into; ``reason``, which its owner finds a place for, says why one was refused.

    ``take`` is called with each number typed; it may raise ExperimentError.
    """

    def __init__(self, name: str, take: Callable[[float], None], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._take = take
        self._exact = self._shown = ""
        self.setAccessibleName(name)
        self.reason = QLabel()
        self.reason.setObjectName("error")
        self.reason.setWordWrap(True)
        self.reason.hide()
        self.editingFinished.connect(self._commit)
        self.textEdited.connect(lambda text: self._say(""))

    def show_number(self, value: float) -> None:
        """Show ``value``: in full while it can be typed over, else to SIGNIFICANT digits."""
        self._exact = repr(float(value)).removesuffix(".0")
        self.setToolTip(self._exact)
        self._write()
        self._say("")

    def focusInEvent(self, event: QFocusEvent) -> None:
        if self.text() == self._shown:
            self._show_text(self._exact)
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if self.text() == self._shown:
            self._write()

    def _write(self) -> None:
        brief = f"{float(self._exact):.{SIGNIFICANT}g}"
        self._show_text(self._exact if self.hasFocus() or len(self._exact) <= len(brief) else brief)

    def _show_text(self, text: str) -> None:
        self._shown = text
        self.setText(text)
        self.setCursorPosition(0)

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
