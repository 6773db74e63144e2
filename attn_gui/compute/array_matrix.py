"""ArrayMatrix: any array with two axes, answering as a Matrix does."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_gui.compute.pooling import pool
from attn_gui.compute.whole import WholeMatrix
from attn_gui.model.trace import Pooling


class ArrayMatrix(WholeMatrix):
    """Stages that no mask concerns (X, Q, K, V, the outputs), so that they can be drawn as the square ones are."""

    def __init__(self, values: NDArray[Any]) -> None:
        self._values = values

    @property
    def shape(self) -> tuple[int, int]:
        return self._values.shape[0], self._values.shape[1]

    def block(self, rows: slice, columns: slice) -> NDArray[Any]:
        return self._values[rows, columns]

    def allowed(self, rows: slice, columns: slice) -> NDArray[np.bool_]:
        return np.ones(self._values[rows, columns].shape, bool)

    def pooled(
        self, rows: slice, columns: slice, out: tuple[int, int], how: Pooling
    ) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        return pool(self.block(rows, columns), self.allowed(rows, columns), out, how)

    def row_tops(self, rows: slice) -> NDArray[Any]:
        values = self._values[rows]
        return np.where(np.isfinite(values), values, -np.inf).max(axis=1, initial=-np.inf)

    def extent(self, first_key: int = 0) -> tuple[float, float]:
        values = self._values[:, first_key:]
        finite = values[np.isfinite(values)]
        return (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
