"""Picking whole queries and keys by their labels: a click one, Shift a range, Ctrl one more or less."""

from __future__ import annotations

from PySide6.QtCore import Qt

from attn_gui.control.selection import Selection

QUERY, KEY = "query", "key"


class Picker:
    """Turns presses on labels into what is picked."""

    def __init__(self, selection: Selection) -> None:
        self._selection = selection
        self._anchor: dict[str, int] = {}

    def press(self, axis: str, index: int, modifiers: Qt.KeyboardModifier) -> None:
        """A label of ``axis`` was pressed."""
        if modifiers & Qt.KeyboardModifier.ShiftModifier:
            self.extend(axis, index)
        elif modifiers & Qt.KeyboardModifier.ControlModifier:
            self._anchor[axis] = index
            self._set(axis, self._picked(axis) ^ {index})
        else:
            self._anchor[axis] = index
            one = frozenset({index})
            self._selection.pick(*((one, frozenset()) if axis == QUERY else (frozenset(), one)))
            self._go_to(axis, index)

    def extend(self, axis: str, index: int) -> None:
        """Pick from the last label that was pressed, or else the selected one, to ``index``."""
        anchor = self._anchor.get(axis)
        if anchor is None or anchor not in self._picked(axis):
            anchor = self._anchor[axis] = self._selection.query if axis == QUERY else self._selection.key
        self._set(axis, frozenset(range(min(anchor, index), max(anchor, index) + 1)))

    def clear(self) -> None:
        self._anchor.clear()
        self._selection.pick(frozenset(), frozenset())

    def _picked(self, axis: str) -> frozenset[int]:
        return self._selection.queries if axis == QUERY else self._selection.keys

    def _set(self, axis: str, picked: frozenset[int]) -> None:
        selection = self._selection
        if axis == QUERY:
            selection.pick(picked, selection.keys)
        else:
            selection.pick(selection.queries, picked)

    def _go_to(self, axis: str, index: int) -> None:
        selection = self._selection
        if axis == QUERY:
            selection.set_cell(index, selection.key)
        else:
            selection.set_cell(selection.query, index)
