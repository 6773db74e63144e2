"""``.json``: nested lists of numbers or flags, and lists of words, in objects and lists by their names."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from attn_gui.files.checkpoint.declared import MAX_DEPTH, MAX_NAMES
from attn_gui.files.errors import FileError, cannot_read, check_size
from attn_gui.files.places import NON_FINITE
from attn_gui.files.regular import size_of_file
from attn_gui.files.tensors.stored import Array, Opened, Stored, held

# a number takes ten times its text while JSON is read
MAX_BYTES = 1 << 26
MAX_AXES = 8


def open_json(path: Path) -> Opened:
    """The arrays and the lists of words of a JSON file, which may hold NaN and Infinity as Python writes them.

    Raises FileError.
    """
    root = parsed(path)
    tensors: list[Stored] = []
    words: dict[str, tuple[str, ...]] = {}
    seen: set[str] = set()
    waiting: list[tuple[Any, tuple[str | int, ...]]] = [(root, ())]
    visited = 0
    while waiting:
        value, indices = waiting.pop()
        name = ".".join(map(str, indices))
        visited += 1
        if visited > MAX_NAMES or len(indices) > MAX_DEPTH:
            raise FileError(path, "", f"at most {MAX_NAMES:,} names, {MAX_DEPTH} deep", "more")
        first = _first(value)
        inner: list[tuple[str | int, Any]] = []
        if isinstance(value, dict):
            inner = list(value.items())
        elif isinstance(first, dict):
            inner = list(enumerate(value))
        elif isinstance(first, str) and first not in NON_FINITE:
            if all(isinstance(word, str) for word in value):
                words[name] = tuple(value)
            else:  # a list of sentences, each a list of tokens
                inner = [(index, each) for index, each in enumerate(value) if isinstance(each, list)]
        elif isinstance(value, list) and value:
            if name in seen:
                raise FileError(path, name, "one array of this name", "several")
            seen.add(name)
            tensors.append(held(name, _array(path, name, value), _source(indices)))
        waiting.extend((each, (*indices, key)) for key, each in reversed(inner))
    return Opened(tensors, words)


def parsed(path: Path) -> Any:
    """The value of a JSON file, no name of an object given twice; raises FileError."""
    check_size(path, "", size_of_file(path), MAX_BYTES)

    def once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for name, value in pairs:
            if name in result:
                raise FileError(path, name, "one value of this name", "several")
            result[name] = value
        return result

    try:
        return json.loads(path.read_bytes().decode("utf-8-sig"), object_pairs_hook=once)
    except FileError:
        raise
    except OSError as error:
        raise cannot_read(path, error) from error
    except MemoryError as error:
        raise FileError(path, "", "numbers that fit in memory", "more") from error
    except UnicodeDecodeError as error:
        raise FileError(path, f"byte {error.start}", "UTF-8 text", "another") from error
    except json.JSONDecodeError as error:
        raise FileError(path, f"line {error.lineno}, column {error.colno}", "JSON", error.msg) from error
    except (RecursionError, ValueError) as error:
        nested = isinstance(error, RecursionError)
        received = "brackets nested too deep" if nested else "a number of too many digits"
        raise FileError(path, "", "JSON", received) from error


def _source(indices: tuple[str | int, ...]) -> Callable[[str], str]:
    after = "".join(f"[{index!r}]" for index in indices)
    return lambda file: f"np.array(json.loads(Path({file!r}).read_text()){after})"


def _first(value: Any) -> Any:
    """What stands first in lists within lists."""
    depth = 0
    while isinstance(value, list) and value and depth <= MAX_AXES:
        value, depth = value[0], depth + 1
    return value


def _array(path: Path, name: str, value: list[Any]) -> Array:
    shape: list[int] = []
    inner: Any = value
    while isinstance(inner, list):
        shape.append(len(inner))
        inner = inner[0] if inner else None
        if len(shape) > MAX_AXES:
            raise FileError(path, name, f"at most {MAX_AXES} axes", "more")
    cells: list[Any] = value
    for axis, side in enumerate(shape[1:], 1):
        if any(not isinstance(row, list) or len(row) != side for row in cells):
            raise FileError(path, name, f"{side} items in each row of axis {axis}, as in the first", "another count")
        cells = [cell for row in cells for cell in row]
    kinds = {type(cell) for cell in cells}
    if kinds <= {bool}:
        return np.array(cells, bool).reshape(shape)
    if kinds <= {int} and all(-(2**63) <= cell < 2**63 for cell in cells):
        return np.array(cells, np.int64).reshape(shape)
    if kinds <= {int, float, str} and all(cell in NON_FINITE for cell in cells if isinstance(cell, str)):
        try:
            return np.array([NON_FINITE.get(c, 0.0) if isinstance(c, str) else float(c) for c in cells]).reshape(shape)
        except OverflowError as error:
            raise FileError(path, name, "numbers of float64", "a larger one") from error
    odd = next(cell for cell in cells if type(cell) not in (int, float))
    raise FileError(path, name, "numbers, or true and false", json.dumps(odd)[:60])
