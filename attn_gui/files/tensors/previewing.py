"""Masks of a file before it is opened: what each meaning allows, and which one is meant."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attn_gui.files.errors import FileError
from attn_gui.files.tensors.implied import Cells, allowed_by_file, attended
from attn_gui.files.tensors.layer_arrays import found_parts, has_layer
from attn_gui.files.tensors.masking import are_flags, arrays_of, rule_of
from attn_gui.files.tensors.stored import Array
from attn_gui.model.mapped import ChangedFile
from attn_gui.model.mask_import import Meaning
from attn_gui.model.tensors.axes import Axis, Role
from attn_gui.model.tensors.checks import problems
from attn_gui.model.tensors.info import Contents, TensorInfo
from attn_gui.model.tensors.mask_source import LOOKED_THROUGH
from attn_gui.model.tensors.problem import source_of
from attn_gui.model.tensors.reading import Part, Reading
from attn_gui.model.tensors.sizes import Sizes, sizes_of

# queries and keys of a preview
PREVIEWED = 512
# cells of a mask that are counted through before it is opened
LARGEST_PREVIEWED = 1 << 25
# fields whose problems leave the arrays as they are
_ELSEWHERE = ("meaning", "tokens", "key_tokens")


@dataclass(frozen=True, eq=False)
class MaskPreview:
    """A mask read with one meaning, together with what the file's own scores or weights block besides.

    allowed: bool [heads or 1, n_q, n_k] (n_q is 1 where the mask is one row for all queries), at most PREVIEWED
    queries and keys of it. per_row: allowed keys of each query of the first head, [n_q]. empty: how many rows, of all
    heads, allow no key at all. biased: whether numbers are added to allowed cells too. agrees: whether the file stores
    weights, and none but 0 where this blocks.
    """

    meaning: Meaning
    allowed: Cells
    per_row: NDArray[np.int64]
    empty: int
    biased: bool
    agrees: bool


def previews(contents: Contents, reading: Reading) -> tuple[MaskPreview, ...]:
    """The first mask, in the first layer, with each meaning that it can have: flags have two, numbers one.

    Empty where the file has no mask. Raises FileError.
    """
    part = next((part for part in reading.used() if part.role is Role.MASK), None)
    if part is None:
        return ()
    sizes = sizes_of(contents, reading, part.group)
    opened = [layer for layer in sizes.layers if reading.layers is None or layer in reading.layers] or sizes.layers
    layer = opened[0] if opened else None
    array = arrays_of(contents, reading, part).part(part, Role.MASK, layer, sizes)
    meanings: tuple[Meaning, ...] = ("allowed", "blocked") if are_flags(array) else ("additive",)
    try:
        own, there = _beside(contents, reading, part.group, layer, sizes)
    except ChangedFile as error:
        raise FileError(error.path, "", error.expected, error.received) from error
    return tuple(_preview(contents, part, array, meaning, own, there) for meaning in meanings)


def proposed(found: Sequence[MaskPreview]) -> Meaning | None:
    """Of several meanings the only one that agrees with the weights, or that leaves every query a key; None else."""
    agreeing = [preview.meaning for preview in found if preview.agrees]
    chosen = agreeing if len(agreeing) == 1 else [preview.meaning for preview in found if not preview.empty]
    return chosen[0] if len(chosen) == 1 < len(found) else None


def cells_of(tensor: TensorInfo, part: Part) -> int:
    """How many cells the mask of one layer and one item of the batch has."""
    apart = (Axis.LAYER, Axis.BATCH)
    return math.prod(count for count, axis in zip(tensor.shape, part.axes, strict=True) if axis not in apart)


def _beside(
    contents: Contents, reading: Reading, group: str, layer: int | None, sizes: Sizes
) -> tuple[Cells | None, Cells | None]:
    """What the numbers of the file leave besides its mask, and where its weights are not 0; None where nothing says.

    Raises ChangedFile and FileError.
    """
    if source_of(reading, group) not in (Role.QKV, Role.SCORES):
        return None, None
    if any(problem.field not in _ELSEWHERE for problem in problems(contents, reading)):
        return None, None
    found = found_parts(reading, group)
    parts = [found[role] for role in (Role.SCORES, Role.WEIGHTS) if role in found and has_layer(found[role], layer)]
    arrays = arrays_of(contents, reading, *parts)
    given: dict[Role, Array] = {
        part.role: arrays.part(part, part.role, layer, sizes) for part in parts if part.role is not None
    }
    weights = given.get(Role.WEIGHTS)
    there = None if weights is None or weights.nbytes > LOOKED_THROUGH else attended(weights)
    return allowed_by_file(contents, reading, group, layer, given), there


def _preview(
    contents: Contents, part: Part, array: Array, meaning: Meaning, own: Cells | None, there: Cells | None
) -> MaskPreview:
    rule, bias = rule_of(contents, part, array, meaning)
    allowed: Cells = np.ones(array.shape, bool) if rule is None else np.broadcast_to(rule.cells, array.shape)
    if own is not None:
        allowed = allowed & own
    per_row = allowed.sum(axis=-1)
    shown = allowed[:, :PREVIEWED, :PREVIEWED]
    agrees = there is not None and _agrees(np.logical_or.reduce(allowed), there)
    return MaskPreview(meaning, shown, per_row[0], int((per_row == 0).sum()), bias is not None, agrees)


def _agrees(allowed: Cells, there: Cells) -> bool:
    """Whether ``there`` [n_q, n_k] is nowhere true where ``allowed`` [n_q or 1, n_k] is not.

    Rows that allow no key, and those without any zero, say nothing: some programs give the former equal weights.
    """
    live = allowed.any(axis=-1, keepdims=True) & ~there.all(axis=-1, keepdims=True)
    return bool((there & live).any() and not (there & live & ~allowed).any())
