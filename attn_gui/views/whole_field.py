"""WholeField: a spin box whose number counts once it is entered, and not while it is typed."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import QEvent, QSignalBlocker, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QSpinBox, QWidget

from attn_gui.views import half_typed


class WholeField(QSpinBox):
    """``valueChanged`` comes with each number entered or turned to. Escape gives up what is typed.

    typed: whether what stands here is not in force yet.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.typed = False
        self.setKeyboardTracking(False)
        self.lineEdit().textEdited.connect(self._on_edited)
        # connected first: what others then do meets a field that holds nothing of its own
        self.valueChanged.connect(self._on_entered)
        self.editingFinished.connect(self._on_entered)

    @property
    def refused(self) -> bool:
        """Never: what can be typed is a number within the range."""
        return False

    def show_whole(self, value: int) -> None:
        """Show ``value``, in place of whatever was typed; a range that it lies beyond is widened."""
        self._on_entered()
        with QSignalBlocker(self):
            self.setRange(min(self.minimum(), value), max(self.maximum(), value))
            self.setValue(value)

    def commit(self) -> bool:
        """Have what is typed take effect."""
        self._on_entered()
        self.interpretText()
        return True

    def drop(self) -> None:
        """Show the number that was there before typing."""
        self.show_whole(self.value())

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
        return event.key() == Qt.Key.Key_Escape and self.typed

    def _on_edited(self) -> None:
        self.typed = True
        half_typed.begin(self)

    def _on_entered(self) -> None:
        self.typed = False
        half_typed.end(self)
