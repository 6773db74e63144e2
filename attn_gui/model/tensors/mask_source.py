"""Where the mask of an attention comes from: a mask of the file, or the numbers of its scores or weights."""

from __future__ import annotations

import math

from attn_gui.model.tensors.axes import Axis, Role
from attn_gui.model.tensors.info import Contents, Peek
from attn_gui.model.tensors.problem import source_of
from attn_gui.model.tensors.reading import Part, Reading

# of scores and weights of one layer, what is looked through for a mask
LOOKED_THROUGH = 1 << 28


def mask_shown_by(contents: Contents, reading: Reading, group: str) -> Part | None:
    """The part whose numbers show the mask: scores with -inf; else, with Q and K and no mask, weights with zeros.

    Those of weights must be a rule (:attr:`Peek.zeros`), since a weight may be 0 unmasked. None for neither.
    """
    source = source_of(reading, group)
    if source not in (Role.QKV, Role.SCORES):
        return None
    parts = {part.role: part for part in reading.used(group)}
    scores, weights = parts.get(Role.SCORES), parts.get(Role.WEIGHTS)
    if scores is not None:
        seen = [peek for peek in _peeks(contents, scores) if _blocks(peek, source)]
        return scores if seen else None
    if source is not Role.QKV or weights is None or {Role.MASK, Role.SEQUENCES} & parts.keys():
        return None
    if weights.axes[-2:] != (Axis.QUERY, Axis.KEY):
        return None
    return weights if any(peek.zeros for peek in _peeks(contents, weights)) else None


def is_looked_through(contents: Contents, part: Part) -> bool:
    """Whether one layer of one item is small enough to be looked through for a mask."""
    tensor = contents.tensor(part.tensors[0])
    apart = (Axis.LAYER, Axis.BATCH)
    sides = (side for side, axis in zip(tensor.shape, part.axes, strict=False) if axis in apart)
    return tensor.bytes // max(1, math.prod(sides)) <= LOOKED_THROUGH


def _peeks(contents: Contents, part: Part) -> list[Peek]:
    return [peek for name in part.tensors if (peek := contents.tensor(name).peek) is not None]


def _blocks(peek: Peek, source: Role) -> bool:
    # beside Q and K, what programs write in place of -inf blocks as well
    return peek.minus_inf or (source is Role.QKV and peek.low is not None and peek.low <= -65504)
