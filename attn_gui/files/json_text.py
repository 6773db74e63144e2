"""JSON that people can read: one matrix row per line."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from attn_gui.model.given import widened

# written as they are; others as float64
ROWS = tuple(map(np.dtype, (np.float64, np.float32, np.int64, np.bool_)))


def dumps(value: Any) -> bytes:
    """Strict JSON in UTF-8 of plain values and of arrays, of real numbers or bool.

    A list of plain values takes one line, what holds lists or objects is opened up. What is not finite in an array
    becomes "nan", "inf" or "-inf".
    """
    # half a surrogate pair, which UTF-8 cannot hold, becomes JSON's own escape for it
    return (_text(value, "") + "\n").encode("utf-8", errors="backslashreplace")


def _text(value: Any, indent: str) -> str:
    inner = indent + "  "
    if isinstance(value, np.ndarray) and value.ndim == 1:
        return _row(value)
    if isinstance(value, dict) and value:
        parts = [f"{inner}{_line(key)}: {_text(member, inner)}" for key, member in value.items()]
        if any(isinstance(member, dict | list | np.ndarray) for member in value.values()) or len(value) > 6:
            return "{\n" + ",\n".join(parts) + "\n" + indent + "}"
        return "{" + ", ".join(part.removeprefix(inner) for part in parts) + "}"
    if isinstance(value, np.ndarray) or (isinstance(value, list) and any(isinstance(e, dict | list) for e in value)):
        return "[\n" + ",\n".join(inner + _text(element, inner) for element in value) + "\n" + indent + "]"
    return _line(value)


def _row(array: NDArray[Any]) -> str:
    if array.dtype not in ROWS:
        array = widened(array)
        array = array if array.dtype in ROWS else array.astype(np.float64)
    if not np.isfinite(array).all():
        return _line([number if np.isfinite(number) else str(number) for number in array.tolist()])
    text = orjson.dumps(np.ascontiguousarray(array), option=orjson.OPT_SERIALIZE_NUMPY)
    return text.replace(b",", b", ").decode("ascii")


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
