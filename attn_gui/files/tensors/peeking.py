"""A look at the numbers of a tensor: all of a small one, some of a large one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, product
from typing import Any

import numpy as np

from attn_gui.files.tensors.stored import Array
from attn_gui.model.tensors.info import Peek

# of a tensor up to this size every number is looked at, of a larger one at most as many in all
WHOLE_BYTES = 1 << 24
BLOCK = 1 << 20
# lines along each axis that are summed, and the numbers of the longest
LINES, LONGEST = 16, 1 << 20
# of a large tensor, rows that are looked at: each is another place on the disk
MOST_ROWS = 512
TOLERANCE, TOLERANCE_16 = 1e-3, 2e-2


def peek(array: Array) -> Peek | None:
    """What ``array`` holds; None for complex numbers and for nothing."""
    if array.dtype.kind == "c" or not array.size:
        return None
    whole = array.nbytes <= WHOLE_BYTES
    low, high = np.inf, -np.inf
    nan = inf = minus_inf = False
    flags = True
    for block in _blocks(array) if whole else _samples(array):
        numbers = _computable(block)
        if numbers.dtype.kind == "f":
            finite = np.isfinite(numbers)
            if not finite.all():
                nan |= bool(np.isnan(numbers).any())
                inf |= bool((numbers == np.inf).any())
                minus_inf |= bool((numbers == -np.inf).any())
                flags = False
                numbers = numbers[finite]
        if numbers.size:
            low, high = min(low, float(numbers.min())), max(high, float(numbers.max()))
            flags = flags and bool(((numbers == 0) | (numbers == 1)).all())
    found = low <= high
    rising = array.ndim == 1 and array.dtype.kind in "iu" and whole and _rises(array)
    sums = tuple(_sums(array, axis) for axis in range(array.ndim)) if low >= 0 and not (nan or inf or minus_inf) else ()
    return Peek(
        low if found else None,
        high if found else None,
        whole,
        nan,
        inf,
        minus_inf,
        flags,
        rising,
        sums or (False,) * array.ndim,
    )


def _computable(block: Array) -> Array:
    """In a type that numpy compares quickly."""
    if block.dtype.kind in "biu":
        return block
    return block.astype(np.float64 if block.dtype.itemsize == 8 else np.float32)


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
        yield line[:: max(1, line.size // LONGEST)]


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
    return array.size > 1 and int(array[0]) == 0 and bool((np.diff(array.astype(np.int64)) >= 0).all())


def _sums(array: Array, axis: int) -> bool:
    """Whether the numbers along ``axis`` sum to 1, in each of some lines."""
    if "float" not in array.dtype.name:
        return False
    length = array.shape[axis]
    if not 1 < length <= LONGEST:
        return False
    tolerance = TOLERANCE_16 if array.itemsize <= 2 else TOLERANCE
    others = [side for index, side in enumerate(array.shape) if index != axis]
    for place in _spread(others, LINES) if others else iter([()]):
        index: tuple[Any, ...] = (*place[:axis], slice(None), *place[axis:])
        line = array[index]
        total = float(np.sum(line.astype(np.float64)))
        if not abs(total - 1) <= tolerance:
            return False
    return True
