"""``.safetensors``: the header says where each tensor lies, and there it stays."""

from __future__ import annotations

from pathlib import Path

from attn_gui.files.checkpoint import safetensors_file
from attn_gui.files.checkpoint.declared import Declared
from attn_gui.files.tensors.stored import TYPES, Opened, Region, Stored


def open_safetensors(path: Path) -> Opened:
    """The tensors of a ``.safetensors``; raises FileError."""
    contents, starts = safetensors_file.places(path)
    return Opened([_stored(path, name, declared, starts[name]) for name, declared in contents.tensors.items()])


def _stored(path: Path, name: str, declared: Declared, start: int) -> Stored:
    dtype = TYPES[declared.dtype].newbyteorder("<")
    # numpy has no names for the others
    torch = dtype.kind not in "fiubc"
    package = "torch" if torch else "numpy"

    def source(file: str) -> str:
        return f"safetensors.{package}.load_file({file!r})[{name!r}]"

    return Region(path, start, declared.shape, dtype).stored(name, source, torch=torch)
