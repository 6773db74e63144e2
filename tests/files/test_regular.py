"""What has no end, or waits for somebody to write, is not opened."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attn_gui.files import csv_reader, experiment_json, session
from attn_gui.files.errors import FileError
from attn_gui.files.regular import is_file, is_folder, is_there
from attn_gui.files.tensors import headless, looking
from tests.files.tensors.writing import finished

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes and devices of POSIX")
READERS = [session.load, experiment_json.read, csv_reader.read]


@pytest.fixture(params=["a pipe", "a link to a pipe", "a device", "a socket", "a folder"])
def odd(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, str]:
    path, kind = tmp_path / "odd", request.param.removeprefix("a link to ")
    if kind == "a pipe":
        os.mkfifo(path)
    elif kind == "a device":
        path = Path("/dev/null")
    elif kind == "a socket":
        monkeypatch.chdir(tmp_path)  # the whole path may be too long for a socket
        with socket.socket(socket.AF_UNIX) as made:
            made.bind("odd")
    else:
        path.mkdir()
    if request.param.startswith("a link"):
        link = tmp_path / "link"
        link.symlink_to(path)
        path = link
    return path, kind


@pytest.mark.parametrize("read", READERS)
def test_anything_but_a_file_is_refused_unopened(
    read: Callable[[Path], Any], odd: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, kind = odd

    def opened(*arguments: Any, **options: Any) -> None:
        raise AssertionError("it would wait for ever")

    monkeypatch.setattr("io.open", opened)
    monkeypatch.setattr("builtins.open", opened)
    with pytest.raises(FileError, match=f"expected a file, received {kind}"):
        read(path)


@pytest.mark.parametrize("read", READERS)
def test_a_name_that_no_file_can_have(read: Callable[[Path], Any], tmp_path: Path) -> None:
    with pytest.raises(FileError, match="a name that no file can have"):
        read(tmp_path / "a\0b")


@pytest.mark.parametrize("name", ["n" * 5000, "/".join(["n" * 250] * 40), "a\0b", "gone"])
def test_names_that_the_system_refuses_are_nowhere(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    assert not is_folder(path) and not is_file(path) and not is_there(path)
    for read in READERS:
        with pytest.raises(FileError):
            read(path)
    assert not headless.is_tensors(path)
    with pytest.raises(FileError):
        finished(looking.look([path]))


def test_what_is_there_is_found(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert is_folder(tmp_path) and is_there(tmp_path) and not is_file(tmp_path)
    assert is_file(tmp_path / "file") and is_there(tmp_path / "file") and not is_folder(tmp_path / "file")
