"""Several rows and columns in one: sums of weights, means of everything else."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
# where each part starts and stops; they lie apart or side by side, in order
Parts = tuple[NDArray[np.intp], NDArray[np.intp]]


def merged(
    values: Array, allowed: NDArray[np.bool_], rows: Parts, columns: Parts, *, sums: bool
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """``values`` [n_q, n_k] with one row for each part of ``rows`` and one column for each of ``columns``.

    ``sums``: weights, which add up over the keys of a part; of the queries of a part it is the mean, masked cells
    counting as the 0 that they are (Clark et al. 2019, section 4.1). Otherwise scores, of which it is the mean over the
    allowed cells, and over all of them where none is. In float64. Whether any cell of a part is allowed comes with
    it.
    """
    heights, widths = rows[1] - rows[0], columns[1] - columns[0]
    sizes = np.outer(heights, widths)
    # where nothing is masked, one value may stand for all
    count = _added(allowed, rows, columns, np.int64) if any(allowed.strides) or not allowed.all() else sizes
    some = count > 0
    with np.errstate(invalid="ignore", over="ignore"):
        if sums:
            return _added(values, rows, columns, np.float64) / heights[:, np.newaxis], some
        kept = values if count is sizes else np.where(allowed, values, 0)
        result = _added(kept, rows, columns, np.float64) / np.maximum(count, 1)
        if not some.all():
            result = np.where(some, result, _added(values, rows, columns, np.float64) / sizes)
        return result, some


def _added(values: Array, rows: Parts, columns: Parts, dtype: type[np.generic]) -> Array:
    return _along(_along(values, columns, 1, dtype), rows, 0, dtype)


def _along(values: Array, parts: Parts, axis: int, dtype: type[np.generic]) -> Array:
    """The sums over ``parts``: the first of all parts in one stroke, then the second of those that have one.

    Several times faster than reduceat.
    """
    starts, stops = parts
    total = np.take(values, starts, axis).astype(dtype, copy=False)
    counts = stops - starts
    for more in range(1, int(counts.max())):
        which = np.flatnonzero(counts > more)
        added = np.take(values, starts[which] + more, axis)
        if axis == 0:
            total[which] += added
        else:
            total[:, which] += added
    return total
