"""What is left out is said: files of a folder that are none, and lists of words that fit nothing."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attn_gui.files.errors import FileError
from attn_gui.files.tensors.headless import Choices, described
from attn_gui.model.tensors.offers import offers
from attn_gui.model.tensors.proposals import propose
from tests.files.tensors.writing import finished, looked

N = np.full((2, 3, 3), 1 / 3)


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes are others there")
def test_links_and_pipes_of_a_folder_are_named(tmp_path: Path) -> None:
    for layer in (1, 4):
        np.save(tmp_path / f"layer_{layer}.npy", N)
    (tmp_path / "layer_2.npy").symlink_to("layer_2.npy")
    os.mkfifo(tmp_path / "layer_3.npy")
    (tmp_path / "layer_5.npy").symlink_to("nowhere.npy")
    (tmp_path / "layer_6.npy").mkdir()
    (tmp_path / ".layer_7.npy").mkdir()
    lines = finished(described(tmp_path, Choices()))
    left_out = [line for line in lines if "was left out" in line]
    assert [line.split()[0] for line in left_out] == [f"layer_{layer}.npy" for layer in (2, 3, 5, 6)]
    assert left_out[1].endswith("received a pipe")
    assert any(line.startswith("attention: 2 layers") for line in lines)
    for layer in (1, 4):
        (tmp_path / f"layer_{layer}.npy").unlink()
    with pytest.raises(FileError, match=r"layer_3\.npy was left out: expected a file, received a pipe"):
        looked(tmp_path)


@pytest.mark.parametrize("stray", ["notes.npz", "half.npy", "config.json", "numbers.csv", "odd.pt"])
def test_a_damaged_file_beside_the_layers_is_named_and_one_of_them_is_missed(tmp_path: Path, stray: str) -> None:
    for layer in (1, 2):
        np.save(tmp_path / f"layer_{layer}.npy", N)
    (tmp_path / stray).write_bytes(b"\x00no numbers")
    lines = finished(described(tmp_path, Choices()))
    assert [line.split()[0] for line in lines if "was left out" in line] == [stray]
    assert any(line.startswith("attention: 2 layers") for line in lines)
    with pytest.raises(FileError, match=stray):  # chosen by hand
        looked(tmp_path / "layer_1.npy", tmp_path / stray)
    (tmp_path / "Layer_10.npy").write_bytes(b"half")
    with pytest.raises(FileError, match=r"Layer_10\.npy: expected"):
        looked(tmp_path)


def test_where_every_file_is_damaged_the_first_is_named(tmp_path: Path) -> None:
    for name in ("a.npy", "b.npz"):
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(FileError, match=r"a\.npy: expected"):
        looked(tmp_path)


def left_out(path: Path, **words: Any) -> list[str]:
    path.write_text(json.dumps({"attention": N.tolist(), **words}))
    contents = looked(path)
    return [offer.text for offer in offers(contents, propose(contents)) if offer.text.startswith("The list")]


def test_lists_of_words_that_fit_nothing_are_named(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    assert left_out(path, tokens=["a", "b", "c"]) == []
    assert left_out(path, tokens=["a", "b"]) == ["The list tokens is left out: 2 words for 3 queries"]
    assert left_out(path, tokens=["a", "b", "c"], key_tokens=["a"]) == [
        "The list key_tokens is left out: 1 word for 3 queries"
    ]
    assert left_out(path, tokens=["a", "", "c"]) == ["The list tokens is left out: some of its words are empty"]
    # of the sentences of a batch each has its own
    assert left_out(path, tokens=[["a", "b", "c"], ["a", "b"]]) == []
