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
from attn_gui.control.notices import Kind, Notice, Notices
from attn_gui.control.worker import Priority, Worker, at_once
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


def test_what_is_a_whole_model(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    save_file({"w": np.zeros((2, 2))}, folder / "model.safetensors")
    assert kind_of([folder]) is FileKind.TENSORS, "without a config it is tensors"
    (folder / "config.json").write_text("{}")
    assert kind_of([folder]) is FileKind.MODEL
    assert kind_of([folder / "config.json"]) is FileKind.MODEL
    assert kind_of([folder / "model.safetensors"]) is FileKind.TENSORS
    assert kind_of([folder, folder]) is FileKind.TENSORS
    (folder / "model.safetensors").rename(folder / "attn.safetensors")
    assert kind_of([folder]) is FileKind.TENSORS, "the config of something else"
    (tmp_path / "quantized").mkdir()
    gguf = tmp_path / "quantized" / "a.GGUF"
    gguf.write_bytes(b"GGUF")
    assert kind_of([gguf]) is FileKind.MODEL
    assert kind_of([gguf.rename(gguf.with_suffix(".gguf")).parent]) is FileKind.MODEL
    gguf.with_name("b.gguf").write_bytes(b"GGUF")
    assert kind_of([gguf.parent]) is FileKind.TENSORS, "Open tensors lists what is there"


@pytest.mark.parametrize("name", ["gone.npy", "gone.json", "gone.pt", "gone.attn"])
def test_a_file_that_is_not_there(name: str, tmp_path: Path) -> None:
    expected = FileKind.SESSION if name.endswith("attn") else FileKind.TENSORS
    assert kind_of([tmp_path / name]) is expected


def test_it_is_told_once(qtbot: QtBot, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros((2, 2)))
    worker = Worker()
    arriving = Arriving(worker, Notices())
    with qtbot.waitSignal(arriving.tensors) as told:
        arriving.take([tmp_path / "a.npy"])
    assert told.args == [(tmp_path / "a.npy",)]
    worker.close()


def test_while_it_waits_for_its_turn_it_is_said_and_so_is_what_is_given_up(qtbot: QtBot, tmp_path: Path) -> None:
    for name in ("a.npy", "b.npy"):
        np.save(tmp_path / name, np.zeros((2, 2)))
    worker, notices = Worker(), Notices()
    arriving = Arriving(worker, notices)
    said: list[Notice] = []
    withdrawn: list[str] = []
    opened: list[tuple[Path, ...]] = []
    notices.said.connect(said.append)
    notices.withdrawn.connect(withdrawn.append)
    arriving.tensors.connect(opened.append)
    free = threading.Event()
    worker.submit("torch", at_once(free.wait), Priority.TRACE)
    arriving.take([tmp_path / "a.npy"])
    assert [(notice.kind, notice.text) for notice in said] == [(Kind.INFO, "Looking into a.npy")]
    arriving.take([tmp_path / "b.npy", tmp_path / "a.npy"])
    assert (said[-1].kind, said[-1].text) == (
        Kind.WARNING,
        "a.npy was not opened, since b.npy and 1 more came after it",
    )
    assert not opened and not withdrawn
    free.set()
    qtbot.waitUntil(lambda: bool(opened))
    assert opened == [(tmp_path / "b.npy", tmp_path / "a.npy")]
    assert withdrawn == [said[0].topic] != [said[-1].topic], "that a file was given up stays to be read"
    arriving.take([tmp_path / "a.npy"])
    assert said[-1].text == "Looking into a.npy"
    qtbot.waitUntil(lambda: len(opened) == 2)
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
