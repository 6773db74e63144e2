"""What a file of tensors holds, before its numbers are used."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from attn_gui.model.tensors.axes import Role
from attn_gui.model.tensors.names import role_of

# dropout of a half makes a weight of 1 twice as large
MOST_DROPPED_OUT = 2.0
# bytes of a number, by torch's name for the type
ITEM_BYTES = {
    "float64": 8,
    "float32": 4,
    "float16": 2,
    "bfloat16": 2,
    "float8_e4m3fn": 1,
    "float8_e5m2": 1,
    "float8_e4m3fnuz": 1,
    "float8_e5m2fnuz": 1,
    "complex128": 16,
    "complex64": 8,
    "int64": 8,
    "int32": 4,
    "int16": 2,
    "int8": 1,
    "uint64": 8,
    "uint32": 4,
    "uint16": 2,
    "uint8": 1,
    "bool": 1,
}


class Square(NamedTuple):
    """What exact zeros forbid in the last two axes of a tensor, taken as queries and keys.

    place: where in the axes before these. causal: whether no query attends to a later key. front, back: how many keys
    at the beginning, or else at the end, no query attends to; in a square of zeros all of them.
    """

    place: tuple[int, ...]
    causal: bool
    front: int
    back: int


@dataclass(frozen=True)
class Peek:
    """What a look at the numbers of a tensor has shown.

    low, high: the lowest and the highest finite number; None where there is none. whole: whether every number was
    looked at, and not only some of a large tensor. nan, inf, minus_inf: whether there are such.
    flags: whether all numbers are 0 or 1. rising: whether they are whole, begin with 0 and never
    fall (cu_seqlens), in one axis.
    sums: for each axis, whether the numbers along it are 0 or more and sum to 1 (within 1e-3; 2e-2 of 16 bits), in all
    lines that were looked at without NaN; where they do so along no axis, in all lines but those of zeros alone.
    spans: for each axis, the lowest and the highest sum of a line without NaN; None where there are none. zeros: what
    the exact zeros forbid in each square of the last two axes that was looked at; empty of what is not like weights.
    floor: the highest of the numbers that stand for -inf in scores, far below the others; None for none.
    integral: whether all numbers are whole, in whatever type.
    """

    low: float | None
    high: float | None
    whole: bool = True
    nan: bool = False
    inf: bool = False
    minus_inf: bool = False
    flags: bool = False
    rising: bool = False
    sums: tuple[bool, ...] = ()
    spans: tuple[tuple[float, float] | None, ...] = ()
    zeros: tuple[Square, ...] = ()
    floor: float | None = None
    integral: bool = False

    @property
    def like_weights(self) -> bool:
        """Whether all numbers lie in 0 to 1 as weights do; up to MOST_DROPPED_OUT where some are 0, as after dropout.

        Flags are not like weights, nor is what is 0 throughout; NaN among them says nothing.
        """
        if self.low is None or self.high is None or self.flags or self.inf or self.minus_inf:
            return False
        return self.low >= 0 and 0 < self.high <= (MOST_DROPPED_OUT if self.low == 0 else 1)


@dataclass(frozen=True)
class TensorInfo:
    """A tensor of a file.

    name: unique in the contents. file: the name of its file within a folder (that of the path itself, else).
    key: its name within that file; empty where the file holds one without a name. dtype: torch's name of the type.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    file: str
    key: str
    peek: Peek | None = None

    @property
    def size(self) -> int:
        """How many numbers it holds."""
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        return self.size * ITEM_BYTES[self.dtype]

    @property
    def is_real(self) -> bool:
        return "float" in self.dtype

    @property
    def is_readable(self) -> bool:
        """Whether its numbers can be looked at: there are some, and they are not complex."""
        return self.size > 0 and not self.dtype.startswith("complex")

    @property
    def is_ends(self) -> bool:
        """Whether these are ends of sequences (cu_seqlens): by their name, or by numbers that rise from 0.

        0, 1, 2 and so on without that name are rather the places of the tokens.
        """
        if self.peek is None:
            return False
        named = role_of(self.key or self.name)
        if named is None:
            return self.is_whole and self.peek.rising and self.peek.high != self.size - 1
        return named is Role.SEQUENCES and (self.is_whole or self.is_real)

    @property
    def is_whole(self) -> bool:
        """Whether it holds whole numbers."""
        return "int" in self.dtype


@dataclass(frozen=True)
class Contents:
    """What lies at ``path``: a file, a folder with a file a layer, or several files of one folder.

    path: absolute. files: the names of the files within the folder ``path``; empty where ``path`` is a file.
    tensors: in the order of the file; of a folder in the natural order of the files (2 before 10).
    words: lists of words by name, which may be tokens. remarks: what was left out, in sentences.
    """

    path: str
    files: tuple[str, ...]
    tensors: tuple[TensorInfo, ...]
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    def tensor(self, name: str) -> TensorInfo:
        """The tensor called ``name``; raises KeyError."""
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> dict[str, TensorInfo]:
        return {tensor.name: tensor for tensor in self.tensors}

    @cached_property
    def totals(self) -> frozenset[int]:
        """How many tokens there are in all, by the ends of sequences (cu_seqlens) that are among the tensors."""
        ends = (tensor for tensor in self.tensors if tensor.is_ends)
        return frozenset(int(tensor.peek.high or 0) for tensor in ends if tensor.peek is not None)
