"""GGUF files, read once: transformers reads one three times over, for config, tokenizer and weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np


@contextmanager
def read_once(beat: Callable[[], None]) -> Iterator[None]:
    """While within, a GGUF file that was read is not read again, nor the table of its tensors' names made again.

    A vocabulary is some 100,000 fields, each of which takes the library several slices of the mapped file. ``beat`` is
    called at each of these and may raise to stop. Raises ImportError without the package gguf.
    """
    gguf: Any = import_module("gguf")

    class Reader(gguf.GGUFReader):
        """Slices a plain array, which is several times faster than a mapped one and the same memory."""

        @property
        def data(self) -> Any:
            beat()
            return self._data

        @data.setter
        def data(self, mapped: Any) -> None:
            self._data = np.asarray(mapped)

    kept = {name: getattr(gguf, name) for name in ("GGUFReader", "get_tensor_name_map")}
    gguf.GGUFReader = cache(Reader)
    gguf.get_tensor_name_map = cache(kept["get_tensor_name_map"])
    try:
        yield
    finally:
        for name, value in kept.items():
            setattr(gguf, name, value)
