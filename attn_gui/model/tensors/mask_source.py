"""Where the mask of an attention comes from beside a mask of the file: the numbers of its scores or its weights."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Literal

from attn_gui.model.tensors.axes import Axis, Role
from attn_gui.model.tensors.info import Contents, Peek, Square
from attn_gui.model.tensors.problem import source_of
from attn_gui.model.tensors.reading import Part, Reading
from attn_gui.model.tensors.sizes import sizes_of

# of scores and weights of one layer, what is looked through for a mask
LOOKED_THROUGH = 1 << 28
# unknown: of a layer that was not looked at, beside others that differ
Kind = Literal["", "causal", "padding", "unknown"]


def scores_that_block(contents: Contents, reading: Reading, group: str) -> Part | None:
    """The scores, where some of their numbers are -inf, or stand for it beside Q and K (:attr:`Peek.floor`)."""
    source = source_of(reading, group)
    part = _part(reading, group, Role.SCORES)
    if part is None or source not in (Role.QKV, Role.SCORES):
        return None
    blocks = any(
        peek.minus_inf or (source is Role.QKV and peek.floor is not None) for peek in _peeks(contents, part.tensors)
    )
    return part if blocks else None


def zeros_that_block(contents: Contents, reading: Reading, group: str) -> tuple[Part, dict[int | None, Kind]] | None:
    """The weights beside Q and K, or beside scores, and which rule their zeros are in each layer (None: the only one).

    A weight may be 0 unmasked, so that other zeros are none. None where they are a rule in no layer.
    """
    part = _part(reading, group, Role.WEIGHTS)
    if part is None or source_of(reading, group) not in (Role.QKV, Role.SCORES):
        return None
    if part.axes[-2:] != (Axis.QUERY, Axis.KEY):
        return None
    layers: tuple[int | None, ...] = sizes_of(contents, reading, group).layers or (None,)
    opened = [layer for layer in layers if reading.layers is None or layer is None or layer in reading.layers]
    kinds: dict[int | None, Kind] = {layer: _kind(contents, reading, part, layer) for layer in opened}
    return (part, kinds) if any(kinds.values()) else None


def unread_scores(contents: Contents, reading: Reading, group: str) -> float | None:
    """The lowest of scores beside Q and K, where it is so low that a mask may have been added, and none is known."""
    part = _part(reading, group, Role.SCORES)
    if part is None or source_of(reading, group) is not Role.QKV or scores_that_block(contents, reading, group):
        return None
    low = min((peek.low for peek in _peeks(contents, part.tensors) if peek.low is not None), default=0.0)
    return low if low <= -1e3 else None


def is_looked_through(contents: Contents, part: Part) -> bool:
    """Whether one layer of one item is small enough to be looked through for a mask."""
    tensor = contents.tensor(part.tensors[0])
    apart = (Axis.LAYER, Axis.BATCH)
    sides = (side for side, axis in zip(tensor.shape, part.axes, strict=False) if axis in apart)
    return tensor.bytes // max(1, math.prod(sides)) <= LOOKED_THROUGH


def _part(reading: Reading, group: str, role: Role) -> Part | None:
    return next((part for part in reading.used(group) if part.role is role), None)


def _peeks(contents: Contents, names: Iterable[str]) -> Iterator[Peek]:
    return (peek for name in names if (peek := contents.tensor(name).peek) is not None)


def _kind(contents: Contents, reading: Reading, part: Part, layer: int | None) -> Kind:
    """The rule that the zeros of one layer of the item that is opened are."""
    if part.layers and layer not in part.layers:
        return ""
    tensor = contents.tensor(part.tensors[part.layers.index(layer) if part.layers and layer is not None else 0])
    if tensor.peek is None:
        return ""
    wanted = {Axis.LAYER: layer or 0, Axis.BATCH: reading.batch}
    squares = tensor.peek.zeros
    own = [s for s in squares if all(wanted.get(axis, at) == at for axis, at in zip(part.axes, s.place, strict=False))]
    if own:
        return _rule(own, tensor.shape[-1])
    kinds = {_rule([square], tensor.shape[-1]) for square in squares}
    return kinds.pop() if len(kinds) == 1 else "unknown" if kinds else ""


def _rule(squares: list[Square], n_k: int) -> Kind:
    """What the squares of all heads forbid, each of them."""
    front, back = min(square.front for square in squares), min(square.back for square in squares)
    if front == n_k:  # zeros throughout
        return ""
    if all(square.causal for square in squares):
        return "causal"
    return "padding" if front or back else ""
