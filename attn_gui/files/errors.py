"""Faults of files, in words a person can act on."""

from __future__ import annotations

import errno
import struct
import zlib
from pathlib import Path
from zipfile import BadZipFile

from attn_gui.model.errors import readable_sizes

LONGEST = 500
# what zipfile raises for a file that is broken; RuntimeError for methods and passwords that it does not know
BROKEN = (BadZipFile, EOFError, RuntimeError, ValueError, struct.error, zlib.error)


class FileError(ValueError):
    """A file that cannot be read or written.

    ``path`` is the file, ``where`` the place in it (``line 3, column 2``, ``experiments[0].tokens``; empty for the
    file itself), ``expected`` and ``received`` say what would do and what came.
    """

    def __init__(self, path: str | Path, where: str, expected: str, received: str) -> None:
        # what came may be megabytes of a damaged or hostile file
        where, received = _cut(where), _cut(received)
        named = _cut(str(path))
        place = f"{named}: {where}" if where else named
        super().__init__(f"{place}: expected {expected}, received {received}")
        self.path = Path(path)
        self.where = where
        self.expected = expected
        self.received = received


def check_size(path: Path, where: str, size: int, most: int, *, of: str = "", advice: str = "") -> None:
    """Raise FileError for more than ``most`` bytes ``of`` something; ``advice`` says how there would be fewer."""
    if size > most:
        expected, received = readable_sizes(most, size)
        raise FileError(path, where, f"at most {expected}{of}", received + advice)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def cannot_write(path: Path, error: OSError) -> FileError:
    """What stopped ``path`` from being written; whatever was there before is as it was."""
    expected, received = _WRITING.get(error.errno or 0, ("a file that can be written", _reason(error)))
    return FileError(path, "writing", expected, f"{received}; nothing was changed")


def cannot_read(path: Path, error: OSError) -> FileError:
    """What stopped ``path`` from being read."""
    expected, received = _READING.get(error.errno or 0, ("a file that can be read", _reason(error)))
    return FileError(path, "", expected, received)


def _reason(error: OSError) -> str:
    return f"the system's answer “{error.strerror or error}”"


_WRITING = {
    errno.ENOSPC: ("enough free space on the disk", "a full disk"),
    errno.EDQUOT: ("enough free space in your disk quota", "a quota that is used up"),
    errno.EFBIG: ("a file system that can hold a file of this size", "one with a smaller limit"),
    errno.EACCES: ("a folder and a file that you may write to", "no permission"),
    errno.EPERM: ("a folder and a file that you may write to", "no permission"),
    errno.EROFS: ("a folder that can be written to", "a read-only disk"),
    errno.ENOENT: ("a folder that exists", "one that does not"),
    errno.ENOTDIR: ("a folder to write into", "a path through something that is not a folder"),
    errno.EISDIR: ("the name of a file", "the name of a folder"),
    errno.EEXIST: ("the name of a folder", "the name of a file"),
    errno.ENAMETOOLONG: ("a shorter name", "one that is too long for this disk"),
}
_READING = {
    errno.ENOENT: ("a file", "a name that does not exist"),
    errno.ENOTDIR: ("a file", "a path through something that is not a folder"),
    errno.EISDIR: ("a file", "a folder"),
    errno.EACCES: ("a file that you may read", "no permission"),
    errno.EPERM: ("a file that you may read", "no permission"),
    errno.ENAMETOOLONG: ("a file", "a name too long to exist"),
}
