"""FindBar: go to a token by its place or by a part of its name."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from attn_gui.model.experiment import Experiment
from attn_gui.views.context import Context
from attn_gui.views.number_delegate import CellEditor
from attn_gui.views.search_bar import SearchBar


class FindBar(SearchBar):
    """Goes to what is found.

    ``show_place(query, key)`` brings a place of the matrix into the middle. What is found is a query; where keys are a
    sequence of their own, a key if no query is called so.
    """

    def __init__(self, context: Context, show_place: Callable[[int, int], None], parent: QWidget | None = None) -> None:
        super().__init__("Token or its number", "match", "Go to", parent)
        self._context = context
        self._show_place = show_place
        self._of: Experiment | None = None
        self._text = ""
        self._matches: list[tuple[str, int]] = []
        self._at = -1
        self._before: QWidget | None = None
        self.setAccessibleName("Go to token")
        context.document.changed.connect(lambda before, after: self.search() if self.isVisible() else None)

    def open(self) -> None:
        focused = self.window().focusWidget()
        if isinstance(focused, CellEditor):
            focused = focused.table  # the editor closes when it loses the focus
        self._before = focused if focused is not self.field else self._before
        super().open()

    def close_bar(self) -> None:
        super().close_bar()
        if self._before is not None and isValid(self._before):
            self._before.setFocus(Qt.FocusReason.OtherFocusReason)

    def step(self, by: int) -> None:
        if self._matches:
            start = self._at if self._at >= 0 else (-1 if by > 0 else 0)
            self._at = (start + by) % len(self._matches)
            self._go()
        self._say()

    def search(self) -> None:
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
        self.say(words, count)

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
