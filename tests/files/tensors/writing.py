"""Arrays written as the programs do that people get them from, by numpy, safetensors, torch and csv themselves."""

from __future__ import annotations

import csv
import json
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import save_file

from attn_gui.files.tensors.looking import look
from attn_gui.files.tensors.opening import session_of
from attn_gui.model.session import Session
from attn_gui.model.tensors.info import Contents
from attn_gui.model.tensors.reading import Reading

Array = NDArray[Any]
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def tensor_of(array: Array) -> torch.Tensor:
    if array.dtype == BFLOAT16:
        return torch.from_numpy(array.astype(np.float32)).to(torch.bfloat16)
    return torch.from_numpy(np.array(array, dtype=array.dtype.newbyteorder("=")))


def write(folder: Path, form: str, arrays: Mapping[str, Array]) -> Path:
    """``arrays`` in one file (or folder) of a form; what comes out is to be the same whatever the form is."""
    path = folder / f"tensors{form}"
    if form == ".npz":
        np.savez(path, **arrays)
    elif form == ".packed.npz":
        np.savez_compressed(path, **arrays)
    elif form == ".safetensors":
        save_file({name: tensor_of(array).contiguous() for name, array in arrays.items()}, path)
    elif form in (".pt", ".pth"):
        # as they lie in the notebook, views and all
        torch.save({name: tensor_of(array) for name, array in arrays.items()}, path)
    elif form == ".json":
        path.write_text(json.dumps({name: array.astype(float).tolist() for name, array in arrays.items()}))
    else:
        assert form == "folder"
        path.mkdir(exist_ok=True)
        for name, array in arrays.items():
            np.save(path / f"{name}.npy", array)
    return path


def write_csv(path: Path, rows: list[list[Any]], mark: str = ",") -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=mark).writerows(rows)
    return path


def finished(steps: Generator[float, None, Any]) -> Any:
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def looked(*paths: Path) -> Contents:
    return finished(look(paths))


def opened(contents: Contents, reading: Reading) -> Session:
    return finished(session_of(contents, reading))
