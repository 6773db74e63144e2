"""Numbers and flags as Python text that reads back to exactly the same values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_gui.files.numbers import cells
from attn_gui.model.precision import Precision

Array = NDArray[Any]

WIDTH = 100
INDENT = "    "


def rounded(values: Array, precision: Precision) -> Array:
    """``values`` to the nearest numbers of ``precision``, ties to even, in a numpy type that holds them."""
    values = np.asarray(values, dtype=np.float64)
    if precision is not Precision.BFLOAT16:
        with np.errstate(over="ignore"):
            return values.astype(precision.numpy)
    # at once from float64: by way of float32 would be rounding twice
    _, exponent = np.frexp(values)
    step = np.ldexp(1.0, np.maximum(exponent, -125) - 8)
    with np.errstate(invalid="ignore", over="ignore"):
        return np.where(np.isfinite(values), np.rint(values / step) * step, values).astype(np.float32)


def number(value: float) -> str:
    """One float64 number."""
    return _floating(cells(np.array([value], dtype=np.float64), Precision.FLOAT64)[0])


def literal(array: Array, precision: Precision, rows: Sequence[str] = ()) -> str:
    """Nested lists of ``array``, floats rounded to ``precision``, bools as 0 and 1; ``rows``: a remark on each row."""
    return _nested(array, precision, "", list(rows))


def _nested(array: Array, precision: Precision, indent: str, remarks: list[str]) -> str:
    if array.ndim == 1:
        return _row(array, precision, indent)
    inner = indent + INDENT
    lines = []
    for index, part in enumerate(array):
        remark = f"  # {remarks[index]}" if index < len(remarks) and array.ndim == 2 else ""
        lines.append(f"{inner}{_nested(part, precision, inner, remarks)},{remark}\n")
    return "[\n" + "".join(lines) + indent + "]"


def _row(row: Array, precision: Precision, indent: str) -> str:
    if row.dtype.kind == "f":
        texts = [_floating(cell) for cell in cells(rounded(row, precision), precision)]
    else:
        texts = [str(int(value)) for value in row.tolist()]
    line = "[" + ", ".join(texts) + "]"
    if len(indent) + len(line) <= WIDTH:
        return line
    inner = indent + INDENT
    lines, current = [], ""
    for text in texts:
        if current and len(inner) + len(current) + len(text) > WIDTH:
            lines.append(inner + current.rstrip())
            current = ""
        current += f"{text}, "
    lines.append(inner + current.rstrip())
    return "[\n" + "\n".join(lines) + "\n" + indent + "]"


def _floating(cell: bytes) -> str:
    """The text of a number with a point or an exponent, so that it stays a float, and -0 the number it is."""
    text = cell.decode("ascii")
    return text if any(letter in text for letter in ".en") else f"{text}.0"
