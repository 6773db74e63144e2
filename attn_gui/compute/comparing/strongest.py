"""Strongest: the largest differences from afar, put together while a pass goes over the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_gui.compute.pooling import edges
from attn_gui.model.trace import Drawn

Array = NDArray[Any]
# blocks along an axis
SIDE = 1024


class Strongest:
    """Of blocks of cells of a matrix of ``shape`` the lowest and the highest difference."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self._rows_left = shape[0]
        self._factors = -(-shape[0] // SIDE), -(-shape[1] // SIDE)
        size = -(-shape[0] // self._factors[0]), -(-shape[1] // self._factors[1])
        self._low, self._high = np.full(size, np.inf), np.full(size, -np.inf)
        self._allowed = np.zeros(size, bool)

    @property
    def complete(self) -> bool:
        """Whether every row has been taken in."""
        return self._rows_left == 0

    def add(self, first: int, values: Array, allowed: NDArray[np.bool_]) -> None:
        """Take in rows from ``first`` on, each once: ``values`` and what is allowed, [rows, columns]."""
        down, across = self._factors
        self._rows_left -= len(values)
        blocks = slice(first // down, (first + len(values) - 1) // down + 1)
        starts = [
            np.maximum(np.arange(blocks.start, blocks.stop) * down - first, 0),
            np.arange(0, values.shape[1], across),
        ]
        usable = allowed & np.isfinite(values)
        for known, gather, nothing in ((self._low, np.minimum, np.inf), (self._high, np.maximum, -np.inf)):
            gather(known[blocks], _reduced(gather, np.where(usable, values, nothing), starts), out=known[blocks])
        self._allowed[blocks] |= _reduced(np.logical_or, allowed, starts)

    def drawn(self, rows: slice, columns: slice, out: tuple[int, int]) -> Drawn:
        """A window in at most ``out`` cells, to the ends of the blocks that it begins and ends in."""
        place, covered = [], []
        for window, factor in zip((rows, columns), self._factors, strict=True):
            blocks = slice(window.start // factor, -(-window.stop // factor))
            place.append(blocks)
            covered.append((blocks.start * factor, blocks.stop * factor))
        lengths = [blocks.stop - blocks.start for blocks in place]
        starts = [edges(length, min(length, most)) for length, most in zip(lengths, out, strict=True)]
        low, high = (
            _reduced(np.minimum, self._low[tuple(place)], starts),
            _reduced(np.maximum, self._high[tuple(place)], starts),
        )
        allowed = _reduced(np.logical_or, self._allowed[tuple(place)], starts)
        strongest = np.where(-low > high, low, high)
        return Drawn(np.where(np.isfinite(strongest), strongest, 0.0), allowed, covered[0], covered[1], exact=False)


def _reduced(gather: np.ufunc, array: Array, starts: list[NDArray[np.intp]]) -> Array:
    """``gather`` over the blocks of ``array`` that begin at ``starts`` along either axis."""
    reduced: Array = gather.reduceat(gather.reduceat(array, starts[1], axis=1), starts[0], axis=0)
    return reduced
