"""Learned positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from attn_gui.model.errors import ExperimentError
from attn_gui.model.parts import array
from attn_gui.model.positions.input_position import InputPosition
from attn_gui.model.table import Floats, Table


@dataclass(frozen=True, eq=False)
class Learned(InputPosition):
    """A row of ``table``, [positions, d], for each position (BERT, GPT-2)."""

    kind: ClassVar[str] = "learned"
    title: ClassVar[str] = "Learned table"
    formula: ClassVar[str] = "table[p]"
    about: ClassVar[str] = "A vector for each position, as numbers that can be edited"
    table: Floats = array(
        "Position table", (2,), counts=("position", "dimension"), hint="Added to the embeddings, one row a position"
    )

    def vectors(self, positions: NDArray[np.int64], width: int) -> Floats:
        return self.table[positions]

    def reaching(self, last: int) -> Learned:
        rows, width = self.table.shape
        return self if last < rows else Learned(np.concatenate([self.table, np.zeros((last + 1 - rows, width))]))

    def rearranged(self, order: Sequence[int | None]) -> Learned:
        return Learned(Table.of(self.table).with_columns(order).array())

    def check_fits(self, positions: NDArray[np.int64], width: int) -> None:
        rows, columns = self.table.shape
        if columns != width:
            raise ExperimentError("position learned table", f"{width} columns, as the embeddings have", str(columns))
        if len(positions) and positions.max() >= rows:
            raise ExperimentError("position learned table", f"a row for position {positions.max()}", f"{rows} rows")
