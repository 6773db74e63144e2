"""Text of numbers: the shortest that reads back to the same value in its precision.

Shortest means the fewest significant digits, and of those the closest. Whole numbers have no ``.0``; what is not
finite is spelled ``inf``, ``-inf``, ``nan``.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from attn_gui.model.precision import Precision

Array = NDArray[Any]
Floats = NDArray[np.float64]

# The one float32 (of all 2^32) whose shortest text, 7.038531e-26, is the float64 exactly between two float32: readers
# that go through float64, as most do, would round it to the other one, so it gets a digit more.
_TIE = 0x15AE43FD
_TIE_TEXT = b"7.0385307e-26"


def text(value: float, precision: Precision) -> str:
    """One number as text; ``value`` is rounded to ``precision``'s numpy type first."""
    return row_text(np.array([value], dtype=precision.numpy), precision).decode("ascii")


def rows_text(table: Array, precision: Precision) -> list[bytes]:
    """The numbers of each row of ``table`` [rows, columns] with commas between them.

    ``table`` holds values of ``precision``; bfloat16 comes widened to float32, as from a Trace. Raises ValueError for
    numbers that are not of it.
    """
    if table.size == 0:
        return [b""] * len(table)
    numbers = _printable(table, precision)
    # a row at a time: splitting the text of a whole block took a third of what writing it did
    rows = [orjson.dumps(row, option=orjson.OPT_SERIALIZE_NUMPY)[1:-1] for row in numbers]  # [1.5,2.0,null]
    odd = ~np.isfinite(numbers)
    whole = (numbers == np.trunc(numbers)) & ~odd
    for index in np.flatnonzero(whole.any(axis=1)):
        rows[index] = (rows[index] + b",").replace(b".0,", b",")[:-1]
    if numbers.dtype == np.float32:
        odd |= (numbers.view(np.uint32) & 0x7FFFFFFF) == _TIE
    for index in np.flatnonzero(odd.any(axis=1)):
        rows[index] = _patched(rows[index], numbers[index], odd[index])
    return rows


def row_text(row: Array, precision: Precision) -> bytes:
    """The numbers of ``row`` [n] with commas between them; as :func:`rows_text`."""
    return rows_text(row[np.newaxis], precision)[0]


def cells(row: Array, precision: Precision) -> list[bytes]:
    """The text of each number of ``row`` [n]; as :func:`rows_text`."""
    return row_text(row, precision).split(b",") if row.size else []


def _printable(table: Array, precision: Precision) -> Array:
    """``table`` as native float64 or float32 whose own shortest text is the one wanted."""
    numbers = np.ascontiguousarray(table, dtype=precision.numpy)
    return shortest_decimals(precision)[_patterns(numbers, precision)] if precision.bytes == 2 else numbers


def _patched(joined: bytes, numbers: Array, odd: NDArray[np.bool_]) -> bytes:
    """``joined`` with the numbers at ``odd`` spelled by us; orjson writes ``null`` for what is not finite."""
    values = numbers[odd]
    if np.isinf(values[0]) and (values == values[0]).all():  # a masked row: common, and quick this way
        return joined.replace(b"null", _spelled(values[0]))
    parts = joined.split(b",")
    for index in np.flatnonzero(odd):
        parts[index] = _spelled(numbers[index])
    return b",".join(parts)


def _spelled(number: np.floating[Any]) -> bytes:
    if np.isnan(number):
        return b"nan"
    digits = b"inf" if np.isinf(number) else _TIE_TEXT
    return digits if number > 0 else b"-" + digits


def _patterns(numbers: Array, precision: Precision) -> NDArray[np.integer[Any]]:
    """The 16 bits of each number of float16, or of bfloat16 widened to float32."""
    if precision is Precision.FLOAT16:
        return numbers.view(np.uint16)
    bits = numbers.view(np.uint32)
    if (bits & 0xFFFF).any():
        raise ValueError("expected bfloat16 values widened to float32, received other float32 values")
    return bits >> 16


@cache
def shortest_decimals(precision: Precision) -> Floats:
    """For each of the 65,536 bit patterns of float16 or bfloat16, the shortest decimal that reads back to it.

    [65536] float64; its own shortest text is that decimal, since it has at most 5 digits.
    """
    infinity = 0x7C00 if precision is Precision.FLOAT16 else 0x7F80
    patterns = np.arange(infinity, dtype=np.uint16)
    if precision is Precision.FLOAT16:
        values = patterns.view(np.float16).astype(np.float64)
    else:
        values = (patterns.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    half_gaps = np.diff(values, append=2 * values[-1] - values[-2]) / 2
    decimals = np.full(1 << 16, np.nan)
    decimals[0], decimals[infinity] = 0.0, np.inf
    # a number halfway between two values is read as the one whose last bit is 0
    decimals[1:infinity] = _shortest_between(
        values[1:], values[:-1] + half_gaps[:-1], values[1:] + half_gaps[1:], patterns[1:] % 2 == 0
    )
    decimals[1 << 15 :] = -decimals[: 1 << 15]
    decimals.flags.writeable = False
    return decimals


def _shortest_between(values: Floats, low: Floats, high: Floats, ends: NDArray[np.bool_]) -> Floats:
    """The decimals of fewest digits between ``low`` and ``high``, ``ends`` included or not, closest to ``values``."""
    powers = np.array([float(f"1e{n}") for n in range(64)])
    decade = np.floor(np.log10(values)).astype(np.int64)
    found = np.full(values.shape, np.nan)
    for digits in range(1, 6):
        place = decade - digits + 1
        up, down = powers[np.maximum(-place, 0)], powers[np.maximum(place, 0)]
        nearest = np.rint(values * up / down)
        # below a power of two the values are denser: the decimal on the far side may be the one that fits
        for whole in (nearest, nearest + 1, nearest - 1):
            decimal = whole * down / up
            fits = (low < decimal) & (decimal < high) | ends & ((decimal == low) | (decimal == high))
            new = np.flatnonzero(fits & np.isnan(found))
            # the product may be off by a rounding, the text of it is not
            found[new] = [float(f"{w:.0f}e{p}") for w, p in zip(whole[new].tolist(), place[new].tolist(), strict=True)]
    return found
