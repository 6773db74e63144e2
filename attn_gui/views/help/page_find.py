"""PageFind: find words in the page that is shown."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLineEdit, QToolButton, QWidget

from attn_gui.views.help.browser import Browser


class PageFind(QFrame):
    """Hidden until :meth:`open`; Enter goes on, Shift+Enter back, Escape closes it."""

    def __init__(self, browser: Browser, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._browser = browser
        self.setObjectName("panel")
        self.field = QLineEdit()
        self.field.setPlaceholderText("Find in this page")
        self.field.setAccessibleName("Find in this page")
        self.field.setFixedWidth(220)
        self.back = _button("‹", "Previous place")
        self.on = _button("›", "Next place")
        self.leave = _button("✕", "Close the search")
        self.found = QLabel()
        self.found.setObjectName("muted")
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 4, 8, 4)
        row.setSpacing(8)
        for widget in (self.field, self.back, self.on, self.found):
            row.addWidget(widget)
        row.addStretch(1)
        row.addWidget(self.leave)
        self.field.textChanged.connect(lambda text: self.search())
        self.field.installEventFilter(self)
        self.back.clicked.connect(lambda: self.step(-1))
        self.on.clicked.connect(lambda: self.step(1))
        self.leave.clicked.connect(self.close_bar)
        self.hide()

    def open(self) -> None:
        self.show()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()
        self.search()

    def close_bar(self) -> None:
        self.hide()
        self._browser.find_text("")
        self._browser.setFocus(Qt.FocusReason.OtherFocusReason)

    def search(self) -> None:
        """Find what is typed in the page at hand."""
        self._browser.find_text(self.field.text())
        self._say()

    def step(self, by: int) -> None:
        self._browser.step(by)
        self._say()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.step(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
                return True
            if event.key() == Qt.Key.Key_Escape:
                self.close_bar()
                return True
        return False

    def _say(self) -> None:
        count = len(self._browser.extraSelections())
        text = f"{self._browser.found_at()} of {count}" if count else "Not in this page"
        self.found.setText(text if self.field.text() else "")
        self.found.setAccessibleName(self.found.text())
        for button in (self.back, self.on):
            button.setEnabled(count > 0)


def _button(text: str, name: str) -> QToolButton:
    button = QToolButton()
    button.setText(text)
    button.setAutoRaise(True)
    button.setAccessibleName(name)
    button.setToolTip(name)
    return button
