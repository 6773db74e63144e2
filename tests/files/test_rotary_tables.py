"""Cosines and sines in files: every kind of file, found by name, refused in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors.torch import save_file

from attn_gui.files.errors import FileError
from attn_gui.files.rotary_tables import read
from attn_gui.model.rotary.frequencies import Frequencies

COS, SIN = Frequencies().tables(np.arange(6), 8)
ENDINGS = [".npz", ".safetensors", ".pt", ".pth", ".PT"]


def written(path: Path, arrays: dict[str, Any]) -> Path:
    if path.suffix == ".npz":
        np.savez(path, **arrays)
        return path
    tensors = {name: torch.tensor(np.ascontiguousarray(array)) for name, array in arrays.items()}
    if path.suffix == ".safetensors":
        save_file(tensors, path)
    else:
        torch.save(tensors, path)
    return path


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("names", [("cos", "sin"), ("COS", "Sin"), ("model.rotary_emb.cos_cached", "a.sin_cached")])
def test_one_file_by_its_names(tmp_path: Path, ending: str, names: tuple[str, str]) -> None:
    arrays = {names[0]: np.hstack([COS, COS])[None], names[1]: np.hstack([SIN, SIN])[None], "inv_freq": np.ones(4)}
    found = read([written(tmp_path / f"rotary{ending}", arrays)], layout="interleaved", d_k=8)
    assert found.layout == "halves"
    np.testing.assert_array_equal(found.cos, COS)
    np.testing.assert_array_equal(found.sin, SIN)


@pytest.mark.parametrize("names", [("cos", "sin"), ("layer0_Cos", "layer0_Sin"), ("COS", "SIN"), ("cosine", "a sine")])
def test_two_files_whose_names_tell_which_is_which(tmp_path: Path, names: tuple[str, str]) -> None:
    files = [tmp_path / f"{name}.npy" for name in names]
    for file, table in zip(files, (COS, SIN), strict=True):
        np.save(file, table)
    for chosen in (files, files[::-1], files[:1], files[1:]):
        if len(chosen) == 1 and "sine" in names[1]:
            continue  # beside that one there is no file of the same name but for cos and sin
        found = read(chosen)
        np.testing.assert_array_equal(found.cos, COS)
        np.testing.assert_array_equal(found.sin, SIN)


@given(st.data(), st.sampled_from([".npz", ".npy", ".safetensors", ".pt"]), st.sampled_from([np.float32, np.float64]))
def test_every_number_comes_back(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, ending: str, dtype: Any
) -> None:
    folder = tmp_path_factory.mktemp("rotary")
    shape = data.draw(st.tuples(st.integers(1, 5), st.integers(1, 4)))
    numbers = st.floats(-1, 1, width=32)
    cos, sin = (data.draw(hnp.arrays(dtype, shape, elements=numbers)) for _ in range(2))
    doubled = [np.repeat(table, 2, axis=1) for table in (cos, sin)]
    if ending == ".npy":
        paths = [folder / "cos.npy", folder / "sin.npy"]
        for path, table in zip(paths, doubled, strict=True):
            np.save(path, table)
    else:
        paths = [written(folder / f"rotary{ending}", dict(zip(("cos", "sin"), doubled, strict=True)))]
    found = read(paths, layout="interleaved")
    np.testing.assert_array_equal(found.cos, cos)
    np.testing.assert_array_equal(found.sin, sin)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_sixteen_bits(tmp_path: Path, dtype: torch.dtype) -> None:
    tables = {"cos": torch.tensor(COS).to(dtype), "sin": torch.tensor(SIN).to(dtype)}
    path = tmp_path / "rotary.safetensors"
    save_file(tables, path)
    np.testing.assert_array_equal(read([path]).cos, tables["cos"].double().numpy())


def refusal(*paths: Path) -> str:
    with pytest.raises(FileError) as caught:
        read(paths, d_k=8)
    named = next(path for path in paths if str(caught.value).startswith(f"{path}: "))
    return str(caught.value).removeprefix(f"{named}: ")


@pytest.mark.parametrize("ending", [".npz", ".safetensors", ".pt"])
def test_names_that_are_missing_or_stand_for_several(tmp_path: Path, ending: str) -> None:
    path = written(tmp_path / f"a{ending}", {"cos": COS, "phase": SIN})
    assert refusal(path) == "expected one array called sin, received cos, phase"
    written(path, {"a.cos": COS, "b.cos": COS, "sin": SIN})
    assert refusal(path) == "expected one array called cos, received a.cos, b.cos"


def test_files_that_are_no_pair(tmp_path: Path) -> None:
    for name in ("cos.npy", "cos2.npy", "table.npy"):
        np.save(tmp_path / name, COS)
    archive = written(tmp_path / "a.npz", {"cos": COS, "sin": SIN})
    cos, table = tmp_path / "cos.npy", tmp_path / "table.npy"
    assert refusal(table) == "expected a name with cos or sin in it, received 'table.npy'"
    with pytest.raises(FileError, match=r"sin\.npy: expected a file, received a name that does not exist"):
        read([cos])
    expected = "expected one file for cos and one for sin, received cos.npy and cos2.npy"
    assert refusal(cos, tmp_path / "cos2.npy") == expected
    assert refusal(archive, cos) == "expected one file, or one .npy for cos and one for sin, received 2 files"
    assert refusal(cos, archive) == "expected a name with cos or sin in it, received 'a.npz'"
    assert refusal(tmp_path / "a.txt").startswith("expected a name that ends with .npz, .npy, .pt, .pth, .safetensors")


@pytest.mark.parametrize("ending", [".npz", ".safetensors", ".pt"])
def test_what_the_tables_cannot_be(tmp_path: Path, ending: str) -> None:
    path = written(tmp_path / f"a{ending}", {"cos": COS, "sin": SIN[:3]})
    assert refusal(path) == "sin: expected the shape of cos, (6, 4), received shape (3, 4)"
    written(path, {"cos": COS > 0, "sin": SIN})
    assert "received an array of bool" in refusal(path) or refusal(path) == "cos: expected real numbers, received bool"
    written(path, {"cos": np.hstack([COS, SIN]), "sin": np.hstack([SIN, COS])})
    assert refusal(path).startswith("cos and sin: expected a column for each pair of a head's 8 dimensions, at most 4")


def test_complex_numbers_and_pickles(tmp_path: Path) -> None:
    path = written(tmp_path / "a.pt", {"cos": COS + 1j * SIN, "sin": SIN})
    assert refusal(path) == "cos: expected real numbers, received complex128"
    np.savez(tmp_path / "a.npz", cos=np.array([{"a": 1}], dtype=object), sin=SIN)
    assert "an array of numbers or flags" in refusal(tmp_path / "a.npz")
