"""Two traces side by side: what of them can be compared, and what a comparison finds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from attn_gui.model.arranging import PLAIN, Arranged, Arrangement, arranged
from attn_gui.model.experiment import Experiment
from attn_gui.model.precision import Precision
from attn_gui.model.stage_shape import OF_KEYS, stage_axes, stage_shape, stages_of
from attn_gui.model.stages import STAGES
from attn_gui.model.trace import Head, Trace

# a window of more cells than this is brought down by means: what stands out in it is not looked for
STRONGEST_CELLS = 1 << 23
# cells whose figures are taken of every row; of more, rows are taken that lie evenly
FIGURE_CELLS = 1 << 27


@dataclass(frozen=True)
class Side:
    """A trace, and the head of it that is looked at."""

    trace: Trace
    head: Head

    @property
    def experiment(self) -> Experiment:
        return self.trace.experiment

    def head_of(self, stage: str) -> Head:
        """The head whose ``stage`` is meant: stages that are not square have no mean over heads, the first is taken."""
        return 0 if self.head == "mean" and not STAGES[stage].square else self.head


@dataclass(frozen=True)
class Comparison:
    """``stage`` of both sides, as far as both have it: by position, from the first row and column on.

    heads: whether two heads of one trace are compared, and not two traces. other: what the left one is, of two traces.
    arrangement: how the heatmaps draw a square stage, each side by its own tokens; figures are of every token.
    """

    left: Side
    right: Side
    stage: str
    heads: bool = False
    other: Literal["pinned", "original"] = "pinned"
    arrangement: Arrangement = PLAIN

    @property
    def sides(self) -> tuple[Side, Side]:
        return self.left, self.right

    @property
    def shapes(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Rows and columns of the stage, left and right."""
        return stage_shape(self.left.experiment, self.stage), stage_shape(self.right.experiment, self.stage)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns that both have."""
        left, right = self.shapes
        return min(left[0], right[0]), min(left[1], right[1])

    def drawn(self, side: Side) -> Arranged | None:
        """How a side is drawn without some tokens, or with several in one place; None where it is not."""
        return arranged(side.experiment, self.arrangement) if STAGES[self.stage].square else None

    @property
    def drawn_shape(self) -> tuple[int, int]:
        """Rows and columns that are drawn of both."""
        shapes = []
        for side, shape in zip(self.sides, self.shapes, strict=True):
            found = self.drawn(side)
            shapes.append(shape if found is None else (len(found.queries.names), len(found.keys.names)))
        left, right = shapes
        return min(left[0], right[0]), min(left[1], right[1])

    @property
    def is_arranged(self) -> bool:
        """Whether either side is drawn otherwise than token by token."""
        return any(self.drawn(side) is not None for side in self.sides)

    @property
    def output_stage(self) -> str:
        """Whose rows' cosines tell how far the outputs are apart."""
        return "head_output" if self.heads else "output"


def rows_are(stage: str) -> str:
    """What the rows of ``stage`` stand for: ``query`` or ``key``."""
    return "key" if stage in OF_KEYS else "query"


def comparable(left: Experiment, right: Experiment) -> Iterator[tuple[str, str | None]]:
    """The stages that both have, each with the reason why it cannot be compared, None where it can.

    Rows are tokens: more of them on one side are left out. Columns that are dimensions mean nothing by position where
    there are not as many on both sides.
    """
    for stage in (name for name in stages_of(right) if name in stages_of(left)):
        widths = stage_shape(left, stage)[1], stage_shape(right, stage)[1]
        apart = not STAGES[stage].square and widths[0] != widths[1]
        axis = stage_axes(right, stage)[1]
        yield stage, f"{axis} is {widths[0]} on one side, {widths[1]} on the other" if apart else None


def frame(experiment: Experiment, stage: str, rows: tuple[str, ...], columns: tuple[str, ...]) -> Experiment:
    """An experiment whose queries and keys are called ``rows`` and ``columns``: ``experiment`` where that has them.

    Heatmaps name their rows and columns after one.
    """
    if STAGES[stage].square and (len(rows), len(columns)) == (experiment.n_q, experiment.n_k):
        return experiment
    Q, K = np.zeros((len(rows), 1)), np.zeros((len(columns), 1))
    return Experiment.from_qkv(Q, K, K, tokens=rows, key_tokens=columns, precision=experiment.precision)


def in_float64(experiment: Experiment) -> Experiment:
    """``experiment`` with its numbers in float64, as differences are: they are rounded nowhere else."""
    return replace(experiment, precision=Precision.FLOAT64)


@dataclass(frozen=True)
class Largest:
    """The difference, right less left, of the largest size, where it is, and the two values."""

    difference: float
    i: int
    j: int
    left: float
    right: float


@dataclass(frozen=True)
class RowFigures:
    """A figure of each row, brought together.

    extreme: the largest divergence or the smallest cosine, of row ``at``; mean: over ``rows`` rows. infinite: rows
    whose figure is infinite, first_infinite the first of them; left_out: rows that have none. Neither is in extreme
    or mean, unless no row has a finite one. looked_at: how many rows that are, of ``all_rows``.
    """

    extreme: float
    at: int
    mean: float
    rows: int
    infinite: int = 0
    first_infinite: int = 0
    left_out: int = 0
    all_rows: int = 0

    @property
    def looked_at(self) -> int:
        return self.rows + self.infinite + self.left_out


@dataclass(frozen=True)
class Figures:
    """What sums a comparison up, of ``rows`` of its ``all_rows`` rows; ``done`` once no more are to be looked at.

    largest: over the cells that are finite on both sides and allowed (weights on either side, all else on both); None
    without any. divergence: the Kullback-Leibler divergence of each row of weights in nats,
    ``sum_j p_j ln(p_j / q_j)`` with p the right side's and q the left side's row, each divided by its sum; or why
    there is none. cosine: of each query's outputs; or why there is none.
    one_sided: cells that the mask forbids on one side only; not_finite: cells left out because they are not finite.
    """

    largest: Largest | None
    divergence: RowFigures | str
    cosine: RowFigures | str
    rows: int
    all_rows: int
    one_sided: int
    not_finite: int
    done: bool
