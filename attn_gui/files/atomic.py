"""Files that are replaced whole or not at all."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import BinaryIO

from attn_gui.files.errors import FileError, cannot_write
from attn_gui.files.regular import kind_of

_OURS = re.compile(r"\.attn_gui-(?P<computer>[0-9a-f]{8})-(?P<process>[0-9]{1,10})-[0-9a-f]{16}\.tmp")


@contextmanager
def replacing(path: str | Path, *, durable: bool = True) -> Iterator[BinaryIO]:
    """A binary file to write, which takes the place of ``path`` once the block has ended without an error.

    It lies in the same folder until then, so that ``path`` holds the old content or the new, never a part. After any
    error, and when a generator that writes is closed, it is removed and ``path`` is as before. Raises FileError for
    what the system refuses. An existing file keeps its permissions; a link stays and its target is replaced.

    ``durable`` waits until the disk has it, so that it survives a power cut; what can be made again need not wait.
    What processes of this computer that were killed have left in the folder is removed then.
    """
    target = _target(Path(path))
    temporary = target.with_name(f".attn_gui-{_computer()}-{os.getpid()}-{secrets.token_hex(8)}.tmp")
    try:
        # os.open applies the umask, which tempfile's 0600 would not
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        with _removed_on_error(temporary):
            with os.fdopen(descriptor, "wb") as file:
                yield file
                file.flush()
                if durable:
                    os.fsync(file.fileno())
            _keep_permissions(target, temporary)
            os.replace(temporary, target)
        if durable:
            _sync_folder(target.parent)
            _remove_left(target.parent)
    except OSError as error:
        raise cannot_write(Path(path), error) from error


def write_bytes(path: str | Path, data: bytes) -> None:
    """Replace ``path`` by ``data``; as :func:`replacing`."""
    with replacing(path) as file:
        file.write(data)


def _target(path: Path) -> Path:
    """The file that ``path``, which may be a link, stands for. A pipe or a device would be lost in being replaced."""
    expected = "the name of a file"
    try:
        target = Path(os.path.realpath(path))
        mode = target.stat().st_mode
    except FileNotFoundError as error:
        if not target.name:  # a drive that is not there
            raise cannot_write(path, error) from error
        return target
    except OSError as error:
        raise cannot_write(path, error) from error
    except ValueError as error:  # a null character in the name
        raise FileError(path, "writing", expected, "a name that no file can have") from error
    if stat.S_ISDIR(mode):
        raise FileError(path, "writing", expected, "the name of a folder; nothing was changed")
    if not stat.S_ISREG(mode):
        raise FileError(path, "writing", expected, f"the name of {kind_of(mode)}; nothing was changed")
    return target


@contextmanager
def _removed_on_error(path: Path) -> Iterator[None]:
    try:
        yield
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise


def _remove_left(folder: Path) -> None:
    """Remove the temporary files in ``folder`` of processes of this computer, and of this person, that are no more."""
    if sys.platform == "win32":
        return  # where a process cannot be asked after without harm
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            found = _OURS.fullmatch(entry.name)
            if found is None or found["computer"] != _computer() or _is_alive(int(found["process"])):
                continue
            with suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(status.st_mode) and status.st_uid == os.getuid():
                    os.unlink(entry.path)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # somebody else's
        return True
    return True


@cache
def _computer() -> str:
    """What tells this computer from others that write in the same folder: a process number is one's own only here.

    A container has its own numbers, and its own name as a rule; where it has not, its first process is another.
    """
    name = platform.node()
    with suppress(OSError):
        name += os.readlink("/proc/self/ns/pid")
    return hashlib.sha256(name.encode()).hexdigest()[:8]


def _keep_permissions(target: Path, temporary: Path) -> None:
    with suppress(FileNotFoundError):
        os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))


def _sync_folder(folder: Path) -> None:
    """Make the new name itself survive a power cut, where folders can be synced."""
    if sys.platform == "win32":
        return
    # some network disks refuse, and by now the file is in place
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
