"""Subject: the numbers of a trace that a derivation speaks of, and what they are called."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from attn_gui.compute.numbers import from_numpy, stored, to_numpy
from attn_gui.model.derivation import Cell, Operand, Parameter
from attn_gui.model.mapped import fetched
from attn_gui.model.sources import FromTokens
from attn_gui.model.table import Floats
from attn_gui.model.trace import Head, Trace

LONGEST_NAME = 24


class Subject:
    """One head of a trace, as it is looked at."""

    def __init__(self, trace: Trace, head: int) -> None:
        self.trace, self.head = trace, head
        self.experiment = trace.experiment
        self.kv_head = head // (self.experiment.heads // self.experiment.kv_heads)

    def rows(self, stage: str) -> NDArray[Any]:
        """A stage that is not square, [rows, columns], of this head where it is per head."""
        return self.trace.stage(stage, self.head)

    def value(self, cell: Cell) -> float:
        """The number in a cell of a square stage."""
        i, j = cell.row, cell.column
        return float(self.trace.matrix(cell.stage, cell.head).block(slice(i, i + 1), slice(j, j + 1))[0, 0])

    def row(self, stage: str, i: int) -> Floats:
        """Row ``i`` of a square stage, [n_k]."""
        block = self.trace.matrix(stage, self.head).block(slice(i, i + 1), slice(0, self.experiment.n_k))
        return block[0].astype(np.float64)

    def allowed(self, i: int, head: Head | None = None) -> NDArray[np.bool_]:
        """Which keys query ``i`` may attend to, [n_k]."""
        stage = "A_masked" if self.experiment.has_scores else "N"
        matrix = self.trace.matrix(stage, self.head if head is None else head)
        return np.asarray(matrix.allowed(slice(i, i + 1), slice(0, self.experiment.n_k))[0])

    def cell(self, stage: str, row: int, column: int) -> Cell:
        return Cell(stage, self.head, row, column)

    def query(self, i: int) -> str:
        return quoted(self.experiment.tokens.tokens[i])

    def key(self, j: int) -> str:
        return quoted(self.experiment.keys.tokens[j])

    def score(self, i: int, j: int, value: float, stage: str = "A") -> Operand:
        return Operand(value, f"score of {self.query(i)} for {self.key(j)}", self.cell(stage, i, j))

    def given(self, array: Floats) -> Floats:
        """``array`` as the computation takes it: rounded once to the precision."""
        dtype = stored(self.experiment.precision)
        return to_numpy(from_numpy(array, dtype, torch.device("cpu"))).astype(np.float64)

    def as_given(self, part: str, row: int, column: int, name: str) -> Operand:
        """A number of what was given, before it was rounded to the precision; of this head or its kv head."""
        source = self.experiment.source
        assert not isinstance(source, FromTokens)
        array, head = source.parts()[part], self.kv_head if part in "KV" else self.head
        return Operand(
            float(fetched(array[head, row, column : column + 1])[0]),
            name,
            Parameter(part, head * array.shape[1] + row, column),
        )

    def weight(self, table: str, row: int, column: int, value: float) -> Operand:
        return Operand(value, f"{table}, row {row + 1}, column {column + 1}", Parameter(table, row, column))


def quoted(token: str) -> str:
    """A token as a name speaks of it; of a long one its beginning."""
    return f"“{token if len(token) <= LONGEST_NAME else token[: LONGEST_NAME - 1] + '…'}”"
