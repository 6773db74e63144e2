"""Files are replaced whole or not at all."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from attn_gui.files import atomic
from attn_gui.files.atomic import replacing, write_bytes
from attn_gui.files.errors import FileError

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "kept.txt"
    path.write_bytes(b"old")
    return path


def failing(code: int) -> Callable[..., NoReturn]:
    def fail(*_: Any) -> NoReturn:
        raise OSError(code, os.strerror(code))

    return fail


def test_the_new_content_appears_at_the_end(old: Path) -> None:
    with replacing(old) as file:
        file.write(b"new")
        file.flush()
        assert old.read_bytes() == b"old"
    assert old.read_bytes() == b"new"
    assert list(old.parent.glob(".*")) == []


def write_half(path: Path) -> NoReturn:
    with replacing(path) as file:
        file.write(b"new")
        raise ZeroDivisionError


def test_an_error_leaves_the_old_file_and_nothing_else(old: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        write_half(old)
    assert old.read_bytes() == b"old"
    assert [path.name for path in old.parent.iterdir() if path.is_file()] == ["kept.txt"]


@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize(
    ("code", "words"),
    [
        (errno.ENOSPC, "a full disk"),
        (errno.EDQUOT, "a quota that is used up"),
        (errno.EROFS, "a read-only disk"),
        (errno.EACCES, "no permission"),
        (errno.EIO, "the system's answer"),
    ],
)
def test_what_the_system_refuses_is_said(
    old: Path, monkeypatch: pytest.MonkeyPatch, call: str, code: int, words: str
) -> None:
    monkeypatch.setattr(atomic.os, call, failing(code))
    with pytest.raises(FileError, match=words) as caught:
        write_bytes(old, b"new")
    assert caught.value.path == old
    assert "nothing was changed" in str(caught.value)
    assert old.read_bytes() == b"old"
    assert [path.name for path in old.parent.iterdir() if path.is_file()] == ["kept.txt"]


@posix
def test_a_disk_that_takes_no_more_bytes(old: Path) -> None:
    import resource
    import signal

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, limits[1]))
        with pytest.raises(FileError, match="smaller limit"):
            write_bytes(old, bytes(1 << 20))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert old.read_bytes() == b"old"
    assert [path.name for path in old.parent.iterdir() if path.is_file()] == ["kept.txt"]


def test_places_that_cannot_be_written_to(old: Path) -> None:
    with pytest.raises(FileError, match="not a folder"):
        write_bytes(old / "inside.txt", b"new")
    with pytest.raises(FileError, match="a folder that exists"):
        write_bytes(old.parent / "missing" / "a.txt", b"new")
    folder = old.parent / "folder"
    folder.mkdir()
    with pytest.raises(FileError, match="name of a folder"):
        write_bytes(folder, b"new")
    assert sorted(path.name for path in old.parent.iterdir() if not path.name.startswith("profile")) == [
        "folder",
        "kept.txt",
    ]


@posix
def test_an_existing_file_keeps_its_permissions(old: Path) -> None:
    old.chmod(0o640)
    write_bytes(old, b"new")
    assert stat.S_IMODE(old.stat().st_mode) == 0o640


@posix
def test_a_new_file_gets_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"")
    write_bytes(tmp_path / "new", b"new")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "plain").stat().st_mode


@posix
def test_a_link_stays_a_link(old: Path) -> None:
    link = old.parent / "link"
    link.symlink_to(old)
    write_bytes(link, b"new")
    assert link.is_symlink()
    assert old.read_bytes() == b"new"


def test_a_long_name_is_no_hindrance(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 250)
    write_bytes(path, b"new")
    assert path.read_bytes() == b"new"
    with pytest.raises(FileError, match="a shorter name"):
        write_bytes(tmp_path / ("n" * 300), b"new")


def test_the_root_of_the_disk_is_no_file() -> None:
    with pytest.raises(FileError, match="the name of a file, received the name of a folder"):
        write_bytes(Path(Path.cwd().anchor), b"new")


def test_a_name_that_no_file_can_have(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="a name that no file can have"):
        write_bytes(tmp_path / "a\0b", b"new")


@posix
@pytest.mark.parametrize("linked", [False, True])
def test_a_pipe_or_a_device_is_not_replaced(tmp_path: Path, linked: bool) -> None:
    pipe, path = tmp_path / "pipe", tmp_path / "pipe"
    os.mkfifo(pipe)
    if linked:
        path = tmp_path / "link"
        path.symlink_to(pipe)
    with pytest.raises(FileError, match="the name of a pipe; nothing was changed"):
        write_bytes(path, b"new")
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert list(tmp_path.glob(".attn*")) == []


KILLED = """
import os, signal, sys
from attn_gui.files.atomic import replacing
with replacing(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@posix
def test_what_a_killed_process_left_goes_with_the_next_save(old: Path) -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED, str(old)], check=False)
    assert killed.returncode == -signal.SIGKILL
    (left,) = old.parent.glob(".attn_gui-*.tmp")
    assert left.read_bytes() == b"half" and old.read_bytes() == b"old"
    # of a process that lives, of another computer, or of another name: none of them is ours to remove
    process = left.name.split("-")[2]
    others = [
        left.name.replace(f"-{process}-", f"-{os.getppid()}-"),
        left.name.replace(left.name.split("-")[1], "0" * 8),
        f"{left.name}.txt",
        left.name[1:],
    ]
    for name in others:
        old.with_name(name).write_bytes(b"theirs")
    folder = old.with_name(left.name.replace(left.name[-8:], "0000.tmp"))
    folder.mkdir()
    with replacing(old, durable=False) as file:
        file.write(b"new")
    assert left.exists(), "what need not last does not look around"
    with replacing(old) as file:
        assert left.exists()
        file.write(b"newer")
    assert not left.exists() and old.read_bytes() == b"newer"
    assert {path.name for path in old.parent.iterdir()} == {old.name, *others, folder.name}


@posix
def test_what_is_being_written_meanwhile_stays(old: Path) -> None:
    with replacing(old.with_name("other")) as slow:
        slow.write(b"still at it")
        with replacing(old) as file:
            file.write(b"new")
    assert old.with_name("other").read_bytes() == b"still at it"
