"""Selection: what the person is looking at. Views share it and never talk to one another."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from attn_gui.model.arranging import PLAIN, Arrangement
from attn_gui.model.derivation import Cell, DerivationAsk
from attn_gui.model.experiment import Experiment
from attn_gui.model.trace import Head


class Selection(QObject):
    """The head, the cell (query, key), the cell under the pointer, and the rows and columns picked by their labels."""

    head_changed = Signal(object)
    cell_changed = Signal(int, int)
    hover_changed = Signal(object)
    picked_changed = Signal()
    painting_changed = Signal(bool)
    why_asked = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.head: Head = 0
        self.query = 1
        self.key = 3
        self.hover: tuple[int, int] | None = None
        self.queries: frozenset[int] = frozenset()
        self.keys: frozenset[int] = frozenset()
        self.painting = False
        self.why: DerivationAsk | None = None

    def ask_why(self, cell: Cell, arranged: Arrangement = PLAIN) -> None:
        """Have the whole derivation shown of ``cell``, or of the number that is ``arranged`` drawn for it."""
        self.why = DerivationAsk(cell.stage, cell.head, cell.row, cell.column, arranged)
        self.why_asked.emit(self.why)

    def set_head(self, head: Head) -> None:
        if head != self.head:
            self.head = head
            self.head_changed.emit(head)

    def set_cell(self, query: int, key: int) -> None:
        if (query, key) != (self.query, self.key):
            self.query, self.key = query, key
            self.cell_changed.emit(query, key)

    def set_hover(self, cell: tuple[int, int] | None) -> None:
        if cell != self.hover:
            self.hover = cell
            self.hover_changed.emit(cell)

    def pick(self, queries: frozenset[int], keys: frozenset[int]) -> None:
        """Mark whole queries and keys, whose sums are then read out."""
        if (queries, keys) != (self.queries, self.keys):
            self.queries, self.keys = queries, keys
            self.picked_changed.emit()

    def set_painting(self, on: bool) -> None:
        """Whether clicks on A paint the mask instead of selecting."""
        if on != self.painting:
            self.painting = on
            self.painting_changed.emit(on)

    def fit(self, experiment: Experiment) -> None:
        """Come back within the bounds of ``experiment``."""
        if isinstance(self.head, int):
            self.set_head(min(self.head, experiment.heads - 1))
        self.set_cell(min(self.query, experiment.n_q - 1), min(self.key, experiment.n_k - 1))
        self.set_hover(None)
        self.pick(
            frozenset(i for i in self.queries if i < experiment.n_q),
            frozenset(j for j in self.keys if j < experiment.n_k),
        )
