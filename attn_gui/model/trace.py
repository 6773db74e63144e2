"""What a computation returns: the protocols that views, exports and statistics are written against."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from attn_gui.model.experiment import Experiment

Array = np.ndarray[Any, Any]
Head = int | Literal["mean"]
ALL = slice(None)
Pooling = Literal["max", "min", "mean"]


@dataclass(frozen=True, eq=False)
class Drawn:
    """A window of a matrix as it can be drawn now: values, and whether each stands for an allowed cell, [h, w].

    rows, columns: what they cover, evenly; at least the window asked for as far as there are cells, and up to one
    block more at the end. exact: each is one cell. sampled: some stand for a sample of what they cover. finer: a
    closer look would be had from :meth:`Matrix.refined`.
    """

    values: Array
    allowed: Array
    rows: tuple[int, int]
    columns: tuple[int, int]
    exact: bool
    sampled: bool = False
    finer: bool = False


class Matrix(Protocol):
    """An n_q x n_k stage of one head, or of the mean over heads, that need not exist whole."""

    @property
    def shape(self) -> tuple[int, int]: ...

    def block(self, rows: slice, columns: slice) -> Array:
        """The exact values of a window, [rows, columns]; bfloat16 comes widened to float32."""
        ...

    def allowed(self, rows: slice, columns: slice) -> Array:
        """Which cells of a window the mask allows, [rows, columns], bool."""
        ...

    def pooled(self, rows: slice, columns: slice, out: tuple[int, int], how: Pooling) -> tuple[Array, Array]:
        """A window brought down to ``out`` cells: values, and whether each holds an allowed cell (bool).

        max and min look at allowed cells; mean counts masked cells as 0; a non-finite value wins its block; a block
        without allowed cells is 0 and False. Block r holds rows r*height//out to (r+1)*height//out: edges are kept.
        """
        ...

    def extent(self, first_key: int = 0) -> tuple[float, float]:
        """The smallest and the largest finite value of an allowed cell, of the keys from ``first_key``, 0 or 1, on.

        (0, 0) where there is none. Of a matrix that is not there as a whole the ends so far, and 0 for the smallest
        weight.
        """
        ...

    def row_tops(self, rows: slice) -> Array:
        """The largest finite allowed value of each of ``rows``, [rows]; -inf or 0 where there is none yet."""
        ...

    def begun(self, how: Pooling) -> Generator[float, None, None]:
        """Have what a first look needs, in short steps: yields the part done, 0 to 1."""
        ...

    def drawn(self, rows: slice, columns: slice, out: tuple[int, int], how: Pooling) -> Drawn:
        """A window in about ``out`` cells, less than twice as many along either axis, as it can be had at once."""
        ...

    def refined(self, rows: slice, columns: slice, out: tuple[int, int], how: Pooling) -> Generator[bool, None, None]:
        """Have what :meth:`drawn` lacks, in short steps; yields whether another look would show more than before."""
        ...


class Trace(Protocol):
    """The stages of one experiment as they were computed. Nothing in it changes once it is there.

    Its arrays are read-only: copy one to change it.
    """

    experiment: Experiment
    device: str

    def stage(self, name: str, head: int | None = None) -> Array:
        """A stage whole: [rows, columns] of one head, or [heads, rows, columns] without ``head``.

        Stages that are not per head are [rows, columns] either way. Raises KeyError, which says which stages
        there are, for a name that is none of them, IndexError for a head that the experiment has not.
        """
        ...

    def matrix(self, name: str, head: Head) -> Matrix:
        """An n_q x n_k stage of one head, or its mean over the heads; raises as :meth:`stage`."""
        ...

    def part(self, head: Head | None = None) -> float:
        """How much of a head, or of all heads, is there, 0 to 1. Whatever else is asked for is computed then."""
        ...

    def passes(self, first: Sequence[Head] = ()) -> Generator[float, None, None]:
        """Compute what is missing, the heads ``first`` before others, in short steps: yields the part done, 0 to 1."""
        ...

    def empty_rows(self, head: Head) -> Array:
        """Which queries may attend to nothing (of the mean over heads: in none of them), [n_q] bool."""
        ...

    def row_sums(self, head: Head, rows: slice = ALL) -> Array:
        """The sums of ``rows`` of N, added in float64, [rows]."""
        ...
