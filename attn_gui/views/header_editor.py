"""HeaderEditor: the line in which a column's name is typed, over its header."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QHeaderView, QLineEdit

from attn_gui.views import half_typed


class HeaderEditor(QLineEdit):
    """Opens over a section of ``header`` and hands over what was typed; Escape gives it up."""

    def __init__(self, header: QHeaderView, done: Callable[[int, str], None]) -> None:
        super().__init__(header.viewport())
        self._header = header
        self._done = done
        self._section = -1
        self._again = False
        self.setAccessibleName("Name of the dimension")
        self.setPlaceholderText("automatic")
        self.hide()

    @property
    def refused(self) -> bool:
        """Never: of a table that has changed, a name that it refused says nothing any more."""
        return False

    def open(self, section: int, text: str, *, again: bool = False) -> None:
        """Edit ``text``, the name of ``section``; ``again``: it has just been refused."""
        self._section, self._again = section, again
        left, header = self._header.sectionViewportPosition(section), self._header
        self.setGeometry(left, 0, max(header.sectionSize(section), 64), header.height())
        self.setText(text)
        self.selectAll()
        self.show()
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        half_typed.begin(self)

    def commit(self) -> bool:
        """Have the name taken; False where it is refused just now."""
        told = self._again and not self.isModified()
        if not told:
            self._close(take=True)
        return told or not self.isVisible()

    def drop(self) -> None:
        """Give up the name that is typed."""
        self._close(take=False)

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
        half_typed.end(self)
        if section < 0:
            return
        had_focus = self.hasFocus()
        self.hide()
        table = self._header.parentWidget()
        if had_focus and table is not None:
            table.setFocus()
        if take:
            self._done(section, self.text().strip())
