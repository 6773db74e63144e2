"""A look at the numbers of a tensor: all of a small one, some of a large one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_gui.files.tensors.squares import zeros_of
from attn_gui.files.tensors.stand_ins import FAR, floor_of
from attn_gui.files.tensors.stored import Array, computable
from attn_gui.model.mapped import NEAR, fetched
from attn_gui.model.tensors.info import Peek

# of a tensor up to this size every number is looked at, of a larger one at most as many in all
WHOLE_BYTES = 1 << 24
BLOCK = 1 << 20
# lines along each axis that are summed, and the numbers of the longest
LINES, LONGEST = 16, 1 << 20
# numbers of such lines, in all, that stand apart: each is another place on the disk
SCATTERED = 1 << 16
# of a large tensor, rows that are looked at: each is another place on the disk
MOST_ROWS = 512
TOLERANCE, TOLERANCE_16 = 1e-3, 2e-2


def peek(array: Array) -> Peek | None:
    """What ``array`` holds; None for complex numbers and for nothing. Raises ChangedFile.

    What lies in a file that is mapped is read from it, for it may be cut off at any moment.
    """
    if array.dtype.kind == "c" or not array.size:
        return None
    whole = array.nbytes <= WHOLE_BYTES
    array = fetched(array) if whole else array
    low, high = np.inf, -np.inf
    nan = inf = minus_inf = False
    flags = integral = True
    for block in _blocks(array) if whole else _samples(array):
        numbers = computable(block)
        if numbers.dtype.kind == "f":
            finite = np.isfinite(numbers)
            if not finite.all():
                nan |= bool(np.isnan(numbers).any())
                inf |= bool((numbers == np.inf).any())
                minus_inf |= bool((numbers == -np.inf).any())
                flags = integral = False
                numbers = numbers[finite]
            integral = integral and bool((numbers == np.floor(numbers)).all())
        if numbers.size:
            low, high = min(low, float(numbers.min())), max(high, float(numbers.max()))
            flags = flags and bool(((numbers == 0) | (numbers == 1)).all())
    found = low <= high
    rising = array.ndim == 1 and array.dtype.kind in "iuf" and integral and whole and _rises(array)
    ratios = found and low >= 0 and not (inf or minus_inf) and "float" in array.dtype.name
    lines = [_sums(array, axis, whole) if ratios else None for axis in range(array.ndim)]
    are_1 = [sums is not None and _are_1(sums, array.itemsize) for sums in lines]
    if not any(are_1):  # lines of zeros alone may be padding
        are_1 = [sums is not None and _are_1(sums[sums != 0], array.itemsize) for sums in lines]
    return Peek(
        low if found else None,
        high if found else None,
        whole,
        nan,
        inf,
        minus_inf,
        flags,
        rising,
        tuple(are_1),
        tuple(None if sums is None or not sums.size else (float(sums.min()), float(sums.max())) for sums in lines),
        zeros_of(array, _places(array, whole)) if ratios and low == 0 < high else (),
        floor_of(_blocks(array) if whole else _samples(array)) if found and low <= FAR else None,
        integral and array.dtype.kind in "iuf",
    )


def _blocks(array: Array) -> Iterator[Array]:
    """All numbers, some at a time."""
    flat = array.reshape(-1) if array.flags.c_contiguous else array.ravel(order="K")
    for start in range(0, flat.size, BLOCK):
        yield flat[start : start + BLOCK]


def _samples(array: Array) -> Iterator[Array]:
    """Rows of the last axis, evenly spread over the others."""
    row = array.shape[-1] * array.itemsize
    count = min(MOST_ROWS, max(1, WHOLE_BYTES // max(1, min(row, LONGEST * array.itemsize))))
    for place in _spread(array.shape[:-1], count):
        line = array[place]
        yield fetched(line[:: max(1, line.size // LONGEST)])


def _spread(shape: Sequence[int], count: int) -> Iterator[tuple[int, ...]]:
    """At most ``count`` places of ``shape``, evenly spread, the first and the last of each axis among them."""
    sides = [min(side, 2) for side in shape]
    while True:
        grown = [min(side, max(now + 1, now * 2)) for now, side in zip(sides, shape, strict=True)]
        if grown == sides or np.prod(grown, dtype=float) > count:
            break
        sides = grown
    axes = [np.unique(np.linspace(0, side - 1, take).astype(int)) for side, take in zip(shape, sides, strict=True)]
    return islice(product(*(axis.tolist() for axis in axes)), count)


def _rises(array: Array) -> bool:
    return array.size > 1 and bool(array[0] == 0) and bool((array[1:] >= array[:-1]).all())


def _sums(array: Array, axis: int, whole: bool) -> NDArray[np.float64] | None:
    """Sums of the numbers along ``axis``, without those that are NaN; of some lines where not ``whole``.

    None where it is an axis of one number, or of too many to be looked at. Of one token's squares the number is the sum
    of its row.
    """
    length = array.shape[axis]
    one_token = array.shape[-2:] == (1, 1) and axis == array.ndim - 1
    if not (1 < length <= LONGEST or one_token):
        return None
    if whole:
        sums = computable(array).sum(axis=axis, dtype=np.float64).reshape(-1)
    else:
        others = [side for index, side in enumerate(array.shape) if index != axis]
        apart = array.strides[axis] > NEAR
        if apart and length > SCATTERED:
            return None
        places = _spread(others, min(LINES, SCATTERED // length) if apart else LINES) if others else iter([()])
        indices: list[tuple[Any, ...]] = [(*place[:axis], slice(None), *place[axis:]) for place in places]
        sums = np.array([np.sum(fetched(array[index]).astype(np.float64)) for index in indices])
    return sums[~np.isnan(sums)]


def _are_1(sums: NDArray[np.float64], itemsize: int) -> bool:
    tolerance = TOLERANCE_16 if itemsize <= 2 else TOLERANCE
    return bool(sums.size) and bool((np.abs(sums - 1) <= tolerance).all())


def _places(array: Array, whole: bool) -> Iterator[tuple[int, ...]]:
    """The squares of the last two axes that are looked at: all, or some of a large tensor."""
    if whole or array.ndim < 2:
        return product(*map(range, array.shape[:-2]))
    count = min(LINES, WHOLE_BYTES // (array.shape[-2] * array.shape[-1] * array.itemsize))
    return iter(()) if not count else _spread(array.shape[:-2], count)
