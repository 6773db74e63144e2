"""What the three heatmaps of a comparison show: each a trace of one stage."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

from attn_gui.compute import budget
from attn_gui.compute.arranging import arranged_matrix
from attn_gui.compute.array_matrix import ArrayMatrix
from attn_gui.compute.comparing.beside import Beside
from attn_gui.compute.comparing.difference import Difference
from attn_gui.compute.one_stage import OneStage
from attn_gui.compute.whole import WholeMatrix
from attn_gui.model.answers import NotYet
from attn_gui.model.comparison import Comparison, Side
from attn_gui.model.experiment import Experiment
from attn_gui.model.stage_shape import FROM_OUTPUTS
from attn_gui.model.stages import STAGES
from attn_gui.model.trace import Matrix, Trace


@dataclass(frozen=True, eq=False)
class Pair:
    """Both sides of ``comparison`` and their difference, as they are drawn.

    matrices: the same token by token, of which figures and files are; drawn: what heatmaps show, the same unless some
    tokens are hidden or merged. held: bytes that the left side's trace takes, about.
    """

    comparison: Comparison
    left: Trace
    right: Trace
    difference: Trace
    matrices: tuple[Beside, Beside, Difference]
    drawn: tuple[Beside, Beside, Difference]
    held: int


def pair(
    comparison: Comparison, frames: tuple[Experiment, Experiment, Experiment]
) -> Generator[float, None, Pair | NotYet]:
    """What there is to show of ``comparison``; ``frames`` name the rows and columns of left, right and difference.

    NotYet where it takes rows that have not been computed. In short steps: yields the part done, 0 to 1.
    """
    if comparison.stage in FROM_OUTPUTS and any(side.trace.part() < 1 for side in comparison.sides):
        return NotYet()
    whole = [_matrix(side, comparison.stage) for side in comparison.sides]
    matrices = _three(comparison, whole)
    drawn = matrices
    if comparison.is_arranged:
        shown: list[Matrix] = []
        for side, matrix in zip(comparison.sides, whole, strict=True):
            found = comparison.drawn(side)
            steps = None if found is None else arranged_matrix(side.trace, comparison.stage, side.head, found)
            shown.append(matrix if steps is None else (yield from steps))
        drawn = _three(comparison, shown)
    device = comparison.right.trace.device
    left, right, difference = (OneStage(frame, device, drawn[place]) for place, frame in enumerate(frames))
    return Pair(comparison, left, right, difference, matrices, drawn, _held(comparison.left.trace))


def _three(comparison: Comparison, matrices: Sequence[Matrix]) -> tuple[Beside, Beside, Difference]:
    left, right = _beside(*matrices)
    return left, right, Difference(left, right, either=comparison.stage == "N")


def _held(trace: Trace) -> int:
    e = trace.experiment
    whole = isinstance(trace.matrix("N", 0), WholeMatrix)
    return budget.needed(e) - (0 if whole else 2 * e.heads * e.n_q * e.n_k * e.precision.bytes)


def weights_of(comparison: Comparison) -> tuple[Beside, Beside]:
    """The weights of both sides, whichever stage is compared."""
    left, right = (_matrix(side, "N") for side in comparison.sides)
    return _beside(left, right)


def _beside(left: Matrix, right: Matrix) -> tuple[Beside, Beside]:
    rows, columns = (min(counts) for counts in zip(left.shape, right.shape, strict=True))
    return (
        Beside(left, right, (rows, columns), whole=isinstance(left, WholeMatrix)),
        Beside(right, left, (rows, columns), whole=isinstance(right, WholeMatrix)),
    )


def _matrix(side: Side, stage: str) -> Matrix:
    head = side.head_of(stage)
    if STAGES[stage].square:
        return side.trace.matrix(stage, head)
    return ArrayMatrix(side.trace.stage(stage, head if isinstance(head, int) else 0))
