"""The reading that is proposed for a file: by names, shapes, types, and by which axis sums to 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from attn_gui.model.mask_import import Meaning
from attn_gui.model.tensors.axes import Axis, Role
from attn_gui.model.tensors.info import Contents
from attn_gui.model.tensors.names import said_by
from attn_gui.model.tensors.proposed_axes import any_axes, fitting, learn
from attn_gui.model.tensors.proposed_roles import layer_in, meaning_in, one_of_each, own_name, role_in, together_in
from attn_gui.model.tensors.reading import Part, Reading
from attn_gui.model.tensors.sizes import Quantity, sizes_of, trusted


def propose(contents: Contents, told: Mapping[tuple[str, ...], Role | None] | None = None) -> Reading:
    """The most probable reading. What means nothing here is a part with role None, so that a person can give it one.

    told: what some parts are, by their tensors, whatever they are called and hold; others with the same role in the
    same attention are left out then.
    """
    told = told or {}
    said = said_by([own_name(contents, tensor) for tensor in contents.tensors])
    parts: list[Part] = []
    together = together_in(contents, said)
    for members in together:
        first = contents.tensor(members[0])
        name = said[own_name(contents, first)]
        role = told[members] if members in told else role_in(first, name.role, alone=len(together) == 1)
        layers = tuple(layer_in(contents, said, each) for each in members) if name.layer is not None else ()
        parts.append(Part(role, members, (), layers, name.group, name.kind, name.module))
    parts = one_of_each(contents, _others_out(parts, told))
    reading = Reading(tuple(parts), meaning=meaning_in(contents, parts))
    for group in dict.fromkeys(part.group for part in parts):
        reading = _with_axes(contents, reading, group)
    return _with_tokens(contents, reading)


def _others_out(parts: Sequence[Part], told: Mapping[tuple[str, ...], Role | None]) -> list[Part]:
    """Without the role where another part of the attention was told to have it."""
    taken = {(part.group, part.role) for part in parts if part.tensors in told}
    return [
        replace(part, role=None) if part.tensors not in told and (part.group, part.role) in taken else part
        for part in parts
    ]


def axes_for(contents: Contents, reading: Reading, index: int, role: Role) -> tuple[Axis, ...]:
    """The axes to propose for part ``index`` once it is read as ``role``, given the other parts of the reading."""
    part = replace(reading.parts[index], role=role)
    others = [each for k, each in enumerate(reading.parts) if k != index and each.group == part.group and each.axes]
    known: dict[Quantity, int] = {}
    for each in trusted(others):
        learn(known, each, contents.tensor(each.tensors[0]).shape)
    best = fitting(contents, [part], known)
    return best[0] if best is not None else any_axes(contents, part)


def meaning_of(contents: Contents, reading: Reading) -> Meaning | None:
    """What the mask of a corrected reading means, where that can be known."""
    return meaning_in(contents, reading.used())


def _with_axes(contents: Contents, reading: Reading, group: str) -> Reading:
    """With the axes of one attention's parts as they fit together best."""
    parts = [part for part in reading.parts if part.group == group and part.role is not None]
    ordered = trusted(parts)
    best = fitting(contents, ordered, {})
    chosen = dict(zip(map(id, ordered), best or [], strict=False))
    new = []
    for part in reading.parts:
        if part.group == group and not part.axes:
            new.append(part.with_axes(chosen.get(id(part)) or any_axes(contents, part)))
        else:
            new.append(part)
    return replace(reading, parts=tuple(new))


def _with_tokens(contents: Contents, reading: Reading) -> Reading:
    """With the lists of words of the file that are as many as the queries, or the keys."""
    counted = [sizes_of(contents, reading, group) for group in reading.groups]
    lists = list(contents.words.values())
    queries = [words for words in lists if all(words) and any(len(words) == size.n_q for size in counted)]
    keys = [words for words in lists if all(words) and any(len(words) == size.n_k for size in counted)]
    if not queries or not keys:
        return replace(reading, tokens=queries[0] if queries else None, key_tokens=keys[0] if keys else None)
    tokens, key_tokens = queries[0], keys[-1]
    return replace(reading, tokens=tokens, key_tokens=None if key_tokens == tokens else key_tokens)
