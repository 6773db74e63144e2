"""Bringing a matrix down to fewer cells without losing what matters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_gui.model.trace import Pooling

Array = NDArray[Any]


def edges(length: int, parts: int) -> NDArray[np.intp]:
    """Where each of ``parts`` blocks of ``length`` begins: part r holds r*length//parts to (r+1)*length//parts."""
    return np.arange(parts, dtype=np.intp) * length // parts


def pool(values: Array, allowed: NDArray[np.bool_], out: tuple[int, int], how: Pooling) -> tuple[Array, Array]:
    """``values`` and ``allowed``, [rows, columns], brought down to ``out``; see :class:`attn_gui.model.trace.Matrix`.

    ``out`` is at most the window's shape. Means are taken in float64.
    """
    rows, columns = edges(values.shape[0], out[0]), edges(values.shape[1], out[1])
    any_allowed = _reduce(np.logical_or, allowed, rows, columns)
    everything = bool(allowed.all())
    if how == "mean":
        counted = values if everything else np.where(allowed, values, 0)
        total = _reduce(np.add, counted.astype(np.float64), rows, columns)
        heights = np.diff(rows, append=values.shape[0])
        widths = np.diff(columns, append=values.shape[1])
        result = (total / np.outer(heights, widths)).astype(values.dtype)
    else:
        fill = -np.inf if how == "max" else np.inf
        counted = values if everything else np.where(allowed, values, values.dtype.type(fill))
        result = _reduce(np.maximum if how == "max" else np.minimum, counted, rows, columns)
        odd = ~np.isfinite(values) & allowed
        if odd.any():
            _let_non_finite_win(result, values, odd, rows, columns)
    return np.where(any_allowed, result, values.dtype.type(0)), any_allowed


def _reduce(operation: np.ufunc, array: Array, rows: Array, columns: Array) -> Array:
    reduced: Array = operation.reduceat(operation.reduceat(array, rows, axis=0), columns, axis=1)
    return reduced


def _let_non_finite_win(result: Array, values: Array, odd: Array, rows: Array, columns: Array) -> None:
    i, j = np.nonzero(odd)
    cells = np.searchsorted(rows, i, side="right") - 1, np.searchsorted(columns, j, side="right") - 1
    # NaN last, so that it wins over an infinity in the same block
    order = np.argsort(np.isnan(values[i, j]), kind="stable")
    result[cells[0][order], cells[1][order]] = values[i, j][order]
