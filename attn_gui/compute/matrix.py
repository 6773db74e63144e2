"""DenseMatrix: an n_q x n_k stage that exists whole."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from attn_gui.compute.masking import KEPT_CELLS
from attn_gui.compute.numbers import to_numpy
from attn_gui.compute.pooling import pool
from attn_gui.compute.whole import WholeMatrix
from attn_gui.model.trace import Pooling

# looked at in one go, so that a scan of a large matrix needs little memory of its own
SCAN_CELLS = KEPT_CELLS


class DenseMatrix(WholeMatrix):
    """A stage read through ``read(rows)``, which gives whole rows as a tensor [rows, n_k].

    ``allowed(rows, columns)`` gives its mask as a bool tensor; None where nothing is masked.
    ``masked_value`` is what the stage shows where the mask forbids: -inf for A_masked, None to leave cells alone.
    """

    def __init__(
        self,
        shape: tuple[int, int],
        read: Callable[[slice], torch.Tensor],
        allowed: Callable[[slice, slice], torch.Tensor] | None,
        masked_value: float | None,
    ) -> None:
        self._shape = shape
        self._read = read
        self._allowed = allowed
        self._masked_value = masked_value
        self._extents: dict[int, tuple[float, float]] = {}

    @property
    def shape(self) -> tuple[int, int]:
        return self._shape

    def block(self, rows: slice, columns: slice) -> NDArray[Any]:
        values = to_numpy(self._read(rows)[:, columns])
        if self._masked_value is not None and self._allowed is not None:
            values = np.where(self.allowed(rows, columns), values, values.dtype.type(self._masked_value))
        return values

    def allowed(self, rows: slice, columns: slice) -> NDArray[np.bool_]:
        if self._allowed is None:
            return np.broadcast_to(np.True_, (rows.stop - rows.start, columns.stop - columns.start))
        return self._allowed(rows, columns).cpu().numpy()

    def pooled(
        self, rows: slice, columns: slice, out: tuple[int, int], how: Pooling
    ) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        allowed = None if self._allowed is None else self.allowed(rows, columns)
        return pool(to_numpy(self._read(rows)[:, columns]), allowed, out, how)

    def extent(self, first_key: int = 0) -> tuple[float, float]:
        if first_key not in self._extents:
            low, high = np.inf, -np.inf
            keys = slice(first_key, self.shape[1])
            for rows in row_blocks(self.shape):
                allowed = None if self._allowed is None else self._allowed(rows, keys)
                least, most = _extent(self._read(rows)[:, keys], allowed)
                low, high = min(low, least), max(high, most)
            self._extents[first_key] = (low, high) if low <= high else (0.0, 0.0)
        return self._extents[first_key]

    def row_tops(self, rows: slice) -> NDArray[Any]:
        columns = slice(0, self.shape[1])
        values = self.block(rows, columns)
        usable = self.allowed(rows, columns) & np.isfinite(values)
        return np.where(usable, values, -np.inf).max(axis=1)


def row_blocks(shape: tuple[int, int]) -> Iterator[slice]:
    """The rows of a matrix of ``shape`` in blocks of about SCAN_CELLS."""
    step = max(1, SCAN_CELLS // shape[1])
    for start in range(0, shape[0], step):
        yield slice(start, min(start + step, shape[0]))


def _extent(values: torch.Tensor, allowed: torch.Tensor | None) -> tuple[float, float]:
    """The smallest and the largest finite allowed value; (inf, -inf) where there is none."""
    if not values.numel():
        return math.inf, -math.inf
    if allowed is None:
        least, most = (float(v) for v in torch.aminmax(values))
    else:
        least = float(torch.where(allowed, values, torch.inf).amin())
        most = float(torch.where(allowed, values, -torch.inf).amax())
    if math.isfinite(least) and math.isfinite(most):
        return least, most
    usable = torch.isfinite(values) if allowed is None else torch.isfinite(values) & allowed
    finite = values[usable]
    if not finite.numel():
        return math.inf, -math.inf
    least, most = (float(v) for v in torch.aminmax(finite))
    return least, most
