"""What the exact zeros of weights forbid, one square of queries and keys at a time."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from attn_gui.files.tensors.stored import Array, computable
from attn_gui.model.mapped import fetched
from attn_gui.model.tensors.info import Square

# squares that are remembered one by one
MOST_SQUARES = 1 << 14


def zeros_of(weights: Array, places: Iterable[tuple[int, ...]]) -> tuple[Square, ...]:
    """What exact zeros forbid in the squares of the last two axes at ``places``, indices of the axes before these.

    Empty where there are no squares, or too many. Raises ChangedFile.
    """
    if weights.ndim < 2 or min(weights.shape[-2:]) < 2 or np.prod(weights.shape[:-2], dtype=float) > MOST_SQUARES:
        return ()
    n_q, n_k = weights.shape[-2:]
    whole = np.tri(n_q, n_k, n_k - n_q, dtype=bool)
    found = []
    for place in places:
        numbers = computable(fetched(weights[place]))
        there = (numbers != 0) & ~np.isnan(numbers)  # NaN is a row that is blocked in whole
        keys = np.flatnonzero(there.any(axis=0))
        if not keys.size:
            found.append(Square(place, True, n_k, n_k))
            continue
        causal = n_k >= n_q and not (there & ~whole).any()
        front, back = int(keys[0]), n_k - 1 - int(keys[-1])
        # keys at one end, the first or the last, are padding; others that nobody attends to are just that
        if (front and back) or keys.size != n_k - front - back:
            front = back = 0
        found.append(Square(place, causal, front, back))
    return tuple(found)
