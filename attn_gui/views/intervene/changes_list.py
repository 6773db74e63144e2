"""ChangesList: the changes in force; Delete takes one out."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QFrame, QListView, QListWidget, QWidget


class ChangesList(QListWidget):
    """``removed(index)`` asks for one to be taken out."""

    removed = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Changes in force")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWordWrap(True)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def show_changes(self, changes: Sequence[str]) -> None:
        """Show these, the last of them, which is the newest, selected where there are more than before."""
        kept, more = self.currentRow(), len(changes) > self.count()
        self.clear()
        for text in changes:
            self.addItem(text)
            self.item(self.count() - 1).setToolTip(text)
        self.setCurrentRow(self.count() - 1 if more else min(kept, self.count() - 1))

    def remove_current(self) -> None:
        """Ask for the selected one to be taken out."""
        if self.currentRow() >= 0:
            self.removed.emit(self.currentRow())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Delete) or event.key() == Qt.Key.Key_Backspace:
            self.remove_current()
        else:
            super().keyPressEvent(event)
