"""What a file is that was dropped or given on the command line."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import torch
from pytestqt.qtbot import QtBot
from safetensors.numpy import save_file
from torch import nn

from attn_gui.control.arriving import Arriving, FileKind, kind_of
from attn_gui.control.worker import Worker
from attn_gui.files import examples
from attn_gui.files import session as session_file
from attn_gui.model.session import Session
from attn_gui.paths import resource


def test_by_what_is_in_it(tmp_path: Path) -> None:
    def path(name: str) -> Path:
        return tmp_path / name

    np.save(path("attn.npy"), np.zeros((2, 3, 3)))
    torch.save((torch.zeros(1, 2, 3, 3),) * 2, path("attentions.pt"))
    torch.save(nn.MultiheadAttention(4, 2).state_dict(), path("module.PT"))
    save_file({"q": np.zeros((2, 3, 4)), "k": np.zeros((2, 3, 4))}, path("qk.safetensors"))
    path("weights.json").write_text("[[0.5, 0.5]]")
    path("broken.pt").write_bytes(b"PK\x03\x04")
    session_file.save(Session((examples.load("karina"),)), path("karina.attn"))
    kinds = {each.name: kind_of([each]) for each in tmp_path.iterdir()}
    assert kinds == {
        "attn.npy": FileKind.TENSORS,
        "attentions.pt": FileKind.TENSORS,
        "module.PT": FileKind.WEIGHTS,
        "qk.safetensors": FileKind.TENSORS,
        "weights.json": FileKind.TENSORS,
        "broken.pt": FileKind.TENSORS,
        "karina.attn": FileKind.SESSION,
    }
    assert kind_of([resource("examples/karina.json")]) is FileKind.SESSION
    assert kind_of([tmp_path]) is FileKind.TENSORS
    assert kind_of([path("attn.npy"), path("module.PT")]) is FileKind.TENSORS


@pytest.mark.parametrize("name", ["gone.npy", "gone.json", "gone.pt", "gone.attn"])
def test_a_file_that_is_not_there(name: str, tmp_path: Path) -> None:
    expected = FileKind.SESSION if name.endswith("attn") else FileKind.TENSORS
    assert kind_of([tmp_path / name]) is expected


def test_it_is_told_once(qtbot: QtBot, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros((2, 2)))
    worker = Worker()
    arriving = Arriving(worker)
    with qtbot.waitSignal(arriving.tensors) as told:
        arriving.take([tmp_path / "a.npy"])
    assert told.args == [(tmp_path / "a.npy",)]
    worker.close()


@pytest.mark.parametrize("name", ["n" * 5000, "n" * 5000 + ".json", "n" * 5000 + ".pt", "a\0b.npy", "a\0b.json"])
def test_names_that_no_file_can_have_are_told_of_by_who_opens_them(tmp_path: Path, name: str) -> None:
    assert kind_of([tmp_path / name]) in (FileKind.TENSORS, FileKind.SESSION)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    found: list[FileKind] = []
    thread = threading.Thread(target=lambda: found.append(kind_of([tmp_path / "pipe.json"])), daemon=True)
    thread.start()
    thread.join(20)
    assert found == [FileKind.TENSORS]
