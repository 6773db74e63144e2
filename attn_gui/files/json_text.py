"""JSON that people can read: one matrix row per line."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray


def dumps(value: Any) -> bytes:
    """Strict JSON in UTF-8; a list of plain values takes one line, what holds lists or objects is opened up."""
    # half a surrogate pair, which UTF-8 cannot hold, becomes JSON's own escape for it
    return (_text(value, "") + "\n").encode("utf-8", errors="backslashreplace")


def plain(array: NDArray[Any]) -> Any:
    """``array`` as nested lists of numbers, with "nan", "inf" and "-inf" as text."""
    if array.dtype == np.bool_ or np.isfinite(array).all():
        return array.tolist()
    if array.ndim > 1:
        return [plain(part) for part in array]
    return [v if np.isfinite(v) else str(v) for v in array.tolist()]


def _text(value: Any, indent: str) -> str:
    inner = indent + "  "
    if isinstance(value, dict) and value:
        parts = [f"{inner}{_line(key)}: {_text(member, inner)}" for key, member in value.items()]
        if any(isinstance(member, dict | list) for member in value.values()) or len(value) > 6:
            return "{\n" + ",\n".join(parts) + "\n" + indent + "}"
        return "{" + ", ".join(part.removeprefix(inner) for part in parts) + "}"
    if isinstance(value, list) and any(isinstance(element, dict | list) for element in value):
        return "[\n" + ",\n".join(inner + _text(element, inner) for element in value) + "\n" + indent + "]"
    return _line(value)


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
