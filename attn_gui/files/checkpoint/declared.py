"""What a file says that it holds, before any of it is read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attn_gui.files.errors import FileError
from attn_gui.model.errors import ExperimentError
from attn_gui.model.parts import LARGEST_WHOLE
from attn_gui.model.table import Floats
from attn_gui.model.tensors.info import ITEM_BYTES as ITEM_BYTES

MAX_NAMES = 100_000
MAX_DEPTH = 16
# of a tensor, as many as numpy can hold
MAX_AXES = 64
# what a file may call the number of heads, in the order of trust
HEADS = ("num_heads", "num_attention_heads", "n_heads", "n_head", "nhead", "heads")


@dataclass(frozen=True)
class Declared:
    """A tensor by its shape and torch's name for its type of numbers."""

    shape: tuple[int, ...]
    dtype: str

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def is_real(self) -> bool:
        """Whether it holds real numbers, as weights do."""
        return "float" in self.dtype


@dataclass(frozen=True, eq=False)
class StateTensor:
    """A tensor's numbers, float64 and read-only, and the type that they had in the file."""

    array: Floats
    dtype: str


@dataclass(frozen=True)
class Contents:
    """The tensors of a file by name, and the whole numbers and words beside them, each in the order of the file."""

    tensors: Mapping[str, Declared]
    others: Mapping[str, int | str]

    @property
    def heads(self) -> int | None:
        """The number of heads, where the file says one and only one.

        Raises ExperimentError, naming the place in the file, for more heads than there can be.
        """
        for name in HEADS:
            said = {
                _count(other, str(value))
                for other, value in self.others.items()
                if other.rpartition(".")[2] == name and str(value).isascii() and str(value).isdigit()
            }
            if said:
                return said.pop() if len(said) == 1 else None
        return None


def _count(name: str, digits: str) -> int:
    """A number of heads; Python itself reads no more than some thousands of digits."""
    digits = digits.lstrip("0") or "0"
    if len(digits) > len(str(LARGEST_WHOLE)) or int(digits) > LARGEST_WHOLE:
        raise ExperimentError(name, f"a number of heads of at most {LARGEST_WHOLE}", digits)
    return int(digits)


def flattened(path: Path, root: Mapping[Any, Any]) -> dict[str, Any]:
    """The leaves of dicts within dicts by their names joined with dots; raises FileError for a name given twice."""
    found: dict[str, Any] = {}
    waiting = [("", root, 0)]
    visited = 0
    while waiting:
        prefix, mapping, depth = waiting.pop()
        for key, value in mapping.items():
            visited += 1
            if visited > MAX_NAMES or depth > MAX_DEPTH:
                raise FileError(path, "", f"at most {MAX_NAMES:,} names, {MAX_DEPTH} dicts deep", "more")
            if type(key) not in (str, int):
                continue
            name = f"{prefix}{key}"
            if isinstance(value, Mapping):
                waiting.append((f"{name}.", value, depth + 1))
            elif name in found:
                raise FileError(path, name, "one tensor of this name", "several")
            else:
                found[name] = value
    return found


def check_there(path: Path, names: Iterable[str], declared: Mapping[str, Declared]) -> None:
    """Raise FileError unless the tensors ``names``, which were seen before, are still there and hold real numbers."""
    for name in names:
        if name not in declared:
            raise FileError(path, name, "the tensor that was there before", "a file that has changed")
        if declared[name].dtype.startswith("complex"):
            raise FileError(path, name, "real numbers", f"a tensor of {declared[name].dtype}")
