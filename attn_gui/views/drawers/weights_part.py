"""WeightsPart: which matrix or bias is shown, whole or of one head, and what its rows and columns are called."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from attn_gui.model.experiment import Experiment
from attn_gui.model.table import Floats, Table
from attn_gui.model.weights import BIASES, MATRICES

# what a matrix's columns are the dimensions of
LETTERS = {"Q": "q", "K": "k", "V": "v", "O": "o"}
FORMULAS = {
    "W_Q": "Q = X W_Q",
    "W_K": "K = X W_K",
    "W_V": "V = X W_V",
    "W_O": "output = concat W_O",
    "b_Q": "added to Q",
    "b_K": "added to K",
    "b_V": "added to V",
    "b_O": "added to the output",
}


@dataclass(frozen=True, eq=False)
class WeightsPart:
    """A window of one table of the weights: all of it, or the rows or columns that ``head`` uses."""

    experiment: Experiment
    name: str
    head: int | None = None

    @cached_property
    def table(self) -> Table:
        weights = self.experiment.weights
        table = None if weights is None else weights.get(self.name)
        if table is None:
            raise KeyError(self.name)
        return table

    @cached_property
    def groups(self) -> int:
        """Into how many heads the columns (of W_O: the rows) are cut; 1 where they are not."""
        return {"Q": self.experiment.heads, "O": self.experiment.heads if self.by_rows else 1}.get(
            self.name[-1], self.experiment.kv_heads
        )

    @property
    def by_rows(self) -> bool:
        """Whether a head takes rows of it and not columns."""
        return self.name == "W_O"

    @property
    def size(self) -> int:
        """Rows or columns of one head."""
        return (len(self.table) if self.by_rows else self.table.width) // self.groups

    @cached_property
    def group(self) -> int | None:
        """Which of the groups is shown, None for all: a kv head serves several heads."""
        if self.head is None or self.groups == 1:
            return None
        return self.head * self.groups // self.experiment.heads

    @cached_property
    def rows(self) -> range:
        return self._own() if self.by_rows and self.group is not None else range(len(self.table))

    @cached_property
    def columns(self) -> range:
        return self._own() if not self.by_rows and self.group is not None else range(self.table.width)

    @cached_property
    def values(self) -> Floats:
        """The numbers shown, [rows, columns]: a view, nothing is copied."""
        return self.table.array()[self.rows.start : self.rows.stop, self.columns.start : self.columns.stop]

    def row_name(self, row: int) -> str:
        if self.name in BIASES:
            return self.name
        if self.by_rows:
            return self._numbered("v", self.rows[row])
        sequence = self.experiment.tokens if self.name == "W_Q" else self.experiment.keys
        return sequence.dimension_name(row)

    def column_name(self, column: int) -> str:
        letter = LETTERS[self.name[-1]]
        return (
            f"{letter}{column + 1}"
            if self.by_rows or self.groups == 1
            else self._numbered(letter, self.columns[column])
        )

    def boundaries(self) -> range:
        """Where one head's rows or columns end and the next one's begin, among those shown."""
        if self.group is not None or self.groups == 1:
            return range(0)
        return range(self.size, self.size * self.groups, self.size)

    def told(self) -> str:
        """What is shown, with its formula and shape."""
        rows, columns = len(self.rows), len(self.columns)
        text = f"{FORMULAS[self.name]}  ·  {rows} × {columns}"
        shared = self.experiment.heads // self.experiment.kv_heads
        if self.group is not None and self.groups < self.experiment.heads:
            first = self.group * shared + 1
            text += f"  ·  shared by heads {first} to {first + shared - 1}"
        return text

    def _own(self) -> range:
        start = (self.group or 0) * self.size
        return range(start, start + self.size)

    def _numbered(self, letter: str, index: int) -> str:
        """``2·q1``: the first of head 2, where all heads are in sight."""
        number = f"{letter}{index % self.size + 1}"
        return number if self.group is not None or self.groups == 1 else f"{index // self.size + 1}·{number}"


def present(experiment: Experiment) -> list[str]:
    """The names of the tables that ``experiment`` has, matrices first."""
    weights = experiment.weights
    return [] if weights is None else [name for name in MATRICES + BIASES if weights.get(name) is not None]
