"""Contents of files that are not there."""

from __future__ import annotations

from typing import Any

from attn_gui.model.tensors.info import Contents, Peek, TensorInfo


def contents(
    *, path: str = "/somewhere/file.npz", dtype: str = "float32", words: Any = None, **shapes: Any
) -> Contents:
    """Tensors by their names and shapes; with a Peek, or another dtype, beside the shape."""
    tensors = []
    for name, what in shapes.items():
        shape, *more = what if what and isinstance(what[0], tuple) else (what,)
        name = name.replace("__", ".")
        own = next((each for each in more if isinstance(each, str)), dtype)
        peek = next((each for each in more if isinstance(each, Peek)), None)
        tensors.append(TensorInfo(name, shape, own, "file.npz", name, peek))
    return Contents(path, (), tuple(tensors), words or {})


def sums(*axes: bool) -> Peek:
    return Peek(0.0, 1.0, sums=axes)


FLAGS = Peek(0.0, 1.0, flags=True)
