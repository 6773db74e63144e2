"""WeightsPart: which table is shown, whole or of one head, and what its rows and columns are called."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from attn_gui.model.experiment import Experiment
from attn_gui.model.named_table import NamedTable
from attn_gui.model.table import Floats, Table
from attn_gui.model.tables import table_named
from attn_gui.model.weights import BIASES, MATRICES
from attn_gui.views.drawers.stage_text import formula, projection


@dataclass(frozen=True, eq=False)
class WeightsPart:
    """A window of one table of the experiment: all of it, or the rows or columns that ``head`` uses."""

    experiment: Experiment
    name: str
    head: int | None = None

    @cached_property
    def of(self) -> NamedTable:
        return table_named(self.experiment, self.name)

    @property
    def title(self) -> str:
        return self.of.title

    @property
    def table(self) -> Table:
        return self.of.table

    @property
    def by_rows(self) -> bool:
        """Whether a head takes rows of it and not columns."""
        return self.of.by_rows

    @cached_property
    def group(self) -> int | None:
        """Which of the parts is shown, None for all: a kv head serves several heads."""
        if self.head is None or self.of.parts == 1:
            return None
        return self.head * self.of.parts // self.experiment.heads

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
        """``2·v1``: the first of head 2, where all heads are in sight."""
        return self.of.rows.called(row) if self.group is not None else self.of.row_name(row)

    def column_name(self, column: int) -> str:
        return self.of.columns.called(column) if self.group is not None else self.of.column_name(column)

    def boundaries(self) -> range:
        """Where one head's rows or columns end and the next one's begin, among those shown."""
        if self.group is not None or self.of.parts == 1:
            return range(0)
        return range(self.of.size, self.of.size * self.of.parts, self.of.size)

    def told(self) -> str:
        """What is shown, with its formula and shape."""
        rows, columns = len(self.rows), len(self.columns)
        text = f"{self._about()}  ·  {rows:,} × {columns:,}"
        shared = self.experiment.heads // self.of.parts
        if self.group is not None and shared > 1:
            first = self.group * shared + 1
            text += f"  ·  shared by heads {first} to {first + shared - 1}"
        return text

    def _about(self) -> str:
        if self.name not in MATRICES + BIASES:
            return self.of.about
        letter, scoring = self.name[-1], self.experiment.scoring
        if letter == "O":
            return formula(self.experiment, "output")
        later = letter in "QK" and (scoring.qk_norm is not None or scoring.rotary is not None)
        return f"{letter}{'_projected' if later else ''} = {projection(self.experiment, letter)}"

    def _own(self) -> range:
        start = (self.group or 0) * self.of.size
        return range(start, start + self.of.size)
