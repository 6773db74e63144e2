"""Beside: one side of a comparison, as a matrix that has what both sides have and their common colours."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_gui.model.trace import Drawn, Matrix, Pooling

Array = NDArray[Any]


class Beside:
    """The first rows and columns of ``own``, whose extent takes in that of ``other``: a colour means one value in both.

    whole: whether a window of it can be had without going over more than that.
    """

    def __init__(self, own: Matrix, other: Matrix, shape: tuple[int, int], *, whole: bool) -> None:
        self._own = own
        self._other = other
        self._shape = shape
        self.whole = whole

    @property
    def shape(self) -> tuple[int, int]:
        return self._shape

    def block(self, rows: slice, columns: slice) -> Array:
        return self._own.block(rows, columns)

    def allowed(self, rows: slice, columns: slice) -> NDArray[np.bool_]:
        return self._own.allowed(rows, columns)

    def pooled(
        self, rows: slice, columns: slice, out: tuple[int, int], how: Pooling
    ) -> tuple[Array, NDArray[np.bool_]]:
        return self._own.pooled(rows, columns, out, how)

    def extent(self, first_key: int = 0) -> tuple[float, float]:
        own, other = self._own.extent(first_key), self._other.extent(first_key)
        return min(own[0], other[0]), max(own[1], other[1])

    def row_tops(self, rows: slice) -> Array:
        return self._own.row_tops(rows)

    def begun(self, how: Pooling) -> Generator[float, None, None]:
        yield from self._own.begun(how)

    def drawn(self, rows: slice, columns: slice, out: tuple[int, int], how: Pooling) -> Drawn:
        return self._own.drawn(rows, columns, out, how)

    def refined(self, rows: slice, columns: slice, out: tuple[int, int], how: Pooling) -> Generator[bool, None, None]:
        yield from self._own.refined(rows, columns, out, how)
