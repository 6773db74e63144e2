"""Layers that are left out although something of them is there."""

from __future__ import annotations

from collections.abc import Iterator

from attn_gui.model.counted import counted
from attn_gui.model.tensors.axes import Role
from attn_gui.model.tensors.info import Contents
from attn_gui.model.tensors.names import said_by
from attn_gui.model.tensors.problem import Problem, sentence
from attn_gui.model.tensors.proposed_roles import own_name
from attn_gui.model.tensors.reading import Reading

# without which a layer cannot be shown as the others are
NEEDED = (Role.WEIGHTS, Role.SCORES, Role.Q, Role.K, Role.V, Role.QKV, Role.KV)
MOST_TOLD = 8


def of_layers(contents: Contents, reading: Reading) -> Iterator[Problem]:
    """Layers that one part has and another lacks; tensors called like those of a part that are not among them."""
    for group in reading.groups:
        parts = [part for part in reading.used(group) if part.role in NEEDED and part.layers]
        every = {layer for part in parts for layer in part.layers}
        for part in parts:
            lacking = sorted(every - set(part.layers))
            if lacking:
                text = f"{sentence(part)} of {_layers(lacking)} {'is' if len(lacking) == 1 else 'are'} missing"
                left = "that layer is" if len(lacking) == 1 else "these layers are"
                yield Problem(f"{text}: {left} left out", reading.parts.index(part))
    said = said_by([own_name(contents, tensor) for tensor in contents.tensors])
    names = {tensor.name: said[own_name(contents, tensor)] for tensor in contents.tensors}
    used = {names[part.tensors[0]].template: part for part in reading.used() if part.layers}
    for index, part in enumerate(reading.parts):
        name = part.tensors[0]
        like = used.get(names[name].template) if part.role is None and names[name].layer is not None else None
        if like is None:
            continue
        layer = names[name].layer or 0
        there = next((own for own, at in zip(like.tensors, like.layers, strict=True) if at == layer), None)
        why = "its axes are others than theirs" if there is None else f"{there} is layer {layer + 1} already"
        yield Problem(f"{name} is left out: {why}", index)


def _layers(numbers: list[int]) -> str:
    told = ", ".join(str(number + 1) for number in numbers[:MOST_TOLD])
    more = f" and {counted(len(numbers) - MOST_TOLD, 'other')}" if len(numbers) > MOST_TOLD else ""
    return f"layer{'' if len(numbers) == 1 else 's'} {told}{more}"
