"""GivenTable: what a person says that a stage holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_gui.model.check.printed import NotANumber, PrintedNumber, read_cell
from attn_gui.model.stages import STAGES
from attn_gui.model.table import Floats
from attn_gui.model.trace import Head

# of whole numbers where no other cell says how exactly the table was printed
WHOLE_DECIMALS = 2
# 10 to the power of more is no number of float64
MOST_DECIMALS = 300


@dataclass(frozen=True, eq=False)
class Printed:
    """The numbers of a table, [rows, columns].

    values: float64, NaN where a cell is blank or no number. half_units: half of the last printed place.
    decimals: of each cell. answered: whether there is anything in it.
    """

    values: Floats
    half_units: Floats
    decimals: NDArray[np.int64]
    answered: NDArray[np.bool_]

    @property
    def most_decimals(self) -> int:
        """The decimals of the cell that has the most; 0 where nothing is answered."""
        return int(self.decimals[self.answered].max(initial=0))


@dataclass(frozen=True)
class GivenTable:
    """The cells of ``stage`` as somebody wrote them, row by row; "" is not answered.

    head: from 0, or "mean" for the mean over the heads of a square stage; 0 for a stage that is not per head.
    """

    stage: str
    head: Head
    cells: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, stage: str, head: Head, cells: Sequence[Sequence[str]]) -> GivenTable:
        """From any rows of text."""
        return cls(stage, head if STAGES[stage].per_head else 0, tuple(tuple(map(str, row)) for row in cells))

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.cells), len(self.cells[0]) if self.cells else 0

    @property
    def is_blank(self) -> bool:
        return not any(cell.strip() for row in self.cells for cell in row)

    def fitted(self, rows: int, columns: int) -> GivenTable:
        """Cut, or continued with blank cells, to so many rows and columns."""
        if self.shape == (rows, columns) and all(len(row) == columns for row in self.cells):
            return self
        cut = [(*row[:columns], *[""] * (columns - len(row))) for row in self.cells[:rows]]
        return GivenTable(self.stage, self.head, (*cut, *[("",) * columns] * (rows - len(cut))))

    def name(self, heads: int) -> str:
        """It in words: ``N``, or ``N of head 2`` where there are several ``heads``."""
        if heads == 1 or not STAGES[self.stage].per_head:
            return self.stage
        return f"{self.stage}, mean over heads" if self.head == "mean" else f"{self.stage} of head {self.head + 1}"

    def printed(self) -> Printed:
        """The numbers of the cells; the rows are of one length."""
        texts = list(chain.from_iterable(self.cells))
        places: dict[str, int] = {}  # each text is read once
        cells = np.array([places.setdefault(text, len(places)) for text in texts], int).reshape(self.shape)
        numbers = [_number(text) for text in places]
        values = np.array([np.nan if number is None else number.value for number in numbers])[cells]
        answered = np.array([number is not None for number in numbers], bool)[cells]
        decimals = np.array([0 if number is None else number.decimals for number in numbers], np.int64)[cells]
        exact = np.array([number is not None and number.exact for number in numbers], bool)[cells]
        others = decimals[answered & ~exact & np.isfinite(values)]
        decimals[exact] = others.max() if others.size else WHOLE_DECIMALS
        powers: NDArray[Any] = -np.clip(decimals, -MOST_DECIMALS, MOST_DECIMALS).astype(float)
        return Printed(values, 0.5 * 10.0**powers, decimals, answered)


def _number(text: str) -> PrintedNumber | None:
    try:
        return read_cell(text)
    except NotANumber:
        return PrintedNumber(float("nan"), 0)
