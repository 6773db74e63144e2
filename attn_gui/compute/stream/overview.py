"""Overview: a matrix of one head brought down to about so many cells a side, put together block by block of rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attn_gui.compute.pooling import pool
from attn_gui.model.trace import Pooling

Array = NDArray[Any]


def factor_for(length: int, side: int) -> int:
    """The smallest power of two that brings ``length`` down to ``side`` at most."""
    return 1 << max(0, (-(-length // side) - 1).bit_length())


def pool_by(
    values: Array, allowed: NDArray[np.bool_] | None, factors: tuple[int, int], how: Pooling
) -> tuple[Array, NDArray[np.bool_]]:
    """As :func:`attn_gui.compute.pooling.pool`, in blocks of ``factors`` cells; what is left at an end is one too."""
    parts = [
        [
            pool(values[r, c], None if allowed is None else allowed[r, c], (height, width), how)
            for c, width in _spans(values.shape[1], factors[1])
        ]
        for r, height in _spans(values.shape[0], factors[0])
    ]
    if len(parts) == 1 and len(parts[0]) == 1:
        return parts[0][0]
    pooled = np.block([[part[0] for part in row] for row in parts])
    return pooled, np.block([[part[1] for part in row] for row in parts])


def _spans(length: int, factor: int) -> list[tuple[slice, int]]:
    """The whole blocks along an axis, and the rest as one more; each with the number of its blocks."""
    whole = length // factor
    spans = [(slice(0, whole * factor), whole)] if whole else []
    return spans if whole * factor == length else [*spans, (slice(whole * factor, length), 1)]


class Blocks(NamedTuple):
    """Some rows of blocks of an overview, [rows, blocks] each.

    first: the column of blocks that they begin at; before and after them nothing is allowed. scores: the largest
    allowed score, 0 where there is none; allowed: whether there is one; sums, largest: of the weights.
    """

    first: int
    scores: Array
    allowed: NDArray[np.bool_]
    sums: Array
    largest: Array


class Overview:
    """Blocks of ``factors`` (queries, keys) cells: the largest score, the sum and the largest of the weights.

    rows: which rows of blocks are in it. Different rows may be put in from several threads at once.
    """

    def __init__(self, shape: tuple[int, int], factors: tuple[int, int], dtype: np.dtype[Any]) -> None:
        self.factors = factors
        self.shape = -(-shape[0] // factors[0]), -(-shape[1] // factors[1])
        self.scores = np.zeros(self.shape, dtype)
        self.allowed = np.zeros(self.shape, bool)
        self.largest = np.zeros(self.shape, dtype)
        self.sums = np.zeros(self.shape, dtype)
        self.rows = np.zeros(self.shape[0], bool)
        heights, widths = (
            np.minimum(factor, length - np.arange(blocks) * factor)
            for factor, length, blocks in zip(factors, shape, self.shape, strict=True)
        )
        self._cells = heights[:, None], widths

    def put(self, top: int, new: Blocks) -> None:
        """Put in rows of blocks from ``top`` on; they are no part of it before :attr:`rows` says so."""
        place = slice(top, top + len(new.scores)), slice(new.first, new.first + new.scores.shape[1])
        _, self.scores[place], self.allowed[place], self.sums[place], self.largest[place] = new

    def means(self) -> Array:
        """The mean of the weights of each block, masked cells counted as 0."""
        heights, widths = self._cells
        return (self.sums / (heights * widths)).astype(self.sums.dtype)
