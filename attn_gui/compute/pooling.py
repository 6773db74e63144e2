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


def pool(values: Array, allowed: NDArray[np.bool_] | None, out: tuple[int, int], how: Pooling) -> tuple[Array, Array]:
    """``values`` and ``allowed``, [rows, columns], brought down to ``out``; see :class:`attn_gui.model.trace.Matrix`.

    ``allowed`` None allows everything; ``out`` is at most the window's shape. Means are taken in float64.
    """
    # one True that stands for all cells, as where nothing is masked: none of them need be looked at
    if allowed is not None and allowed.size and not any(allowed.strides) and allowed.flat[0]:
        allowed = None
    rows, columns = edges(values.shape[0], out[0]), edges(values.shape[1], out[1])
    if how == "mean":
        counted = values if allowed is None else np.where(allowed, values, 0)
        heights = np.diff(rows, append=values.shape[0])
        widths = np.diff(columns, append=values.shape[1])
        with np.errstate(invalid="ignore", over="ignore"):  # infinity less infinity, and sums beyond the range
            total = np.add.reduceat(np.add.reduceat(counted, rows, axis=0, dtype=np.float64), columns, axis=1)
        result = (total / np.outer(heights, widths)).astype(values.dtype)
    else:
        fill = -np.inf if how == "max" else np.inf
        counted = values if allowed is None else np.where(allowed, values, values.dtype.type(fill))
        result = _spread(np.maximum if how == "max" else np.minimum, counted, out)
        finite = np.isfinite(values)
        odd = ~finite if allowed is None else ~finite & allowed
        if odd.any():
            result = np.array(result)
            _let_non_finite_win(result, values, odd, rows, columns)
    if allowed is None:
        return result, np.broadcast_to(np.True_, out)
    any_allowed = _spread(np.logical_or, allowed, out)
    return np.where(any_allowed, result, values.dtype.type(0)), any_allowed


def _spread(operation: np.ufunc, array: Array, out: tuple[int, int]) -> Array:
    """``operation``, to which it is the same how often it meets a cell, over the blocks of ``array``.

    The k-th cells of all blocks in one stroke, which is several times faster than reduceat; a block with fewer cells
    than the largest gives its last one again.
    """
    for axis, parts in enumerate(out):
        length = array.shape[axis]
        if parts == length:
            continue
        first = edges(length, parts)
        last = np.append(first[1:], length) - 1
        result = np.take(array, first, axis)
        for k in range(1, -(-length // parts)):
            operation(result, np.take(array, np.minimum(first + k, last), axis), out=result)
        array = result
    return array


def _let_non_finite_win(result: Array, values: Array, odd: Array, rows: Array, columns: Array) -> None:
    i, j = np.nonzero(odd)
    cells = np.searchsorted(rows, i, side="right") - 1, np.searchsorted(columns, j, side="right") - 1
    # NaN last, so that it wins over an infinity in the same block
    order = np.argsort(np.isnan(values[i, j]), kind="stable")
    result[cells[0][order], cells[1][order]] = values[i, j][order]
