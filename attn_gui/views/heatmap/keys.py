"""Keys: what the keyboard does on a heatmap."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent

from attn_gui.control.document import Document
from attn_gui.control.notices import Notices
from attn_gui.control.selection import Selection
from attn_gui.views.heatmap.painting import toggle
from attn_gui.views.heatmap.picking import KEY, QUERY, Picker
from attn_gui.views.heatmap.plot import Plot

Key = Qt.Key


class Keys(QObject):
    """Watches a plot's keys: arrows, Home, End and the page keys move the selected cell, Space masks or allows it."""

    def __init__(
        self,
        plot: Plot,
        document: Document,
        notices: Notices,
        selection: Selection,
        picker: Picker,
        *,
        maskable: Callable[[], bool],
        editable: Callable[[], bool],
        open_table: Callable[[], None],
    ) -> None:
        super().__init__(plot)
        self._plot = plot
        self._document = document
        self._notices = notices
        self._selection = selection
        self._picker = picker
        self._maskable = maskable
        self._editable = editable
        self._open_table = open_table
        plot.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() != QEvent.Type.KeyPress or not isinstance(event, QKeyEvent):
            return False
        key = event.key()
        moved = self._moved(key, bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier))
        if moved is not None:
            self._go_to(*moved, extend=bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
        elif key == Key.Key_Space and self._maskable():
            if self._editable():
                toggle(self._document, self._notices, *self._cell(), self._selection.head)
        elif key in (Key.Key_Return, Key.Key_Enter):
            self._open_table()
        elif key == Key.Key_Escape and (self._selection.queries or self._selection.keys):
            self._picker.clear()
        else:
            return False
        return True

    def _cell(self) -> tuple[int, int]:
        grid = self._plot.grid
        return min(self._selection.query, grid.n_q - 1), min(self._selection.key, grid.n_k - 1)

    def _moved(self, key: int, control: bool) -> tuple[int, int] | None:
        """Where ``key`` takes the selected cell, None if it is not a key that moves."""
        grid = self._plot.grid
        i, j = self._cell()
        last_i, last_j = grid.n_q - 1, grid.n_k - 1
        page = max(1, int(grid.height / grid.cell_height) - 1)
        places = {
            Key.Key_Up: (0 if control else i - 1, j),
            Key.Key_Down: (last_i if control else i + 1, j),
            Key.Key_Left: (i, 0 if control else j - 1),
            Key.Key_Right: (i, last_j if control else j + 1),
            Key.Key_Home: (0 if control else i, 0),
            Key.Key_End: (last_i if control else i, last_j),
            Key.Key_PageUp: (i - page, j),
            Key.Key_PageDown: (i + page, j),
        }
        place = places.get(Key(key))
        return None if place is None else (max(0, min(place[0], last_i)), max(0, min(place[1], last_j)))

    def _go_to(self, query: int, key: int, *, extend: bool) -> None:
        before = self._cell()
        if extend:
            # from the cell where the extension began
            if query != before[0]:
                self._picker.extend(QUERY, query)
            if key != before[1]:
                self._picker.extend(KEY, key)
        else:
            self._picker.clear()
        self._selection.set_cell(query, key)
        self._plot.ensure_visible(query, key)
