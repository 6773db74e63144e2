"""Masks of a file, made into rules."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from attn_gui.files.errors import FileError
from attn_gui.files.tensors.layer_arrays import Arrays, ends_of, found_parts, has_layer, is_row
from attn_gui.files.tensors.looking import stored_in
from attn_gui.files.tensors.stored import Array
from attn_gui.model.biases.additive import Additive
from attn_gui.model.errors import ExperimentError
from attn_gui.model.mask_import import Meaning, all_of, mask_of
from attn_gui.model.masks import Imported, MaskRule, Padding
from attn_gui.model.masks.document import Document
from attn_gui.model.question import recognised
from attn_gui.model.tensors.axes import Axis, Role
from attn_gui.model.tensors.info import Contents
from attn_gui.model.tensors.reading import Part, Reading
from attn_gui.model.tensors.sizes import Sizes, sizes_of


class Masked(NamedTuple):
    """What a mask comes to: a rule, a bias, and which keys are padding, [n_k]."""

    rule: MaskRule
    bias: Additive | None
    pad: NDArray[np.bool_] | None


class MaskAlone(NamedTuple):
    """As Masked, of a file that holds nothing else; and the sequence of each query, [n_q], and key, [n_k], if told."""

    rule: MaskRule
    bias: Additive | None
    pad: NDArray[np.bool_] | None
    sequences: tuple[NDArray[np.int64], NDArray[np.int64]] | None


def mask_alone(contents: Contents, reading: Reading, heads: int, n_q: int, n_k: int) -> MaskAlone:
    """The mask of a file for an experiment of ``heads``, ``n_q`` and ``n_k``; raises FileError."""
    used = reading.used()
    part = next((part for part in used if part.role is Role.MASK), None)
    ends = [part for part in used if part.role is Role.SEQUENCES]
    if part is None and not ends:
        raise FileError(contents.path, "", "a mask", "a file without one")
    found = Masked(MaskRule(), None, None)
    if part is not None:
        sizes = sizes_of(contents, reading, part.group)
        layer = sizes.layers[0] if sizes.layers else None
        array = arrays_of(contents, reading, part).part(part, Role.MASK, layer, sizes)
        found = masked(contents, reading, part, array, replace(sizes, heads=heads, n_q=n_q, n_k=n_k))
    if not ends:
        return MaskAlone(*found, None)
    sizes, arrays = sizes_of(contents, reading, ends[0].group), arrays_of(contents, reading, *ends)
    by_axis = {axis: each for each in reversed(ends) for axis in each.axes}
    of_queries, of_keys = (
        ends_of(contents.path, arrays, by_axis.get(axis, ends[0]), sizes, count)
        for axis, count in ((Axis.QUERY, n_q), (Axis.KEY, n_k))
    )
    return MaskAlone(all_of([found.rule, Document()]), found.bias, found.pad, (of_queries, of_keys))


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
    rule, bias = rule_of(contents, part, cells, meaning)
    if rule is None or not row:
        return Masked(MaskRule() if rule is None else recognised(rule.cells), _for_all(bias, sizes.n_q), None)
    return Masked(Padding(), _for_all(bias, sizes.n_q), ~rule.cells[-1])


def are_flags(array: Array) -> bool:
    """Whether a mask is one of flags: not of numbers that are added, which are none but 0 where nothing is blocked."""
    if array.dtype.kind == "b":
        return True
    return bool(((array == 0) | (array == 1)).all()) and (array.dtype.kind in "iu" or bool((array == 1).any()))


def arrays_of(contents: Contents, reading: Reading, *parts: Part) -> Arrays:
    """The arrays of ``parts`` alone, the files of no others opened; raises FileError."""
    alone = replace(reading, parts=parts)
    tensors = tuple(contents.tensor(name) for part in parts for name in part.tensors)
    return Arrays(contents, stored_in(replace(contents, tensors=tensors)), alone)


def rule_of(contents: Contents, part: Part, cells: Array, meaning: Meaning) -> tuple[Imported | None, Additive | None]:
    """What ``cells``, of a mask of the file, forbid and add; raises FileError."""
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
