"""What a computation returns: the protocols that views, exports and statistics are written against."""

from __future__ import annotations

from typing import Any, Literal, Protocol

import numpy as np

from attn_gui.model.experiment import Experiment

Array = np.ndarray[Any, Any]
Head = int | Literal["mean"]
Pooling = Literal["max", "min", "mean"]


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

    def extent(self) -> tuple[float, float]:
        """The smallest and the largest finite value of an allowed cell; (0, 0) where there is none."""
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

    def row_sums(self, head: Head) -> Array:
        """The sums of the rows of N, added in float64, [n_q]."""
        ...
