"""CellReading: what the cell under the pointer, or the selected one, is on both sides."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from attn_gui.control.comparing import Comparing
from attn_gui.control.selection import Selection
from attn_gui.control.settings import Settings
from attn_gui.files.layout import Layout
from attn_gui.model.answers import Block
from attn_gui.model.asks import BlockAsk
from attn_gui.views.compare.words import Value, change, place
from attn_gui.views.heatmap.pictures import Pictures
from attn_gui.views.heatmap.readout import DEBOUNCE_MS
from attn_gui.views.heatmap.words import pictured

LEFT, RIGHT = "compare.left.cell", "compare.right.cell"


class CellReading(QObject):
    """``words`` follows the pointer, and without one the selected cell: ``is → the: 0.2384 → 0.2226 (−0.0158)``.

    ``tables`` name the rows and columns of both sides as they are drawn.
    """

    changed = Signal()

    def __init__(
        self, comparing: Comparing, selection: Selection, settings: Settings, pictures: tuple[Pictures, Pictures]
    ) -> None:
        super().__init__(comparing)
        self.words = ""
        self.tables: tuple[Layout, Layout] | None = None
        self._comparing = comparing
        self._selection = selection
        self._settings = settings
        self._pictures = pictures
        self._asked: tuple[int, int] | None = None
        self._blocks: dict[str, Block] = {}
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(DEBOUNCE_MS)
        self._timer.timeout.connect(self._ask)
        for feed in (comparing.left, comparing.right):
            feed.answered.connect(self._on_answer)
        for each in pictures:
            each.changed.connect(lambda before: self.refresh())
        comparing.changed.connect(self._forget)
        selection.hover_changed.connect(lambda cell: self.refresh())
        selection.cell_changed.connect(lambda query, key: self.refresh())
        settings.changed.connect(lambda name: self.refresh() if name == "decimals" else None)

    @property
    def cell(self) -> tuple[int, int]:
        """The cell that is read out, within what both sides have."""
        rows, columns = (1, 1) if self._comparing.pair is None else self._comparing.pair.comparison.drawn_shape
        i, j = self._selection.hover or (self._selection.query, self._selection.key)
        return min(i, rows - 1), min(j, columns - 1)

    def refresh(self) -> None:
        """Say what is to be said now; what has to be asked for first comes later."""
        pair, tables = self._comparing.pair, self.tables
        if pair is None or tables is None:
            self._say("")
            return
        cell = self.cell
        where = place(pair.comparison, tables, *cell)
        values = [self._value(side, *cell) for side in (0, 1)]
        left, right = values
        if left is None or right is None:
            self._timer.start()
            self._say(f"{where}: …")
        else:
            self._say(f"{where}: {change(left, right, pair.comparison.stage == 'N', self._settings.decimals)}")

    def _value(self, side: int, i: int, j: int) -> Value | None:
        found = pictured(self._pictures[side].latest, i, j)
        block = self._blocks.get((LEFT, RIGHT)[side])
        if found is not None or block is None or (block.rows[0], block.columns[0]) != (i, j):
            return found
        return float(block.values[0, 0]), bool(block.allowed[0, 0])

    def _ask(self) -> None:
        i, j = self.cell
        ask = BlockAsk("A", 0, (i, i + 1), (j, j + 1))
        self._comparing.left.ask(LEFT, ask)
        self._comparing.right.ask(RIGHT, ask)

    def _on_answer(self, slot: str, answer: object) -> None:
        if slot in (LEFT, RIGHT) and isinstance(answer, Block):
            self._blocks[slot] = answer
            self.refresh()

    def _forget(self) -> None:
        """The numbers are those of another comparison; nothing is asked until they are wanted."""
        self._blocks.clear()
        self._comparing.left.ask(LEFT, None)
        self._comparing.right.ask(RIGHT, None)

    def _say(self, words: str) -> None:
        if words != self.words:
            self.words = words
            self.changed.emit()
