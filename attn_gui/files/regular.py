"""Files that can be read to an end. Opening a pipe waits for whoever writes to it, a device may never end."""

from __future__ import annotations

import stat
from pathlib import Path

from attn_gui.files.errors import FileError, cannot_read

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def size_of_file(path: Path) -> int:
    """The bytes of ``path``; raises FileError, without opening it, for anything but a regular file or a link to one."""
    try:
        status = path.stat()
    except OSError as error:
        raise cannot_read(path, error) from error
    except ValueError as error:  # a null character in the name
        raise FileError(path, "", "a file", "a name that no file can have") from error
    if not stat.S_ISREG(status.st_mode):
        raise FileError(path, "", "a file", kind_of(status.st_mode))
    return status.st_size


def is_folder(path: Path) -> bool:
    """Whether ``path`` is a folder; False also for a name that the system refuses, such as one that is too long."""
    try:
        return path.is_dir()
    except OSError:
        return False


def is_file(path: Path) -> bool:
    """Whether ``path`` is a regular file; False also for a name that the system refuses."""
    try:
        return path.is_file()
    except OSError:
        return False


def is_there(path: Path) -> bool:
    """Whether there is anything at ``path``; False also for a name that the system refuses."""
    try:
        return path.exists()
    except OSError:
        return False


def kind_of(mode: int) -> str:
    """What lies at a place whose mode is that of no regular file."""
    return _KINDS.get(stat.S_IFMT(mode), "something else")
