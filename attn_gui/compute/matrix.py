"""DenseMatrix: an n_q x n_k stage that exists whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from attn_gui.compute.masking import Mask
from attn_gui.compute.numbers import to_numpy
from attn_gui.compute.pooling import pool
from attn_gui.model.trace import Pooling

# rows looked at in one go, so that a scan of a large matrix needs little memory of its own
ROWS = 512


class DenseMatrix:
    """A stage read through ``read(rows)``, which gives whole rows as a tensor [rows, n_k].

    ``masked_value`` is what the stage shows where the mask forbids: -inf for A_masked, None to leave cells alone.
    """

    def __init__(
        self,
        shape: tuple[int, int],
        read: Callable[[slice], torch.Tensor],
        mask: Mask,
        masked_value: float | None,
    ) -> None:
        self._shape = shape
        self._read = read
        self._mask = mask
        self._masked_value = masked_value
        self._extent: tuple[float, float] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return self._shape

    def block(self, rows: slice, columns: slice) -> NDArray[Any]:
        values = to_numpy(self._read(rows)[:, columns])
        if self._masked_value is not None and not self._mask.everything:
            values = np.where(self.allowed(rows, columns), values, values.dtype.type(self._masked_value))
        return values

    def allowed(self, rows: slice, columns: slice) -> NDArray[np.bool_]:
        return self._mask.allowed(rows, columns).cpu().numpy()

    def pooled(
        self, rows: slice, columns: slice, out: tuple[int, int], how: Pooling
    ) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        return pool(self.block(rows, columns), self.allowed(rows, columns), out, how)

    def extent(self) -> tuple[float, float]:
        if self._extent is None:
            low, high = np.inf, -np.inf
            everything = slice(0, self.shape[1])
            for start in range(0, self.shape[0], ROWS):
                rows = slice(start, min(start + ROWS, self.shape[0]))
                values = self._read(rows)
                if not self._mask.everything:
                    values = values[self._mask.allowed(rows, everything)]
                if values.numel():
                    least, most = (float(v) for v in torch.aminmax(values))
                    if not (np.isfinite(least) and np.isfinite(most)):
                        finite = values[torch.isfinite(values)]
                        if not finite.numel():
                            continue
                        least, most = (float(v) for v in torch.aminmax(finite))
                    low, high = min(low, least), max(high, most)
            self._extent = (low, high) if low <= high else (0.0, 0.0)
        return self._extent
