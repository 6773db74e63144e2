"""The figures of a comparison, from passes over blocks of rows."""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator

import numpy as np
from numpy.typing import NDArray

from attn_gui.compute.comparing.beside import Beside
from attn_gui.compute.comparing.difference import strips
from attn_gui.compute.comparing.pair import Pair, weights_of
from attn_gui.compute.comparing.rows import Gathered, cosines, divergences
from attn_gui.model.comparison import FIGURE_CELLS, Comparison, Figures, Largest, RowFigures, Side
from attn_gui.model.experiment import Experiment

# rows of a matrix that is not gone over whole are taken so many at a time
ROWS_TOGETHER = 16
# of these rows so many cells are looked at in one step: they have to be computed first
PIECE_CELLS = 1 << 17
# seconds between figures that are on their way
SHOWN_S = 0.5
ON_THE_WAY = "being computed"

Steps = Generator["float | Figures", None, Figures]


def figures(pair: Pair) -> Steps:
    """The figures of ``pair``, in short steps over rows; yields those of the rows so far, and the part done.

    Of a matrix of more than FIGURE_CELLS, rows that lie evenly are looked at.
    """
    shape = pair.comparison.shape
    scan, cosine = _Scan(pair), (yield from _cosine(pair.comparison))
    told = time.monotonic()
    for rows in looked_at(shape):
        yield from _made_ready(pair.matrices[:2], rows, rows.start / shape[0])
        for columns in pieces(rows, shape):
            scan.look_at(rows, columns)
            if time.monotonic() - told > SHOWN_S:
                told = time.monotonic()
                yield scan.found(ON_THE_WAY, cosine, done=False)
            else:
                yield rows.stop / shape[0]
    divergence = yield from _divergence(pair.comparison)
    return scan.found(divergence, cosine, done=True)


