"""Files that are mapped into memory, and whether they are still what they were when that was done."""

from __future__ import annotations

import mmap
import os
import weakref
from io import FileIO
from pathlib import Path
from threading import Lock
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from attn_gui.model.errors import ExperimentError

# of numbers that lie apart by up to this many bytes, what lies between them is read too, so much at a time
NEAR, SPAN = 1 << 14, 1 << 20


class ChangedFile(ExperimentError):
    """A file that was mapped and that another program has written to since; ``path`` is the file."""

    def __init__(self, path: Path) -> None:
        super().__init__(path.name, "the file as it was opened", "one that was changed since: open it again")
        self.path = path
        self.args = (f"{path.name} was changed since it was opened; open it again",)


class MappedFile(mmap.mmap):
    """All bytes of a file, read-only, mapped as they are.

    Where a file becomes shorter, the system ends the process that looks at what is no longer there, so that whoever
    reads asks :func:`unchanged` first, or has it :func:`fetched`, which nothing can come in between. What is put in the
    place of the file, under its name, changes nothing: the file that was opened stays until nobody looks at it.
    """

    path: Path
    _descriptor: int
    _stamp: tuple[int, int]
    _reading: Lock

    def __new__(cls, path: Path) -> Self:
        """Map ``path``, a regular file that is not empty; raises OSError and ValueError."""
        # a descriptor of its own, to ask about this very file later: mmap does not tell the one that it keeps
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        try:
            stamp = _stamp(descriptor)
            mapped = super().__new__(cls, descriptor, 0, access=mmap.ACCESS_READ)
        except BaseException:
            os.close(descriptor)
            raise
        mapped.path, mapped._descriptor, mapped._stamp = path, descriptor, stamp
        mapped._reading = Lock()
        weakref.finalize(mapped, os.close, descriptor).atexit = False
        return mapped

    @property
    def is_changed(self) -> bool:
        """Whether somebody has written to the file since."""
        return _stamp(self._descriptor) != self._stamp

    def fetched(self, start: int, count: int) -> bytearray:
        """``count`` bytes from ``start`` on, read and not looked at in the map; ChangedFile where they are gone."""
        found = bytearray(count)
        self.fetch(start, memoryview(found))
        return found

    def fetch(self, start: int, into: memoryview) -> None:
        """:meth:`fetched`, as many bytes as ``into`` has and into it."""
        done = 0
        try:
            with self._reading:  # the place in the file is one for all threads
                os.lseek(self._descriptor, start, os.SEEK_SET)
                with FileIO(self._descriptor, closefd=False) as file:
                    while done < len(into) and (more := file.readinto(into[done:])):
                        done += more
        except OSError as error:
            raise ChangedFile(self.path) from error
        if done < len(into):
            raise ChangedFile(self.path)


def is_mapped(array: NDArray[Any]) -> bool:
    """Whether the numbers lie in a file that is mapped, so that they take no memory until they are looked at.

    That includes what another program has mapped, with numpy.load and mmap_mode, and whose file nobody watches.
    """
    return isinstance(_owner(array), mmap.mmap)


def file_of(array: NDArray[Any]) -> MappedFile | None:
    """The file, mapped here, in which the numbers of ``array`` lie; None where they lie in no such file."""
    owner = _owner(array)
    return owner if isinstance(owner, MappedFile) else None


def _owner(array: NDArray[Any]) -> object:
    """What holds the memory that ``array`` looks at."""
    owner: object = array
    while isinstance(owner, np.ndarray):
        owner = owner.base
    return owner.obj if isinstance(owner, memoryview) else owner


def unchanged(array: NDArray[Any]) -> NDArray[Any]:
    """``array``, which may lie in a file, to be read now; raises ChangedFile where that is not what it was."""
    file = file_of(array)
    if file is not None and file.is_changed:
        raise ChangedFile(file.path)
    return array


def fetched(array: NDArray[Any]) -> NDArray[Any]:
    """``array``, or where it lies in a file that is mapped here, a copy of it in memory that was read from the file.

    Nothing ends the process if the file is cut off meanwhile: raises ChangedFile then, and where it was before.
    """
    file = file_of(array)
    if file is None:
        return array
    start = _address(array) - _address(np.frombuffer(file, np.uint8))
    low = sum((count - 1) * step for count, step in zip(array.shape, array.strides, strict=True) if step < 0)
    span = array.itemsize + sum((count - 1) * abs(step) for count, step in zip(array.shape, array.strides, strict=True))
    if array.size and span < array.nbytes:
        # expanded: the same numbers are looked at many times over, and read once
        numbers = np.frombuffer(file.fetched(start + low, span), np.uint8)
        result = np.ndarray(array.shape, array.dtype, numbers, -low, array.strides)
    else:
        result = np.empty(array.shape, array.dtype)
        if array.size:
            _fetch(file, start, array.strides, result)
    unchanged(array)  # since it was mapped, and while it was read
    result.flags.writeable = False
    return result


def _fetch(file: MappedFile, start: int, strides: tuple[int, ...], into: NDArray[Any]) -> None:
    """Fill ``into`` with the numbers that lie at ``start`` and by ``strides``, in bytes, from there."""
    size = into.dtype.itemsize
    order = sorted((axis for axis in range(into.ndim) if into.shape[axis] > 1), key=lambda axis: -abs(strides[axis]))
    expected = size
    for axis in reversed(order):
        if strides[axis] != expected:
            break
        expected *= into.shape[axis]
    else:  # they lie one after another
        if into.flags.c_contiguous and order == sorted(order):
            file.fetch(start, into.reshape(-1).view(np.uint8).data)
            return
        numbers = np.frombuffer(file.fetched(start, into.size * size), np.uint8).view(into.dtype)
        kept = [into.shape[axis] for axis in order]
        places = sorted(range(len(order)), key=lambda place: order[place])
        into[...] = numbers.reshape(kept).transpose(places).reshape(into.shape)
        return
    axis, step = order[0], strides[order[0]]
    count, at = into.shape[axis], 0
    rows = np.moveaxis(into, axis, 0)
    inner = strides[:axis] + strides[axis + 1 :]
    while at < count:
        if len(order) > 1 or not 0 < step <= NEAR:
            _fetch(file, start + at * step, inner, rows[at, ...])
            at += 1
            continue
        more = min(count - at, max(1, SPAN // step))
        span = np.frombuffer(file.fetched(start + at * step, (more - 1) * step + size), np.uint8)
        rows[at : at + more] = np.ndarray(more, into.dtype, span, strides=(step,)).reshape(rows[at : at + more].shape)
        at += more


def _address(array: NDArray[Any]) -> int:
    return int(array.__array_interface__["data"][0])


def _stamp(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_size, status.st_mtime_ns
