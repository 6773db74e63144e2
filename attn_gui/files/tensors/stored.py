"""A tensor as it lies in a file, and how its numbers are got: into memory, or mapped where they lie."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from attn_gui.files.errors import FileError, cannot_read
from attn_gui.model.mapped import MappedFile, file_of

Array = NDArray[Any]
# flags are looked through before they are used, unless they are more than these
MANY_FLAGS = 1 << 26
# numpy's types by torch's names for them
TYPES: dict[str, np.dtype[Any]] = {
    name: np.dtype(name)
    for name in (
        *("float64", "float32", "float16", "int64", "int32", "int16", "int8"),
        *("uint64", "uint32", "uint16", "uint8", "bool", "complex64", "complex128"),
    )
} | {
    name: np.dtype(getattr(ml_dtypes, name))
    for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz")
}


@dataclass(frozen=True, eq=False)
class Stored:
    """A tensor of a file: its name there (empty where it has none), its shape, and torch's name of its type.

    get: its numbers, read-only; True leaves them in the file where that is possible, so that they take no memory until
    they are looked at. Raises FileError.
    source: Python that loads it, after the name of the file was put in; torch: whether that gives a tensor of torch.
    """

    key: str
    shape: tuple[int, ...]
    dtype: str
    get: Callable[[bool], Array]
    source: Callable[[str], str]
    torch: bool = False


@dataclass(frozen=True, eq=False)
class Opened:
    """A file that was opened: its tensors, lists of words by name, and what was left out, in sentences."""

    tensors: Sequence[Stored]
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


def name_of(dtype: np.dtype[Any]) -> str:
    """torch's name for a type of numpy, whatever its byte order."""
    return dtype.newbyteorder("=").name


def held(key: str, array: Array, source: Callable[[str], str]) -> Stored:
    """A tensor whose numbers are in memory already."""
    array.flags.writeable = False
    return Stored(key, array.shape, name_of(array.dtype), lambda mapped: array, source)


@dataclass(frozen=True)
class Region:
    """Numbers of ``dtype`` that lie in ``path`` from byte ``start`` on.

    strides: in numbers; None where they lie one after another in C order, or in Fortran's if ``fortran``.
    negated, conjugated: whether the numbers are what lies there negated, or conjugated; they then are held in memory.
    """

    path: Path
    start: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    fortran: bool = False
    strides: tuple[int, ...] | None = None
    negated: bool = False
    conjugated: bool = False

    def stored(self, key: str, source: Callable[[str], str], *, torch: bool = False) -> Stored:
        return Stored(key, self.shape, name_of(self.dtype), self.get, source, torch)

    def get(self, mapped: bool) -> Array:
        """The numbers, read-only; raises FileError."""
        count = self._reach()
        numbers: Array
        try:
            if mapped and count and (self.dtype.kind != "b" or count > MANY_FLAGS):
                numbers = _mapped(self.path)[self.start : self.start + count * self.dtype.itemsize]
            else:
                numbers = np.fromfile(self.path, np.uint8, count * self.dtype.itemsize, offset=self.start)
        except MemoryError as error:
            raise FileError(self.path, "", "an array that fits in memory", "a larger one") from error
        except (OSError, ValueError) as error:
            fault = error if isinstance(error, OSError) else OSError(None, str(error))
            raise cannot_read(self.path, fault) from error
        if numbers.size != count * self.dtype.itemsize:
            raise FileError(self.path, "", "the numbers that were there before", "a file that was cut off since")
        if self.dtype.kind == "b" and file_of(numbers) is None and (numbers > 1).any():
            raise FileError(self.path, "", "0 or 1 in each byte of bool", "other bytes")
        numbers.flags.writeable = False
        try:
            # before they are laid out, which may repeat them
            return self._shaped(self._turned(numbers.view(self.dtype)))
        except MemoryError as error:
            raise FileError(self.path, "", "an array that fits in memory", "a larger one") from error
        except ValueError as error:
            raise FileError(self.path, "", "a shape that numpy can hold", f"shape {self.shape}") from error

    def _turned(self, numbers: Array) -> Array:
        if self.negated:
            numbers = -numbers
        if self.conjugated:
            numbers = numbers.conj()
        return numbers

    def _reach(self) -> int:
        """How many numbers there are from the first to the last."""
        if self.strides is None or 0 in self.shape:
            return math.prod(self.shape)
        return 1 + sum((side - 1) * step for side, step in zip(self.shape, self.strides, strict=True))

    def _shaped(self, numbers: Array) -> Array:
        if self.strides is None or 0 in self.shape:
            return numbers.reshape(self.shape, order="F" if self.fortran else "C")
        steps = [step * self.dtype.itemsize for step in self.strides]
        array: Array = np.ndarray(self.shape, self.dtype, numbers, strides=steps)
        array.flags.writeable = False
        return array


def _mapped(path: Path) -> Array:
    """All bytes of a file, mapped once for all its tensors: each map keeps the file open."""
    status = path.stat()
    key = (str(path), status.st_ino, status.st_size, status.st_mtime_ns)
    whole = _maps.get(key)
    if whole is None:
        whole = _maps[key] = MappedFile(path)
    return np.frombuffer(whole, np.uint8)


_maps: WeakValueDictionary[tuple[str, int, int, int], MappedFile] = WeakValueDictionary()


def computable(block: Array) -> Array:
    """In a type that numpy compares quickly."""
    if block.dtype.kind in "biu":
        return block
    return block.astype(np.float64 if block.dtype.itemsize == 8 else np.float32)


def usable(array: Array) -> Array:
    """``array`` in a type that an experiment keeps: what has 8 bits as float16, which holds all its values."""
    if not array.dtype.name.startswith("float8"):
        return array
    array = array.astype(np.float16)
    array.flags.writeable = False
    return array
