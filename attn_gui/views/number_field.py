"""NumberField: one number to type; what is no number stays with the reason, and the old value is kept."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QWidget

from attn_gui.views.clipboard import read_numbers
from attn_gui.views.text_field import TextField

SIGNIFICANT = 6


class NumberField(TextField):
    """A line to type a number into: shown in full while it can be typed over, else to SIGNIFICANT digits.

    ``take`` is called with each number typed; it may raise ExperimentError.
    """

    def __init__(self, name: str, take: Callable[[float], None], parent: QWidget | None = None) -> None:
        super().__init__(name, self._read, parent)
        self._take_number = take
        self._exact = "0"
        self.reason.setWordWrap(True)

    def show_number(self, value: float) -> None:
        """Show ``value``, in place of whatever was typed."""
        self._exact = repr(float(value)).removesuffix(".0")
        self.setToolTip(self._exact)
        self.drop()

    def drop(self) -> None:
        brief = f"{float(self._exact):.{SIGNIFICANT}g}"
        self.show_text(self._exact if self.hasFocus() or len(self._exact) <= len(brief) else brief)

    def focusInEvent(self, event: QFocusEvent) -> None:
        self._rewrite()
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._rewrite()

    def _rewrite(self) -> None:
        if self.text() == self.shown:
            self.drop()

    def _read(self, text: str) -> None:
        number = read_numbers([[text]])[0][0]
        assert number is not None  # as only a cell without text has it
        self._take_number(number)
