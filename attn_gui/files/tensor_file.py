"""Tensors of an attention in a file: queries, keys, values, a mask, and what somebody's program made of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_gui.files.arrays import arrays_in
from attn_gui.files.checkpoint import safetensors_file
from attn_gui.files.checkpoint.declared import StateTensor
from attn_gui.files.errors import FileError
from attn_gui.model.errors import ExperimentError
from attn_gui.model.precision import Precision
from attn_gui.model.question import Numbers, Question, question
from attn_gui.model.tensors.axes import Role
from attn_gui.model.tensors.names import NAMES as NAMES_OF_ROLES

ENDINGS = (".npz", ".safetensors")
# what each is called, in capitals or not, with - and . for _
NAMES = {
    part: NAMES_OF_ROLES[role]
    for part, role in (
        ("Q", Role.Q),
        ("K", Role.K),
        ("V", Role.V),
        ("mask", Role.MASK),
        ("scores", Role.SCORES),
        ("weights", Role.WEIGHTS),
        ("output", Role.OUTPUT),
    )
}
STAGES = ("scores", "weights", "output")


@dataclass(frozen=True, eq=False)
class TensorFile:
    """arrays: by their part (:data:`NAMES`), those that the file holds. others: names that mean nothing here.

    flags: whether the mask is one of flags, and not of numbers that are added. told: by their part, the names of those
    that a person said to be it.
    """

    path: Path
    arrays: Mapping[str, Numbers]
    flags: bool
    others: tuple[str, ...]
    told: Mapping[str, str]

    def question(self, **settings: Any) -> Question:
        """The question that the file asks; ``settings`` as for :func:`~attn_gui.model.question.question`.

        Raises FileError where Q, K or V is missing, where there is nothing to explain, or where shapes do not fit.
        """
        missing = [name for name in ("Q", "K", "V") if name not in self.arrays]
        if missing:
            raise FileError(self.path, "", f"arrays called {' and '.join(missing)}", self._received or "no array")
        Q, K, V = (self.arrays[name].values for name in "QKV")
        given: dict[str, Any] = {name: self.arrays[name] for name in STAGES if name in self.arrays}
        try:
            return question(Q, K, V, mask=self.mask, **given, **settings)
        except ExperimentError as error:
            raise FileError(self.path, error.field, error.expected, error.received) from error

    @property
    def _received(self) -> str:
        """What there is, and as what it is read where its name says something else."""
        used = [f"{self.told[part]} (read as {part})" if part in self.told else part for part in self.arrays]
        left = [name if _part_of(name) is None else f"{name} (read as nothing)" for name in self.others]
        return ", ".join(used + left)

    @property
    def mask(self) -> NDArray[Any] | None:
        """The mask, bool where it is one of flags."""
        if "mask" not in self.arrays:
            return None
        values = self.arrays["mask"].values
        return values != 0 if self.flags else values


def read(path: str | Path, told: Mapping[str, str | None] | None = None) -> TensorFile:
    """The tensors of a ``.npz`` or ``.safetensors`` file, by their names; nothing is unpickled.

    told: by the name of an array the part that it is, whatever its name says; None for none. Sizes are checked before
    anything is allocated. Raises FileError.
    """
    told = told or {}
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise FileError(path, "", f"a name that ends with {' or '.join(ENDINGS)}", repr(path.suffix) or "none")
    if ending == ".npz":
        every = arrays_in(path)
        parts, others = _parts(path, every, told)
        arrays = {part: Numbers.of(every[name]) for part, name in parts.items()}
        whole = {part for part, name in parts.items() if every[name].dtype.kind != "f"}
    else:
        declared = safetensors_file.look(path).tensors
        parts, others = _parts(path, declared, told)
        tensors = safetensors_file.load(path, tuple(parts.values()))
        arrays = {part: _of_tensor(tensors[name]) for part, name in parts.items()}
        whole = {part for part, name in parts.items() if not declared[name].is_real}
    flags = "mask" in whole and bool(np.isin(arrays["mask"].values, (0, 1)).all())
    return TensorFile(path, arrays, flags, others, {part: name for part, name in parts.items() if name in told})


def _part_of(name: str) -> str | None:
    """The part that an array is by its name."""
    plain = name.lower().replace("-", "_").replace(".", "_")
    return next((part for part, known in NAMES.items() if plain in known), None)


def _parts(
    path: Path, names: Collection[str], told: Mapping[str, str | None]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The name in the file of each part, and the names that are none's."""
    missing = next((name for name in told if name not in names), None)
    if missing is not None:
        raise FileError(path, "", f"the name of an array ({', '.join(names)})", repr(missing))
    found: dict[str, str] = {}
    others = []
    # those that are told first: what only goes by its name gives way to them
    for name in sorted(names, key=lambda name: name not in told):
        part = told.get(name, _part_of(name))
        if part is None or (name not in told and found.get(part) in told):
            others.append(name)
        elif part in found:
            raise FileError(path, name, f"one array for {part}", f"another one, {found[part]!r}")
        else:
            found[part] = name
    return found, tuple(others)


def _of_tensor(tensor: StateTensor) -> Numbers:
    precision = {"bfloat16": Precision.BFLOAT16, "float16": Precision.FLOAT16, "float32": Precision.FLOAT32}
    return Numbers(np.asarray(tensor.array), precision.get(tensor.dtype, Precision.FLOAT64))
