"""What the three heatmaps of a comparison show: each a trace of one stage."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_gui.compute import budget
from attn_gui.compute.array_matrix import ArrayMatrix
from attn_gui.compute.comparing.beside import Beside
from attn_gui.compute.comparing.difference import Difference
from attn_gui.compute.whole import WholeMatrix
from attn_gui.model.answers import NotYet
from attn_gui.model.comparison import Comparison, Side
from attn_gui.model.experiment import Experiment
from attn_gui.model.stage_shape import FROM_OUTPUTS
from attn_gui.model.stages import STAGES
from attn_gui.model.trace import ALL, Head, Matrix, Trace

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


@dataclass(frozen=True, eq=False)
class Pair:
    """Both sides of ``comparison`` and their difference. held: bytes that the left side's trace takes, about."""

    comparison: Comparison
    left: Trace
    right: Trace
    difference: Trace
    matrices: tuple[Beside, Beside, Difference]
    held: int


def pair(comparison: Comparison, frames: tuple[Experiment, Experiment, Experiment]) -> Pair | NotYet:
    """What there is to show of ``comparison``; ``frames`` name the rows and columns of left, right and difference.

    NotYet where it takes rows that have not been computed.
    """
    if comparison.stage in FROM_OUTPUTS and any(side.trace.part() < 1 for side in comparison.sides):
        return NotYet()
    left, right = _beside(comparison, comparison.stage)
    difference = Difference(left, right, either=comparison.stage == "N")
    device = comparison.right.trace.device
    return Pair(
        comparison,
        OneStage(frames[0], device, left),
        OneStage(frames[1], device, right),
        OneStage(frames[2], device, difference),
        (left, right, difference),
        _held(comparison.left.trace),
    )


def _held(trace: Trace) -> int:
    e = trace.experiment
    whole = isinstance(trace.matrix("N", 0), WholeMatrix)
    return budget.needed(e) - (0 if whole else 2 * e.heads * e.n_q * e.n_k * e.precision.bytes)


def weights_of(comparison: Comparison) -> tuple[Beside, Beside]:
    """The weights of both sides, whichever stage is compared."""
    return _beside(comparison, "N")


def _beside(comparison: Comparison, stage: str) -> tuple[Beside, Beside]:
    matrices = [_matrix(side, stage) for side in comparison.sides]
    rows, columns = (min(counts) for counts in zip(*(matrix.shape for matrix in matrices), strict=True))
    left, right = matrices
    return (
        Beside(left, right, (rows, columns), whole=isinstance(left, WholeMatrix)),
        Beside(right, left, (rows, columns), whole=isinstance(right, WholeMatrix)),
    )


def _matrix(side: Side, stage: str) -> Matrix:
    head = side.head_of(stage)
    if STAGES[stage].square:
        return side.trace.matrix(stage, head)
    return ArrayMatrix(side.trace.stage(stage, head if isinstance(head, int) else 0))
