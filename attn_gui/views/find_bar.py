"""FindBar: go to a token by its place or by a part of its name."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLineEdit, QToolButton, QWidget

from attn_gui.model.experiment import Experiment
from attn_gui.views.context import Context

FIELD_WIDTH = 240


class FindBar(QFrame):
    """Hidden until :meth:`open`; Enter goes to the next match, Shift+Enter to the one before, Escape closes it.

    ``show_place(query, key)`` brings a place of the matrix into the middle. What is found is a query; where keys are a
    sequence of their own, a key if no query is called so.
    """

    def __init__(self, context: Context, show_place: Callable[[int, int], None], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._show_place = show_place
        self._of: Experiment | None = None
        self._text = ""
        self._matches: list[tuple[str, int]] = []
        self._at = -1
        self._before: QWidget | None = None
        self.setObjectName("panel")
        self.setAccessibleName("Go to token")
        self.field = QLineEdit()
        self.field.setPlaceholderText("Token or its number")
        self.field.setAccessibleName("Token or its number")
        self.field.setFixedWidth(FIELD_WIDTH)
        self.found = QLabel()
        self.found.setObjectName("muted")
        self.back = self._button("‹", "Previous match", lambda: self.step(-1))
        self.on = self._button("›", "Next match", lambda: self.step(1))
        self.leave = self._button("✕", "Close", self.close_bar)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 4, 8, 4)
        row.setSpacing(8)
        label = QLabel("Go to")
        label.setBuddy(self.field)
        for widget in (label, self.field, self.back, self.on, self.found):
            row.addWidget(widget)
        row.addStretch(1)
        row.addWidget(self.leave)
        self.field.textChanged.connect(lambda text: self._search())
        self.field.installEventFilter(self)
        context.document.changed.connect(lambda before, after: self._search() if self.isVisible() else None)
        self.hide()

    def open(self) -> None:
        """Come into sight, ready to be typed in."""
        focused = self.window().focusWidget()
        self._before = focused if focused is not self.field else self._before
        self.show()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()
        self._search()

    def close_bar(self) -> None:
        self.hide()
        if self._before is not None:
            self._before.setFocus(Qt.FocusReason.OtherFocusReason)

    def step(self, by: int) -> None:
        """Go to the next match, or the one before."""
        if self._matches:
            start = self._at if self._at >= 0 else (-1 if by > 0 else 0)
            self._at = (start + by) % len(self._matches)
            self._go()
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

    def _search(self) -> None:
        """Find what is typed; one goes there with Enter."""
        e, text = self._context.document.experiment, self.field.text().strip()
        if e is self._of and text == self._text:
            self._say()
            return
        self._of, self._text, self._at = e, text, -1
        self._matches = matches(e, text)
        self._say()

    def _say(self) -> None:
        count = len(self._matches)
        if not self._text:
            words = ""
        elif not count:
            words = "No token is called so"
        else:
            words = f"{self._at + 1:,} of {count:,}" if self._at >= 0 else f"{count:,} found"
        self.found.setText(words)
        self.found.setAccessibleName(words)
        self.back.setEnabled(count > 0)
        self.on.setEnabled(count > 0)

    def _go(self) -> None:
        e, selection = self._context.document.experiment, self._context.selection
        axis, place = self._matches[self._at]
        if axis == "key":
            query, key = min(selection.query, e.n_q - 1), place
        else:
            # where tokens attend to one another, to themselves: the diagonal is where most of it happens
            query, key = place, min(selection.key, e.n_k - 1) if e.variant.is_cross else place + e.offset
        selection.set_cell(query, key)
        self._show_place(query, key)

    def _button(self, text: str, name: str, go: Callable[[], None]) -> QToolButton:
        button = QToolButton()
        button.setText(text)
        button.setAutoRaise(True)
        button.setAccessibleName(name)
        button.setToolTip(name)
        button.clicked.connect(go)
        return button


def matches(experiment: Experiment, text: str) -> list[tuple[str, int]]:
    """The places that ``text`` may mean, ("query" or "key", index): first its number, then whole names, then parts."""
    if not text:
        return []
    e, wanted = experiment, text.casefold()
    found: list[tuple[str, int]] = []
    digits = text.replace(",", "").lstrip("#")
    if digits.isascii() and digits.isdigit() and len(digits) < 12 and 1 <= int(digits) <= e.n_q:
        found.append(("query", int(digits) - 1))
    axes = [("query", e.tokens.tokens)]
    if e.variant.is_cross:
        axes.append(("key", e.keys.tokens))
    for axis, tokens in axes:
        # of very many tokens most are words that come again and again
        kinds = {token for token in set(tokens) if wanted in token.casefold()}
        whole = {token for token in kinds if token.casefold() == wanted}
        for among in (whole, kinds - whole):
            if among:
                found += [(axis, i) for i, token in enumerate(tokens) if token in among]
    return list(dict.fromkeys(found))
