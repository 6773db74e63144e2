"""Arrays that were given: in the type of number that they came in, and where they lie in a file, left there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import ArrayLike, NDArray

from attn_gui.model.errors import ExperimentError, readable_bytes
from attn_gui.model.mapped import fetched, is_mapped
from attn_gui.model.precision import Precision

Given = NDArray[Any]

# of what lies in a file, brought into memory because tokens were moved or left out
MOST_COPIED = 1 << 30
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def given(array: ArrayLike, field: str = "numbers") -> Given:
    """``array`` read-only, in its own type: itself where it lies in a mapped file or nobody can write to it.

    Otherwise it is copied. What is wider than float64 becomes float64. Raises ExperimentError, naming ``field``, for
    what is neither numbers nor flags.
    """
    found = np.asarray(array)
    if found.dtype.kind not in "fiub" and found.dtype != BFLOAT16:
        raise ExperimentError(field, "real numbers", f"an array of {found.dtype}")
    if found.dtype.kind == "f" and found.dtype.itemsize > 8:
        found = found.astype(np.float64)
    if found.flags.writeable or not (is_mapped(found) or _closed(found)):
        found = found.view(np.ndarray) if is_mapped(found) else np.array(found, order="C")
        found.flags.writeable = False
    return found


def precision_of(dtype: np.dtype[Any]) -> Precision:
    """The precision whose numbers those of ``dtype`` are; float64 where they are of another kind."""
    if dtype == BFLOAT16:
        return Precision.BFLOAT16
    name = dtype.name
    return Precision(name) if name in ("float16", "float32") else Precision.FLOAT64


def widened(array: Given) -> Given:
    """``array`` in a type that numpy and torch compute with, every value exact: native float16 to float64.

    Raises ChangedFile where it lies in a file that was changed since it was mapped.
    """
    array = fetched(array)
    if array.dtype == BFLOAT16:
        return array.astype(np.float32)
    if array.dtype.name in ("float16", "float32", "float64"):
        return array.astype(array.dtype.newbyteorder("="), copy=False)
    return array.astype(np.float64)


def rearranged(array: Given, axis: int, order: Sequence[int | None], field: str) -> Given:
    """``array`` with its entries along ``axis`` in ``order``, zeros where that says None; a view where that will do.

    Raises ExperimentError, naming ``field``, where so much of a file would have to be copied; ChangedFile.
    """
    first = order[0]
    if first is not None and list(order) == list(range(first, first + len(order))):
        whole = first == 0 and len(order) == array.shape[axis]
        return array if whole else given(array[(slice(None),) * axis + (slice(first, first + len(order)),)], field)
    size = array.nbytes // array.shape[axis] * len(order)
    if is_mapped(array) and size > MOST_COPIED:
        expected = f"at most {readable_bytes(MOST_COPIED)} to be put in another order"
        raise ExperimentError(field, expected, f"{readable_bytes(size)}, which stay in their file")
    result = np.take(fetched(array), [0 if was is None else was for was in order], axis=axis)
    np.moveaxis(result, axis, 0)[[place for place, was in enumerate(order) if was is None]] = 0
    result.flags.writeable = False
    return result


def _closed(array: Given) -> bool:
    """Whether neither ``array`` nor any array that it is a view of can be written to."""
    owner: object = array
    while isinstance(owner, np.ndarray):
        if owner.flags.writeable:
            return False
        owner = owner.base
    return owner is None or isinstance(owner, bytes)
