"""Masks of a file: previewed with each meaning, and made into rules."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from attn_gui.files.errors import FileError
from attn_gui.files.tensors.layer_arrays import Arrays, found_parts, has_layer, is_row
from attn_gui.files.tensors.looking import stored_in
from attn_gui.files.tensors.stored import Array
from attn_gui.model.biases.additive import Additive
from attn_gui.model.errors import ExperimentError
from attn_gui.model.mask_import import Meaning, mask_of
from attn_gui.model.masks import Imported, MaskRule, Padding
from attn_gui.model.question import recognised
from attn_gui.model.tensors.axes import Axis, Role
from attn_gui.model.tensors.info import Contents, TensorInfo
from attn_gui.model.tensors.reading import Part, Reading
from attn_gui.model.tensors.sizes import Sizes, sizes_of

# queries and keys of a preview
PREVIEWED = 512
# cells of a mask that are counted through before it is opened
LARGEST_PREVIEWED = 1 << 25


@dataclass(frozen=True, eq=False)
class MaskPreview:
    """A mask read with one meaning.

    allowed: bool [heads or 1, n_q, n_k] (n_q is 1 where the mask is one row for all queries), at most PREVIEWED
    queries and keys of it. per_row: allowed keys of each query of the first head, [n_q]. empty: how many rows, of all
    heads, allow no key at all. biased: whether numbers are added to allowed cells too.
    """

    meaning: Meaning
    allowed: NDArray[np.bool_]
    per_row: NDArray[np.int64]
    empty: int
    biased: bool


class Masked(NamedTuple):
    """What a mask comes to: a rule, a bias, and which keys are padding, [n_k]."""

    rule: MaskRule
    bias: Additive | None
    pad: NDArray[np.bool_] | None


def previews(contents: Contents, reading: Reading, layer: int | None = None) -> tuple[MaskPreview, ...]:
    """The first mask, with each meaning that it can have: flags have two (allowed, blocked), numbers one.

    layer: None is the first. Empty where the file has no mask. Raises FileError.
    """
    part = next((part for part in reading.used() if part.role is Role.MASK), None)
    if part is None:
        return ()
    sizes = sizes_of(contents, reading, part.group)
    layer = layer if layer is not None or not sizes.layers else sizes.layers[0]
    array = _arrays(contents, reading, part).part(part, Role.MASK, layer, sizes)
    meanings: tuple[Meaning, ...] = ("allowed", "blocked") if are_flags(array) else ("additive",)
    return tuple(_preview(contents, part, array, meaning) for meaning in meanings)


def mask_alone(
    contents: Contents, reading: Reading, heads: int, n_q: int, n_k: int
) -> tuple[MaskRule, Additive | None, NDArray[np.bool_] | None]:
    """The mask of a file for an experiment of ``heads``, ``n_q`` and ``n_k``: rule, bias, and which keys are padding.

    Raises FileError.
    """
    part = next((part for part in reading.used() if part.role is Role.MASK), None)
    if part is None:
        raise FileError(contents.path, "", "a mask", "a file without one")
    sizes = sizes_of(contents, reading, part.group)
    layer = sizes.layers[0] if sizes.layers else None
    array = _arrays(contents, reading, part).part(part, Role.MASK, layer, sizes)
    return masked(contents, reading, part, array, replace(sizes, heads=heads, n_q=n_q, n_k=n_k))


def masked_layer(
    contents: Contents, reading: Reading, arrays: Arrays, group: str, layer: int | None, sizes: Sizes
) -> Masked:
    """The mask of a layer; raises FileError."""
    part = found_parts(reading, group).get(Role.MASK)
    if part is None or not has_layer(part, layer):
        return Masked(MaskRule(), None, None)
    return masked(contents, reading, part, arrays.part(part, Role.MASK, layer, sizes), sizes)


def masked(contents: Contents, reading: Reading, part: Part, array: Array, sizes: Sizes) -> Masked:
    """What ``array`` [heads or 1, n_q or 1, n_k or 1] comes to in an attention of ``sizes``; raises FileError."""
    meaning = reading.meaning or ("additive" if not are_flags(array) else None)
    if meaning is None:
        raise FileError(contents.path, part.tensors[0], "what True means: may attend, or blocked", "neither")
    row = is_row(part, array)
    shape = (1 if array.shape[0] == 1 else sizes.heads, 1 if row else sizes.n_q, sizes.n_k)
    try:
        cells = np.broadcast_to(array, shape)
    except ValueError as error:
        expected = f"{sizes.heads} heads, {sizes.n_q} queries, {sizes.n_k} keys, or 1 in their place"
        raise FileError(contents.path, part.tensors[0], expected, f"shape {array.shape}") from error
    rule, bias = _rule(contents, part, cells, meaning)
    if rule is None or not row:
        return Masked(MaskRule() if rule is None else recognised(rule.cells), _for_all(bias, sizes.n_q), None)
    return Masked(Padding(), _for_all(bias, sizes.n_q), ~rule.cells[-1])


def cells_of(tensor: TensorInfo, part: Part) -> int:
    """How many cells the mask of one layer and one item of the batch has."""
    apart = (Axis.LAYER, Axis.BATCH)
    return math.prod(count for count, axis in zip(tensor.shape, part.axes, strict=True) if axis not in apart)


def are_flags(array: Array) -> bool:
    """Whether a mask is one of flags: not of numbers that are added, which are none but 0 where nothing is blocked."""
    if array.dtype.kind == "b":
        return True
    return bool(((array == 0) | (array == 1)).all()) and (array.dtype.kind in "iu" or bool((array == 1).any()))


def _arrays(contents: Contents, reading: Reading, part: Part) -> Arrays:
    alone = replace(reading, parts=(part,))
    tensors = tuple(contents.tensor(name) for name in part.tensors)
    return Arrays(contents, stored_in(replace(contents, tensors=tensors)), alone)


def _preview(contents: Contents, part: Part, array: Array, meaning: Meaning) -> MaskPreview:
    rule, bias = _rule(contents, part, array, meaning)
    allowed = np.ones(array.shape, bool) if rule is None else np.broadcast_to(rule.cells, array.shape)
    per_row = allowed.sum(axis=-1)
    shown = allowed[:, :PREVIEWED, :PREVIEWED]
    return MaskPreview(meaning, shown, per_row[0], int((per_row == 0).sum()), bias is not None)


def _rule(contents: Contents, part: Part, cells: Array, meaning: Meaning) -> tuple[Imported | None, Additive | None]:
    try:
        return mask_of(cells, meaning)
    except ExperimentError as error:
        where = f"{part.tensors[0]}, {error.field}"
        raise FileError(contents.path, where, error.expected, error.received) from error


def _for_all(bias: Additive | None, n_q: int) -> Additive | None:
    """A bias of one row, for every query."""
    if bias is None or bias.cells.shape[-2] == n_q:
        return bias
    shape = (*bias.cells.shape[:-2], n_q, bias.cells.shape[-1])
    return Additive(np.ascontiguousarray(np.broadcast_to(bias.cells, shape)))
