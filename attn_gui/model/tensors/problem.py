"""Problem: what keeps a file from being opened as it is read, in one sentence."""

from __future__ import annotations

from dataclasses import dataclass

from attn_gui.model.tensors.axes import Role
from attn_gui.model.tensors.reading import Part, Reading

_CALLED = {
    Role.WEIGHTS: "the weights",
    Role.SCORES: "the scores",
    Role.Q: "Q",
    Role.K: "K",
    Role.V: "V",
    Role.QKV: "QKV",
    Role.KV: "KV",
    Role.OUTPUT: "the output",
    Role.HIDDEN: "the hidden states",
    Role.MASK: "the mask",
    Role.SEQUENCES: "cu_seqlens",
    Role.IDS: "the token ids",
}


@dataclass(frozen=True)
class Problem:
    """What keeps a file from being opened as it is read.

    text: one sentence ("Q: 16 items in axis 0, read as heads; the weights have 8: is this a batch?"). part: the index
    in ``Reading.parts``; None where it is about the tokens or the whole. axis: which axis, from 0; None for all.
    remedy: the reading in which this problem is gone, where one is known: "is this a batch?" answered with yes.
    field: ``"tokens"``, ``"key_tokens"``, ``"meaning"``, ``"heads"``, ``"kv_heads"``, ``"batch"``, ``"layers"``, or
    empty for a part.
    """

    text: str
    part: int | None = None
    axis: int | None = None
    remedy: Reading | None = None
    field: str = ""


def called(part: Part) -> str:
    """The part in a sentence."""
    return _CALLED[part.role] if part.role is not None else part.tensors[0]


def sentence(part: Part) -> str:
    """The part at the beginning of a sentence."""
    name = called(part)
    return name[:1].upper() + name[1:] if name.startswith("the ") else name


def source_of(reading: Reading, group: str) -> Role | None:
    """What an attention is made from: QKV where Q and K are there, SCORES, WEIGHTS or HIDDEN; None for nothing."""
    roles = {part.role for part in reading.used(group)}
    if Role.QKV in roles or (Role.Q in roles and roles & {Role.K, Role.KV}):
        return Role.QKV
    return next((role for role in (Role.SCORES, Role.WEIGHTS, Role.HIDDEN) if role in roles), None)
