"""NumberField: one number to type; what is no number stays with the reason, and the old value is kept."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QLabel, QLineEdit, QVBoxLayout, QWidget

from attn_gui.model.errors import ExperimentError
from attn_gui.views.clipboard import read_numbers


class NumberField(QWidget):
    """A line to type a number into, and room under it for the reason why it was refused.

    ``take`` is called with each number typed; it may raise ExperimentError.
    """

    def __init__(self, name: str, take: Callable[[float], None], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._take = take
        self._shown = ""
        self.line = QLineEdit()
        self.line.setAccessibleName(name)
        self.reason = QLabel()
        self.reason.setObjectName("error")
        self.reason.setWordWrap(True)
        self.reason.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self.line)
        column.addWidget(self.reason)
        self.setFocusProxy(self.line)
        self.line.editingFinished.connect(self._commit)
        self.line.textEdited.connect(lambda text: self._say(""))

    def show_number(self, value: float) -> None:
        """Show ``value`` in full."""
        self._shown = repr(float(value)).removesuffix(".0")
        self.line.setText(self._shown)
        self.line.setCursorPosition(0)
        self._say("")

    def _commit(self) -> None:
        text = self.line.text()
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
        self.line.setAccessibleDescription(reason)
