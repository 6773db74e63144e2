"""Cosines and sines of rotary positions in a file, or in one file each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from attn_gui.files import checkpoint
from attn_gui.files.arrays import arrays_in
from attn_gui.files.checkpoint import safetensors_file, torch_file
from attn_gui.files.errors import FileError
from attn_gui.model.errors import ExperimentError
from attn_gui.model.rotary.imported import ImportedRotary
from attn_gui.model.rotary_import import rotary_of

Array = NDArray[Any]

ENDINGS = (".npz", ".npy", *checkpoint.ENDINGS)
# what each is called, in capitals or not, after whatever stands before the last point
NAMES = {"cos": ("cos", "cos_cached", "freqs_cos"), "sin": ("sin", "sin_cached", "freqs_sin")}
_AS_WRITTEN = (("cos", "sin"), ("Cos", "Sin"), ("COS", "SIN"))


def read(paths: Sequence[str | Path], *, layout: str = "halves", d_k: int | None = None) -> ImportedRotary:
    """The rotary position that ``paths`` hold: one ``.npz``, ``.safetensors``, ``.pt`` or ``.pth`` with arrays called
    cos and sin, or two ``.npy`` whose names say which is which, the second of which is found beside the first.

    layout, d_k: as for :func:`~attn_gui.model.rotary_import.rotary_of`. Nothing is unpickled but tensors, and nothing
    is read before its size was found to be true. Raises FileError.
    """
    files = [Path(path) for path in paths]
    ending = files[0].suffix.casefold()
    if ending not in ENDINGS:
        raise FileError(files[0], "", f"a name that ends with {', '.join(ENDINGS)}", repr(files[0].suffix) or "none")
    if ending == ".npy":
        cos, sin = (arrays_in(file)[""] for file in _pair(files))
    elif len(files) > 1:
        raise FileError(files[1], "", "one file, or one .npy for cos and one for sin", f"{len(files)} files")
    else:
        cos, sin = _both(files[0], ending)
    try:
        return rotary_of(cos, sin, layout=layout, d_k=d_k)
    except ExperimentError as error:
        raise FileError(files[0], error.field, error.expected, error.received) from error


def _both(path: Path, ending: str) -> tuple[Array, Array]:
    if ending == ".npz":
        arrays = arrays_in(path)
        cos, sin = _named(path, arrays)
        return arrays[cos], arrays[sin]
    kind = safetensors_file if ending == checkpoint.ENDINGS[-1] else torch_file
    declared = kind.look(path).tensors
    names = _named(path, declared)
    for name in names:
        if not declared[name].is_real:
            raise FileError(path, name, "real numbers", declared[name].dtype)
    tensors = kind.load(path, names)
    return tensors[names[0]].array, tensors[names[1]].array


def _named(path: Path, names: Iterable[str]) -> tuple[str, str]:
    """The names in the file of cos and sin."""
    names = list(names)
    found = []
    for part, known in NAMES.items():
        those = [name for name in names if name.rpartition(".")[2].lower() in known]
        if len(those) != 1:
            raise FileError(path, "", f"one array called {part}", ", ".join(those or names) or "no array")
        found += those
    return found[0], found[1]


def _pair(files: list[Path]) -> tuple[Path, Path]:
    """The files of cos and of sin."""
    by_part = {_part(file): file for file in files}
    if len(files) == 1:
        (part, file), *_ = by_part.items()
        for cos, sin in _AS_WRITTEN:
            here, there = (cos, sin) if part == "cos" else (sin, cos)
            if here in file.stem:
                by_part["sin" if part == "cos" else "cos"] = file.with_name(file.name.replace(here, there))
    if len(files) > 2 or len(by_part) < 2:
        received = " and ".join(file.name for file in files)
        raise FileError(files[-1], "", "one file for cos and one for sin", received)
    return by_part["cos"], by_part["sin"]


def _part(file: Path) -> str:
    # cos first: "cosine" holds both
    for part in NAMES:
        if part in file.stem.lower():
            return part
    raise FileError(file, "", "a name with cos or sin in it", repr(file.name))
