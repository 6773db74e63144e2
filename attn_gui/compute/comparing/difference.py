"""Difference: one matrix less another, window by window; it never exists whole."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_gui.compute.comparing.beside import Beside
from attn_gui.compute.comparing.strongest import Strongest
from attn_gui.compute.pooling import pool
from attn_gui.model.comparison import STRONGEST_CELLS
from attn_gui.model.trace import Drawn, Pooling

Array = NDArray[Any]
# looked at in one go
STRIP_CELLS = 1 << 18


class Difference:
    """``right`` less ``left`` in float64.

    either: a cell counts that the mask allows on either side (weights: what is masked weighs 0), and not on both only;
    elsewhere two values that are the same differ by 0, infinities too. Several cells in one are told by the difference
    of the largest size, or where there are too many of them by their mean; ``how`` has no say in it.
    """

    def __init__(self, left: Beside, right: Beside, *, either: bool) -> None:
        self._left, self._right = left, right
        self._either = either
        self._ends = (0.0, 0.0)
        self._known = False
        self._strongest: Strongest | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return self._left.shape

    def block(self, rows: slice, columns: slice) -> Array:
        return self._less(
            self._left.block(rows, columns), self._right.block(rows, columns), self.allowed(rows, columns)
        )

    def allowed(self, rows: slice, columns: slice) -> NDArray[np.bool_]:
        left, right = self._left.allowed(rows, columns), self._right.allowed(rows, columns)
        return self._either_or_both(left, right)

    def pooled(
        self, rows: slice, columns: slice, out: tuple[int, int], how: Pooling
    ) -> tuple[Array, NDArray[np.bool_]]:
        values, allowed = self.block(rows, columns), self.allowed(rows, columns)
        high, some = pool(values, allowed, out, "max")
        low, _ = pool(values, allowed, out, "min")
        with np.errstate(invalid="ignore"):
            return np.where(np.abs(low) > np.abs(high), low, high), some

    @property
    def knows_its_ends(self) -> bool:
        """Whether :meth:`extent` is that of every cell, whatever has been looked at."""
        return self._small(*self.shape)

    def extent(self, first_key: int = 0) -> tuple[float, float]:
        """Its ends; of a matrix that is too large to go over, those of what has been looked at."""
        if not self._known and self.knows_its_ends:
            for rows in strips(self.shape):
                columns = slice(0, self.shape[1])
                self.widen(self.block(rows, columns), self.allowed(rows, columns))
            self._known = True
        return self._ends

    def tells_strongest(self, rows: tuple[int, int], columns: tuple[int, int]) -> bool:
        """Whether a cell that stands for several of a window is the largest difference of them, and not their mean."""
        small = self._small(rows[1] - rows[0], columns[1] - columns[0])
        return small or (self._strongest is not None and self._strongest.complete)

    def take_in(self, first: int, values: Array, allowed: NDArray[np.bool_]) -> None:
        """Rows from ``first`` on, of a pass over all of them from the first to the last."""
        if not self.knows_its_ends:
            if self._strongest is None or first == 0:
                self._strongest = Strongest(self.shape)
            self._strongest.add(first, values, allowed)

    def widen(self, values: Array, allowed: NDArray[np.bool_]) -> None:
        """Take ``values`` into account for the ends."""
        usable = allowed & np.isfinite(values)
        low, high = self._ends
        self._ends = (
            min(low, float(values.min(where=usable, initial=np.inf))),
            max(high, float(values.max(where=usable, initial=-np.inf))),
        )

    def row_tops(self, rows: slice) -> Array:
        columns = slice(0, self.shape[1])
        values = self.block(rows, columns)
        usable = self.allowed(rows, columns) & np.isfinite(values)
        return values.max(axis=1, where=usable, initial=-np.inf)

    def begun(self, how: Pooling) -> Generator[float, None, None]:
        for side in (self._left, self._right):
            yield from side.begun("mean")

    def drawn(self, rows: slice, columns: slice, out: tuple[int, int], how: Pooling) -> Drawn:
        window = (rows.start, rows.stop), (columns.start, columns.stop)
        shape = rows.stop - rows.start, columns.stop - columns.start
        size = max(1, min(shape[0], out[0])), max(1, min(shape[1], out[1]))
        if self._small(*shape):
            if size == shape:
                return Drawn(self.block(rows, columns), self.allowed(rows, columns), *window, exact=True)
            return Drawn(*self.pooled(rows, columns, size, how), *window, exact=False)
        left, right = (side.drawn(rows, columns, out, "mean") for side in (self._left, self._right))
        exact = left.exact and right.exact
        if not exact and self._strongest is not None and self._strongest.complete:
            return self._strongest.drawn(rows, columns, out)
        (a, a_allowed), (b, b_allowed) = (_within(drawn, window, shape if exact else size) for drawn in (left, right))
        allowed = self._either_or_both(a_allowed, b_allowed)
        less = self._less(a, b, allowed)
        self.widen(less, allowed)
        sampled, finer = left.sampled or right.sampled, left.finer or right.finer
        return Drawn(less, allowed, *window, exact=exact, sampled=sampled, finer=finer)

    def refined(self, rows: slice, columns: slice, out: tuple[int, int], how: Pooling) -> Generator[bool, None, None]:
        for side in (self._left, self._right):
            yield from side.refined(rows, columns, out, "mean")

    def _small(self, height: int, width: int) -> bool:
        return self._left.whole and self._right.whole and height * width <= STRONGEST_CELLS

    def _either_or_both(self, left: NDArray[np.bool_], right: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return left | right if self._either else left & right

    def _less(self, left: Array, right: Array, allowed: NDArray[np.bool_]) -> Array:
        # infinity less infinity is no number, and shown as such, except where both sides are masked
        with np.errstate(invalid="ignore", over="ignore"):
            less = right.astype(np.float64) - left
        return np.where(~allowed & (left == right), 0.0, less)


def strips(shape: tuple[int, int]) -> Iterator[slice]:
    """The rows of a matrix of ``shape`` in blocks of about STRIP_CELLS."""
    step = max(1, STRIP_CELLS // max(1, shape[1]))
    for start in range(0, shape[0], step):
        yield slice(start, min(start + step, shape[0]))


def _within(drawn: Drawn, window: tuple[tuple[int, int], ...], size: tuple[int, int]) -> tuple[Array, Array]:
    """Values of ``drawn``, and what is allowed, at the middles of ``size`` cells that divide ``window`` evenly."""
    found = []
    covers = zip((drawn.rows, drawn.columns), window, drawn.values.shape, size, strict=True)
    for (first, last), (start, stop), length, count in covers:
        middles = start + (np.arange(count) + 0.5) * (stop - start) / count
        places = (middles - first) * length / (last - first)
        found.append(np.clip(places.astype(np.intp), 0, length - 1))
    place = np.ix_(*found)
    return drawn.values[place], drawn.allowed[place]
