"""The arrays of one layer of one attention, as a reading says: views of what lies in the file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath

import numpy as np

from attn_gui.files.errors import FileError
from attn_gui.files.tensors.stored import Array, Stored, usable
from attn_gui.model.mapped import ChangedFile, fetched
from attn_gui.model.tensors.axes import Axis, Role
from attn_gui.model.tensors.info import Contents
from attn_gui.model.tensors.reading import Part, Reading
from attn_gui.model.tensors.sizes import Sizes
from attn_gui.model.tensors.steps import Step, applied, steps_to, written

# of all tensors together, what is read into memory; what is more is mapped
IN_MEMORY = 256_000_000
# the parts of an experiment by the roles that give them
LETTERS: Mapping[Role, str] = {Role.WEIGHTS: "N", Role.SCORES: "A", Role.Q: "Q", Role.K: "K", Role.V: "V"}


class Arrays:
    """Tensors of a file: what is asked for is read into memory, or left where it lies where all are too many.

    What is no part of an experiment by itself (a mask, token ids) is always read.
    """

    def __init__(self, contents: Contents, stored: Mapping[str, Stored], reading: Reading) -> None:
        self._contents = contents
        self._stored = stored
        self._reading = reading
        names = {name for part in reading.used() for name in part.tensors}
        self._mapped = sum(contents.tensor(name).bytes for name in names) > IN_MEMORY
        self._whole: dict[str, Array] = {}

    def part(self, part: Part, target: Role, layer: int | None, sizes: Sizes) -> Array:
        """One part of a layer: [heads, queries, keys], or [heads, rows, size]; raises FileError."""
        name, steps = self._steps(part, target, layer, sizes)
        if name not in self._whole:
            self._whole[name] = self._stored[name].get(True)
        array = applied(self._whole[name], steps)
        if not self._mapped or target not in LETTERS:
            # a copy of this part alone, which does not keep all layers in memory, nor the file open
            try:
                array = np.array(fetched(array), dtype=array.dtype.newbyteorder("="), order="C")
            except ChangedFile as error:
                raise FileError(error.path, "", error.expected, error.received) from error
        array = usable(array)
        array.flags.writeable = False
        return array

    def source(self, part: Part, target: Role, layer: int | None, sizes: Sizes) -> str:
        """The same as Python; empty where numpy and torch have no words for it."""
        name, steps = self._steps(part, target, layer, sizes)
        stored, tensor = self._stored[name], self._contents.tensor(name)
        path = PurePath(self._contents.path)
        file = f"{path.name}/{tensor.file}" if self._contents.files else path.name
        loads = stored.source(file)
        return written(loads, steps, torch=stored.torch) if loads else ""

    def _steps(self, part: Part, target: Role, layer: int | None, sizes: Sizes) -> tuple[str, list[Step]]:
        at = part.layers.index(layer) if part.layers and layer in part.layers else 0
        name = part.tensors[at]
        steps = steps_to(
            target,
            part,
            self._contents.tensor(name).shape,
            layer=0 if layer is None else layer,
            batch=self._reading.batch,
            heads=sizes.heads or 1,
            kv_heads=sizes.kv_heads or 1,
        )
        return name, steps


def found_parts(reading: Reading, group: str) -> dict[Role, Part]:
    """The part that each array of an attention comes from, Q, K and V also out of fused ones."""
    found: dict[Role, Part] = {}
    for part in reading.used(group):
        assert part.role is not None
        if part.role in (Role.QKV, Role.KV):
            for role in (Role.Q, Role.K, Role.V)[part.role is Role.KV :]:
                found.setdefault(role, part)
        else:
            found[part.role] = part
    return found


def has_layer(part: Part, layer: int | None) -> bool:
    """Whether a part has anything of a layer: by itself, in an axis, or the same for all layers."""
    return not part.layers or layer in part.layers


def token_ids(arrays: Arrays, reading: Reading, group: str, layer: int | None, sizes: Sizes) -> tuple[int, ...] | None:
    """The ids of the tokens, where the file has them."""
    part = found_parts(reading, group).get(Role.IDS)
    if part is None or not has_layer(part, layer):
        return None
    return tuple(int(number) for number in arrays.part(part, Role.IDS, layer, sizes))


def ends_of(path: str, arrays: Arrays, part: Part, sizes: Sizes, count: int) -> Array:
    """The number of its sequence for each of ``count`` tokens, from cu_seqlens; raises FileError."""
    ends = arrays.part(part, Role.SEQUENCES, None, sizes).astype(np.int64).reshape(-1)
    if ends.size < 2 or ends[0] != 0 or (np.diff(ends) < 0).any() or ends[-1] != count:
        expected = f"numbers that rise from 0 to the {count} tokens"
        raise FileError(path, part.tensors[0], expected, " ".join(map(str, ends[:8])))
    return np.searchsorted(ends[1:], np.arange(count), side="right")


def is_row(part: Part, array: Array) -> bool:
    """Whether a mask says the same for all queries and heads."""
    return array.shape[0] == 1 and array.shape[1] == 1 and (Axis.QUERY not in part.axes or array.shape[2] > 1)
