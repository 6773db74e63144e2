"""What a tensor is of an attention (its role), and what its axes count."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """What a tensor is. ``label`` is the word on screen."""

    WEIGHTS = "weights"
    SCORES = "scores"
    Q = "Q"
    K = "K"
    V = "V"
    QKV = "qkv"
    KV = "kv"
    OUTPUT = "output"
    HIDDEN = "hidden"
    MASK = "mask"
    SEQUENCES = "cu_seqlens"
    IDS = "token_ids"

    @property
    def label(self) -> str:
        return _ROLES[self]


class Axis(StrEnum):
    """What an axis counts. ``label`` is the word on screen, ``plural`` stands after a number.

    SIZE: the numbers of one head's row (d_k or d_v). WIDTH: the rows of all heads side by side (heads x size), or
    d_model. PART: Q, K and V (or K and V) one after another, an axis of 3 (or 2). FUSED: parts, heads and size in one
    axis. SINGLE: an axis of length 1 that means nothing.
    """

    LAYER = "layer"
    BATCH = "batch"
    HEAD = "head"
    QUERY = "query"
    KEY = "key"
    SIZE = "size"
    WIDTH = "width"
    PART = "part"
    FUSED = "fused"
    SINGLE = "single"

    @property
    def label(self) -> str:
        return _AXES[self][0]

    @property
    def plural(self) -> str:
        return _AXES[self][1]


_ROLES = {
    Role.WEIGHTS: "Weights N",
    Role.SCORES: "Scores A",
    Role.Q: "Queries Q",
    Role.K: "Keys K",
    Role.V: "Values V",
    Role.QKV: "Q, K and V fused",
    Role.KV: "K and V fused",
    Role.OUTPUT: "Output",
    Role.HIDDEN: "Hidden states X",
    Role.MASK: "Mask",
    Role.SEQUENCES: "Ends of sequences (cu_seqlens)",
    Role.IDS: "Token ids",
}
_AXES = {
    Axis.LAYER: ("Layer", "layers"),
    Axis.BATCH: ("Batch", "items of a batch"),
    Axis.HEAD: ("Head", "heads"),
    Axis.QUERY: ("Query", "queries"),
    Axis.KEY: ("Key", "keys"),
    Axis.SIZE: ("Size", "numbers of a row"),
    Axis.WIDTH: ("Width", "numbers of all heads"),
    Axis.PART: ("Q, K, V", "of Q, K and V"),
    Axis.FUSED: ("Q, K, V fused", "numbers of Q, K and V"),
    Axis.SINGLE: ("Single", "of nothing"),
}
# what the axes of each role may be; the first of a role's tuple it must have
NEEDED: dict[Role, tuple[tuple[Axis, ...], ...]] = {
    Role.WEIGHTS: ((Axis.QUERY, Axis.KEY),),
    Role.SCORES: ((Axis.QUERY, Axis.KEY),),
    Role.Q: ((Axis.QUERY, Axis.SIZE), (Axis.QUERY, Axis.WIDTH)),
    Role.K: ((Axis.KEY, Axis.SIZE), (Axis.KEY, Axis.WIDTH)),
    Role.V: ((Axis.KEY, Axis.SIZE), (Axis.KEY, Axis.WIDTH)),
    Role.QKV: ((Axis.QUERY, Axis.PART, Axis.SIZE), (Axis.QUERY, Axis.PART, Axis.WIDTH), (Axis.QUERY, Axis.FUSED)),
    Role.KV: ((Axis.KEY, Axis.PART, Axis.SIZE), (Axis.KEY, Axis.PART, Axis.WIDTH)),
    Role.OUTPUT: ((Axis.QUERY, Axis.SIZE), (Axis.QUERY, Axis.WIDTH)),
    Role.HIDDEN: ((Axis.QUERY, Axis.WIDTH),),
    Role.MASK: ((Axis.QUERY, Axis.KEY), (Axis.KEY,)),
    Role.SEQUENCES: ((Axis.QUERY,), (Axis.KEY,)),
    Role.IDS: ((Axis.QUERY,), (Axis.KEY,)),
}
# and these besides
BESIDES: dict[Role, tuple[Axis, ...]] = {
    role: (
        (Axis.SINGLE,)
        if role is Role.SEQUENCES
        else (Axis.LAYER, Axis.BATCH, Axis.SINGLE)
        if role in (Role.HIDDEN, Role.IDS)
        else (Axis.LAYER, Axis.BATCH, Axis.HEAD, Axis.SINGLE)
    )
    for role in Role
}


def choices(role: Role) -> tuple[Axis, ...]:
    """What an axis of a tensor of this role may be, for a list to choose from."""
    found = [*BESIDES[role], *(axis for form in NEEDED[role] for axis in form)]
    return tuple(axis for axis in Axis if axis in found)
