"""Files that are mapped into memory, and whether they are still what they were when that was done."""

from __future__ import annotations

import mmap
import os
import weakref
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from attn_gui.model.errors import ExperimentError


class ChangedFile(ExperimentError):
    """A file that was mapped and that another program has written to since; ``path`` is the file."""

    def __init__(self, path: Path) -> None:
        super().__init__(path.name, "the file as it was opened", "one that was changed since: open it again")
        self.path = path
        self.args = (f"{path.name} was changed since it was opened; open it again",)


class MappedFile(mmap.mmap):
    """All bytes of a file, read-only, mapped as they are.

    Where a file becomes shorter, the system ends the process that looks at what is no longer there, so that whoever
    reads asks :func:`unchanged` first. What is put in the place of the file, under its name, changes nothing: the file
    that was opened stays until nobody looks at it.
    """

    path: Path
    _descriptor: int
    _stamp: tuple[int, int]

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
        weakref.finalize(mapped, os.close, descriptor).atexit = False
        return mapped

    @property
    def is_changed(self) -> bool:
        """Whether somebody has written to the file since."""
        return _stamp(self._descriptor) != self._stamp


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


def _stamp(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_size, status.st_mtime_ns
