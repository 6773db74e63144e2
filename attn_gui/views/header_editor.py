"""HeaderEditor: the line in which a column's name is typed, over its header."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QHeaderView, QLineEdit


class HeaderEditor(QLineEdit):
    """Opens over a section of ``header`` and hands over what was typed; Escape gives it up."""

    def __init__(self, header: QHeaderView, done: Callable[[int, str], None]) -> None:
        super().__init__(header.viewport())
        self._header = header
        self._done = done
        self._section = -1
        self.setAccessibleName("Name of the dimension")
        self.setPlaceholderText("automatic")
        self.hide()

    def open(self, section: int, text: str) -> None:
        """Edit ``text``, the name of ``section``."""
        self._section = section
        left, header = self._header.sectionViewportPosition(section), self._header
        self.setGeometry(left, 0, max(header.sectionSize(section), 64), header.height())
        self.setText(text)
        self.selectAll()
        self.show()
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._close(take=True)
        elif event.key() == Qt.Key.Key_Escape:
            self._close(take=False)
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() not in (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.ActiveWindowFocusReason):
            self._close(take=True)

    def _close(self, *, take: bool) -> None:
        section, self._section = self._section, -1
        if section < 0:
            return
        had_focus = self.hasFocus()
        self.hide()
        table = self._header.parentWidget()
        if had_focus and table is not None:
            table.setFocus()
        if take:
            self._done(section, self.text().strip())
