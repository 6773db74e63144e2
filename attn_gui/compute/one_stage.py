"""OneStage: a matrix in the place of a trace."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_gui.model.experiment import Experiment
from attn_gui.model.trace import ALL, Head, Matrix

Array = NDArray[Any]


class OneStage:
    """A trace in which every stage of every head is ``matrix``; ``experiment`` names its rows and columns."""

    def __init__(self, experiment: Experiment, device: str, matrix: Matrix) -> None:
        self.experiment = experiment
        self.device = device
        self._matrix = matrix
        self._rows, self._columns = (slice(0, count) for count in matrix.shape)

    def stage(self, name: str, head: int | None = None) -> Array:
        return self._matrix.block(self._rows, self._columns)

    def matrix(self, name: str, head: Head) -> Matrix:
        return self._matrix

    def part(self, head: Head | None = None) -> float:
        return 1.0

    def passes(self, first: Sequence[Head] = ()) -> Generator[float, None, None]:
        yield from ()

    def empty_rows(self, head: Head) -> NDArray[np.bool_]:
        return np.logical_not(self._matrix.allowed(self._rows, self._columns).any(axis=1))

    def row_sums(self, head: Head, rows: slice = ALL) -> NDArray[np.float64]:
        start, stop, _ = rows.indices(self._rows.stop)
        return self._matrix.block(slice(start, stop), self._columns).sum(axis=1, dtype=np.float64)
