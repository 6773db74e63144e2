"""What an Origin keeps is enough to get the arrays again, and to tell that a file is another."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
import safetensors.torch
import torch

import attn_gui.files.csv_reader
from attn_gui.files.errors import FileError
from attn_gui.files.session import load, save
from attn_gui.files.tensors import digest
from attn_gui.files.tensors.again import arrays_of
from attn_gui.model.mapped import is_mapped
from attn_gui.model.origin import Origin
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.model.tensors.proposals import propose
from tests.files.tensors.writing import BFLOAT16, looked, opened, write

NAMES: dict[str, Any] = {
    "np": np,
    "torch": torch,
    "safetensors": safetensors,
    "json": json,
    "Path": Path,
    "attn_gui": attn_gui,
}


def session(path: Path, **reading: Any) -> Session:
    contents = looked(path)
    return opened(contents, replace(propose(contents), **reading))


def weights(*shape: int) -> Any:
    numbers = np.random.default_rng(0).random(shape)
    return (numbers / numbers.sum(-1, keepdims=True)).astype(np.float32)


def evaluated(named: NamedExperiment, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.chdir(folder)
    assert named.origin is not None
    return {part: eval(text, NAMES) for part, text in named.origin.expressions.items()}


@pytest.mark.parametrize("form", [".npz", ".safetensors", ".pt", ".json", "folder"])
def test_source_expressions_are_true(tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    q, k, v = (rng.random((2, 5, 4, 3)).astype(np.float32) for _ in range(3))
    for arrays, parts in (
        ({"attn": weights(3, 2, 4, 5)}, {"N"}),
        ({"q": q, "k": k, "v": v, "attn": weights(2, 4, 5, 5)}, {"Q", "K", "V"}),
        ({"qkv": rng.random((2, 5, 36)).astype(np.float32)}, {"Q", "K", "V"}),
    ):
        folder = tmp_path / "-".join(arrays)
        folder.mkdir()
        for named in session(write(folder, form, arrays), batch=0, heads=4).experiments:
            found = evaluated(named, folder, monkeypatch)
            assert set(found) == parts
            for part, array in found.items():
                np.testing.assert_array_equal(np.asarray(array, float), np.asarray(named.opened[part], float))


def test_the_expression_of_a_layer_and_of_transposed_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.save(tmp_path / "attn.npy", weights(13, 2, 4, 4))
    named = session(tmp_path / "attn.npy").experiments[12]
    assert named.origin is not None
    assert named.origin.expressions == {"N": "np.load('attn.npy')[12]"}
    np.save(tmp_path / "turned.npy", weights(2, 4, 6).swapaxes(1, 2))
    (named,) = session(tmp_path / "turned.npy").experiments
    found = evaluated(named, tmp_path, monkeypatch)
    np.testing.assert_array_equal(found["N"], weights(2, 4, 6))
    torch.save(torch.from_numpy(weights(3, 2, 4, 4)).bfloat16().unbind(), tmp_path / "a.pt")
    for layer, named in enumerate(session(tmp_path / "a.pt").experiments):
        assert named.origin is not None
        assert named.origin.expressions == {"N": f"torch.load('a.pt', weights_only=True)[{layer}]"}
        np.testing.assert_array_equal(
            evaluated(named, tmp_path, monkeypatch)["N"].float(), named.opened["N"].astype("f4")
        )
        assert named.opened["N"].dtype == BFLOAT16
    (tmp_path / "a.csv").write_text(",a,b\nc,0.5,0.5\nd,1,0\n")
    (named,) = session(tmp_path / "a.csv").experiments
    np.testing.assert_array_equal(evaluated(named, tmp_path, monkeypatch)["N"], named.opened["N"])


def test_a_session_keeps_where_the_arrays_lie(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    path = tmp_path / "data" / "attn.npy"
    np.save(path, weights(2, 3, 200, 200))
    made = session(path)
    save(made, tmp_path / "a.attn")
    assert (tmp_path / "a.attn").stat().st_size < 30_000
    for named, again in zip(made.experiments, load(tmp_path / "a.attn").experiments, strict=True):
        np.testing.assert_array_equal(again.experiment.source.parts()["N"], named.experiment.source.parts()["N"])
        assert again.place == named.place
    # both moved together
    (tmp_path / "there").mkdir()
    (tmp_path / "data").rename(tmp_path / "there" / "data")
    (tmp_path / "a.attn").rename(tmp_path / "there" / "a.attn")
    assert len(load(tmp_path / "there" / "a.attn").experiments) == 2


def test_a_file_that_is_missing_or_another_is_told_by_name(tmp_path: Path) -> None:
    path = tmp_path / "attn.npy"
    np.save(path, weights(3, 4, 4))
    save(session(path), tmp_path / "a.attn")
    changed = weights(3, 4, 4)
    changed[0, 0, 0] += 1e-3
    np.save(path, changed)
    with pytest.raises(FileError, match=r"attn\.npy in .* is another than the one that the session was made") as caught:
        load(tmp_path / "a.attn")
    assert "say where it is" in str(caught.value)
    path.unlink()
    with pytest.raises(FileError, match=r"attn\.npy.* is neither at"):
        load(tmp_path / "a.attn")
    np.save(path, weights(3, 4, 4))
    assert load(tmp_path / "a.attn").experiment.heads == 3


def test_what_was_edited_is_kept_however_often_it_is_saved(tmp_path: Path) -> None:
    q, k, v = np.random.default_rng(0).random((3, 2, 5, 4))
    made = session(write(tmp_path, ".npz", {"q": q, "k": k, "v": v}))
    changed = np.array(q)
    changed[0, 0, 0] = 99
    experiment = made.experiment
    made = made.with_experiment(replace(experiment, source=replace(experiment.source, Q=changed)))
    for _ in range(3):
        save(made, tmp_path / "a.attn")
        made = load(tmp_path / "a.attn")
        for name, expected in (("Q", changed), ("K", k), ("V", v)):
            np.testing.assert_array_equal(made.experiment.source.parts()[name], expected)


def test_another_layer_s_file_does_not_matter(tmp_path: Path) -> None:
    for layer in range(3):
        np.save(tmp_path / f"layer_{layer}.npy", weights(2, 4, 4))
    first, second, _ = session(tmp_path).experiments
    np.save(tmp_path / "layer_1.npy", weights(2, 5, 5))
    np.save(tmp_path / "layer_9.npy", weights(2, 5, 5))
    assert first.origin is not None and second.origin is not None
    np.testing.assert_array_equal(arrays_of(first.origin)["N"], weights(2, 4, 4))
    with pytest.raises(FileError, match="the file that the session was made from"):
        arrays_of(second.origin)


def test_an_origin_of_somebody_who_means_harm(tmp_path: Path) -> None:
    np.save(tmp_path / "attn.npy", weights(3, 4, 4))
    origin = session(tmp_path / "attn.npy").named.origin
    assert origin is not None
    (part,) = origin.reading["parts"]

    def refused(message: str, **changes: Any) -> None:
        with pytest.raises(FileError, match=message):
            arrays_of(replace(origin, reading={**origin.reading, "parts": [part | changes]}))

    refused("the name of a file in the folder", file="../attn.npy")
    refused("the name of a file in the folder", file="..\\attn.npy")
    refused("some of layer", axes=["head", "query", "exit()"])
    refused("read as 2", axes=["query", "key"])
    refused("a tensor of this name", key="other")
    refused("origin reading role", role="x")
    for name, value in (("batch", -1), ("batch", 1 << 80), ("heads", 0), ("layer", "1"), ("parts", {}), ("parts", [1])):
        with pytest.raises(FileError):
            arrays_of(replace(origin, reading={**origin.reading, name: value}))
    with pytest.raises(FileError, match="a file of this computer"):
        arrays_of(replace(origin, path="\\\\elsewhere\\share\\attn.npy"))
    with pytest.raises(FileError, match="a file of this computer"):
        arrays_of(replace(origin, path="//elsewhere/share/attn.npy"))
    if os.path.exists("/dev/zero"):
        with pytest.raises(FileError, match="a device"):
            arrays_of(replace(origin, path="/dev/zero"))
    with pytest.raises(FileError, match="another"):
        arrays_of(replace(origin, digest="sha256:" + "0" * 64))


def test_digests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"abc" * 1000)
    assert digest.digest_of([path]) == "sha256:" + hashlib.sha256(b"abc" * 1000).hexdigest()
    monkeypatch.setattr(digest, "WHOLE_BYTES", 1000)
    monkeypatch.setattr(digest, "PART_BYTES", 10)
    data = np.random.default_rng(0).bytes(100_000)
    path.write_bytes(data)
    starts = [(100_000 - 10) * part // 255 for part in range(256)]
    expected = hashlib.sha256(b"100000" + b"".join(data[start : start + 10] for start in starts)).hexdigest()
    assert digest.digest_of([path]) == f"sha256-parts:{expected}"
    assert starts[0] == 0 and starts[-1] + 10 == len(data)
    other = tmp_path / "b.bin"
    other.write_bytes(b"abc")
    both = digest.digest_of([path, other])
    assert both.startswith("sha256-parts:") and both != digest.digest_of([other, path])


def test_what_is_mapped_stays_mapped_when_a_session_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.save(tmp_path / "attn.npy", weights(3, 2, 4, 4))
    made = session(tmp_path / "attn.npy")
    save(made, tmp_path / "a.attn")
    monkeypatch.setattr("attn_gui.files.tensors.layer_arrays.IN_MEMORY", 10)
    again = load(tmp_path / "a.attn")
    assert all(is_mapped(named.experiment.source.parts()["N"]) for named in again.experiments)


def test_each_layer_holds_its_own_numbers_alone(tmp_path: Path) -> None:
    np.save(tmp_path / "attn.npy", weights(8, 2, 4, 4))
    save(session(tmp_path / "attn.npy"), tmp_path / "a.attn")
    for made in (session(tmp_path / "attn.npy"), load(tmp_path / "a.attn")):
        for named in made.experiments:
            held = named.experiment.source.parts()["N"]
            assert held.base is None and held.nbytes == 2 * 4 * 4 * 4


@pytest.mark.parametrize(("path", "digest"), [("", "sha256:0"), ("x" * 5000, "sha256:0"), ("a", "md5:0")])
def test_origins_that_are_none(path: str, digest: str) -> None:
    with pytest.raises(ValueError, match="origin"):
        Origin(path, digest, {})
