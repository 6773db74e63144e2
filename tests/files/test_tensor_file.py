"""Tensors in .npz and .safetensors files, by the names that people give them."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from attn_gui.files.errors import FileError
from attn_gui.files.tensor_file import NAMES, read
from attn_gui.model.masks import Causal, Imported
from attn_gui.model.precision import Precision

Q, K, V = np.random.RandomState(0).standard_normal((3, 2, 4, 3)).astype(np.float32)
OUTPUT = np.zeros((2, 4, 3), np.float32)


def written(path: Path, arrays: dict[str, Any]) -> Path:
    if path.suffix == ".npz":
        np.savez(path, **arrays)
    else:
        save_file({name: torch.tensor(np.ascontiguousarray(array)) for name, array in arrays.items()}, path)
    return path


@pytest.mark.parametrize("ending", [".npz", ".safetensors"])
@pytest.mark.parametrize("names", [("Q", "K", "V", "output"), ("query", "Keys", "VALUE", "attn-output")])
def test_names_and_numbers(tmp_path: Path, ending: str, names: tuple[str, ...]) -> None:
    path = written(tmp_path / f"a{ending}", dict(zip(names, (Q, K, V, OUTPUT), strict=True)) | {"loss": np.ones(1)})
    found = read(path)
    assert set(found.arrays) == {"Q", "K", "V", "output"}
    assert found.others == ("loss",)
    np.testing.assert_array_equal(found.arrays["K"].values, K)
    assert found.arrays["output"].precision is Precision.FLOAT32
    question = found.question(bases=[5e5])
    assert (question.experiment.heads, question.bases, question.masked) == (2, (5e5,), False)


@pytest.mark.parametrize("ending", [".npz", ".safetensors"])
@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64])
def test_masks_of_flags(tmp_path: Path, ending: str, dtype: Any) -> None:
    for cells, rule in ((np.tri(4), Causal()), (np.zeros((4, 4)), None)):
        arrays = {"Q": Q, "K": K, "V": V, "mask": cells.astype(dtype), "output": OUTPUT}
        experiment = read(written(tmp_path / f"a{ending}", arrays)).question().experiment
        if rule is not None:
            assert experiment.rule == rule
        else:  # flags of which none is set forbid everything
            assert isinstance(experiment.rule, Imported)
            assert not experiment.rule.cells.any()


def test_masks_of_numbers(tmp_path: Path) -> None:
    cells = np.where(np.tri(4) > 0, 0.0, -1e9).astype(np.float32)
    experiment = (
        read(written(tmp_path / "a.npz", {"Q": Q, "K": K, "V": V, "mask": cells, "y": OUTPUT})).question().experiment
    )
    assert experiment.rule == Causal()
    assert experiment.scoring.biases == ()
    cells = np.where(np.tri(4) > 0, 0.5, -np.inf)
    experiment = (
        read(written(tmp_path / "a.npz", {"Q": Q, "K": K, "V": V, "mask": cells, "y": OUTPUT})).question().experiment
    )
    assert experiment.rule == Causal()
    assert experiment.scoring.biases[0].kind == "additive"


def test_sixteen_bits_stay_known(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    half = torch.tensor(OUTPUT)
    save_file({"weights": half.to(torch.bfloat16), "scores": half.half(), "output": half.double()}, path)
    found = read(path).arrays
    assert [found[name].precision for name in ("weights", "scores", "output")] == [
        Precision.BFLOAT16,
        Precision.FLOAT16,
        Precision.FLOAT64,
    ]


def refusal(path: Path) -> str:
    with pytest.raises(FileError) as caught:
        read(path).question()
    assert str(caught.value).startswith(str(path))
    return str(caught.value).removeprefix(f"{path}: ")


def test_what_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    assert "does not exist" in refusal(path)
    assert "a name that ends with .npz or .safetensors" in refusal(tmp_path / "a.csv")
    written(path, {"Q": Q, "keys": K, "loss": Q})
    assert refusal(path) == "expected arrays called V, received Q, K, loss"
    written(path, {"Q": Q, "K": K, "V": V})
    assert refusal(path) == "numbers to explain: expected scores, weights or output, received none of them"
    written(path, {"Q": Q, "K": K, "V": V, "output": OUTPUT[:, :3]})
    assert refusal(path).startswith("output: expected shape (2, 4, 3) or (4, 2, 3) or (4, 6), received (2, 3, 3)")
    written(path, {"Q": Q, "query": Q})
    assert refusal(path) == "query: expected one array for Q, received another one, 'Q'"
    written(path, {"Q": Q[:, :, :2], "K": K, "V": V, "output": OUTPUT})
    assert refusal(path).startswith("K: expected rows as long as Q's, 2, received 3")
    written(path, {"Q": Q, "K": K, "V": V, "mask": np.ones((3, 3)), "output": OUTPUT})
    assert refusal(path).startswith(
        "mask: expected shape (2, 4, 4) or (4, 4), or what broadcasts to it, received (3, 3)"
    )


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, Q=np.array([{"a": 1}], dtype=object))
    assert "an array of numbers or flags" in refusal(path)


@pytest.mark.parametrize("name", ["Q", "K", "V", "scores", "mask"])
@pytest.mark.parametrize("ending", [".npz", ".safetensors"])
def test_complex_numbers_are_refused(tmp_path: Path, ending: str, name: str) -> None:
    arrays = {"Q": Q, "K": K, "V": V, "scores": np.ones((2, 4, 4)), "mask": np.ones((4, 4))}
    path = written(tmp_path / f"a{ending}", arrays | {name: arrays[name].astype(np.complex64)})
    message = refusal(path)
    assert message.startswith(name)
    assert "complex" in message and "numbers" in message


def test_sizes_are_checked_first(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    header = b"\x93NUMPY\x01\x00"
    text = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 1000), }"
    text += b" " * (118 - len(text) - 1) + b"\n"
    with ZipFile(path, "w") as zipped:
        zipped.writestr("Q.npy", header + struct.pack("<H", len(text)) + text)
    assert "8000000000000 bytes of numbers" in refusal(path)
    hostile = tmp_path / "a.safetensors"
    entry = {"Q": {"dtype": "F64", "shape": [10**9, 1000], "data_offsets": [0, 8 * 10**12]}}
    text = json.dumps(entry).encode()
    hostile.write_bytes(struct.pack("<Q", len(text)) + text)
    assert "8 TB" in refusal(hostile) or "8e+03 GB" in refusal(hostile)


def test_damaged_files(tmp_path: Path) -> None:
    whole = written(tmp_path / "whole.npz", {"Q": Q, "K": K, "V": V, "output": OUTPUT}).read_bytes()
    for name, content in (("cut.npz", whole[: len(whole) // 2]), ("text.npz", b"hello"), ("none.safetensors", b"")):
        path = tmp_path / name
        path.write_bytes(content)
        assert refusal(path)


def test_each_name_stands_for_one_thing() -> None:
    names = [name for known in NAMES.values() for name in known]
    assert len(names) == len(set(names))
    assert all(name == name.lower() for name in names)