def looked_at(shape: tuple[int, int], cells: int = FIGURE_CELLS) -> Iterator[slice]:
    """Blocks of the rows of a matrix of ``shape``: all of them, or evenly spread ones of about ``cells`` in all."""
    if goes_over_all(shape, cells):
        yield from strips(shape)
        return
    count = max(1, cells // shape[1] // ROWS_TOGETHER)
    for start in np.linspace(0, shape[0] - ROWS_TOGETHER, count).astype(int).tolist():
        yield slice(start, start + ROWS_TOGETHER)


def goes_over_all(shape: tuple[int, int], cells: int = FIGURE_CELLS) -> bool:
    return shape[0] * shape[1] <= cells


def pieces(rows: slice, shape: tuple[int, int]) -> Iterator[slice]:
    """The columns of ``rows`` in parts of about PIECE_CELLS; of rows that :func:`strips` gives, all at once."""
    step = max(1, PIECE_CELLS // (rows.stop - rows.start))
    step = shape[1] if goes_over_all(shape) else step
    for start in range(0, shape[1], step):
        yield slice(start, min(start + step, shape[1]))


class _Scan:
    """What is found cell by cell."""

    def __init__(self, pair: Pair) -> None:
        self._left, self._right, self._difference = pair.matrices
        self._all_rows = pair.comparison.shape[0]
        self._all = goes_over_all(pair.comparison.shape)
        self._largest: Largest | None = None
        self._rows = self._one_sided = self._not_finite = 0

    def look_at(self, rows: slice, columns: slice) -> None:
        """Take in a part of ``rows``, of which that from the first column on comes first."""
        values = self._difference.block(rows, columns)
        masks = [side.allowed(rows, columns) for side in (self._left, self._right)]
        allowed = self._difference.allowed(rows, columns)
        self._difference.widen(values, allowed)
        if self._all:
            self._difference.take_in(rows.start, values, allowed)
        usable = allowed & np.isfinite(values)
        self._rows += rows.stop - rows.start if columns.start == 0 else 0
        self._one_sided += int((masks[0] != masks[1]).sum())
        self._not_finite += int((allowed & ~usable).sum())
        if not usable.any():
            return
        sizes = np.where(usable, np.abs(values), -1.0)
        i, j = (int(place) for place in np.unravel_index(sizes.argmax(), sizes.shape))
        found = float(values[i, j])
        if self._largest is None or abs(found) > abs(self._largest.difference):
            i, j = rows.start + i, columns.start + j
            cell = slice(i, i + 1), slice(j, j + 1)
            left, right = (float(side.block(*cell)[0, 0]) for side in (self._left, self._right))
            self._largest = Largest(found, i, j, left, right)

    def found(self, divergence: RowFigures | str, cosine: RowFigures | str, *, done: bool) -> Figures:
        return Figures(
            self._largest, divergence, cosine, self._rows, self._all_rows, self._one_sided, self._not_finite, done
        )


def _made_ready(sides: tuple[Beside, Beside], rows: slice, part: float) -> Generator[float, None, None]:
    """Have in short steps what cells of ``rows`` take, where that is not there; yields ``part``."""
    for side in sides:
        shape = rows.stop - rows.start, side.shape[1]
        for _ in side.refined(rows, slice(0, shape[1]), shape, "max"):
            yield part


def _divergence(comparison: Comparison) -> Generator[float, None, RowFigures | str]:
    reason = _no_distributions(comparison)
    if reason is not None:
        return reason
    weights = weights_of(comparison)
    shape = weights[0].shape
    tolerances = _tolerance(comparison.left), _tolerance(comparison.right)
    gathered = Gathered(shape[0], largest=True)
    for rows in looked_at(shape):
        yield from _made_ready(weights, rows, rows.start / shape[0])
        parts: list[list[NDArray[np.floating]]] = [[], []]
        for columns in pieces(rows, shape):
            for matrix, of in zip(weights, parts, strict=True):
                of.append(matrix.block(rows, columns))
            yield rows.start / shape[0]
        left, right = (np.hstack(of) for of in parts)
        for few in strips((rows.stop - rows.start, shape[1])):
            gathered.add(divergences(left[few], right[few], tolerances), rows.start + few.start)
            yield rows.stop / shape[0]
    return gathered.found() or "no row of weights sums to 1 on both sides"


def _no_distributions(comparison: Comparison) -> str | None:
    """Why rows of weights cannot be compared as distributions, None where they can."""
    left, right = (side.experiment for side in comparison.sides)
    if left.n_k != right.n_k:
        return f"rows of {left.n_k:,} and of {right.n_k:,} keys are not over the same"
    reasons = [None if e.scoring.sums_to_one else _why_not(e) for e in (left, right)]
    if reasons[0] == reasons[1]:
        return reasons[0]
    said = zip(reasons, (comparison.other, "present"), strict=True)
    return next(f"{why} ({side})" for why, side in said if why is not None)


def _why_not(e: Experiment) -> str:
    if e.scoring.sinks is not None:
        return "a sink takes part of each row"
    return f"rows of {e.scoring.normaliser.title} do not sum to 1"


def _tolerance(side: Side) -> float:
    """How far a row's sum may be from 1; a mean over heads has been rounded once more."""
    e = side.experiment
    return e.precision.eps * (2 + math.log2(e.n_k)) * (2 if side.head == "mean" else 1)


def _cosine(comparison: Comparison) -> Generator[float, None, RowFigures | str]:
    stage, sides = comparison.output_stage, comparison.sides
    if comparison.heads and any(side.head == "mean" for side in sides):
        return "the mean over heads has no output of its own"
    if not all(side.experiment.has_values for side in sides):
        return "there are no values, and no outputs"
    if any(side.trace.part() < 1 for side in sides):
        return "not every row is computed yet"
    left, right = (_rows_of(side, stage) for side in sides)
    if left.shape[1] != right.shape[1]:
        return f"outputs of {left.shape[1]} and of {right.shape[1]} numbers"
    count = min(len(left), len(right))
    gathered = Gathered(count, largest=False)
    for rows in strips((count, left.shape[1])):
        gathered.add(cosines(left[rows], right[rows]), rows.start)
        yield 0.0
    return gathered.found() or "no output has a direction"


def _rows_of(side: Side, stage: str) -> NDArray[np.floating]:
    head = side.head_of(stage)
    return side.trace.stage(stage, head if isinstance(head, int) else 0)
