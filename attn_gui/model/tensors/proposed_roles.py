"""What the tensors of a file are, by their names, types and numbers, and which of them belong together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from attn_gui.model.mask_import import Meaning
from attn_gui.model.tensors.axes import Role
from attn_gui.model.tensors.info import Contents, TensorInfo
from attn_gui.model.tensors.names import Said, is_rotated, natural
from attn_gui.model.tensors.reading import Part

# what a single array is hardly, whose rows sum to 1
LOOSELY = (Role.Q, Role.K, Role.V, Role.OUTPUT, Role.HIDDEN)


def own_name(contents: Contents, tensor: TensorInfo) -> str:
    """The name to go by: where the tensor has none, the one that it got from its file."""
    return tensor.key or tensor.name if not contents.files else tensor.name


def layer_in(contents: Contents, said: Mapping[str, Said], name: str) -> int:
    return said[own_name(contents, contents.tensor(name))].layer or 0


def together_in(contents: Contents, said: Mapping[str, Said]) -> list[tuple[str, ...]]:
    """Names of tensors that are one array of several layers; others by themselves; the layers in their order."""
    found: dict[tuple[str, int], list[str]] = {}
    for tensor in contents.tensors:
        name = said[own_name(contents, tensor)]
        # hidden states and attentions of one template have as many axes
        found.setdefault((name.template, len(tensor.shape)), []).append(tensor.name)
    for members in found.values():
        members.sort(key=lambda name: (layer_in(contents, said, name), natural(name)))
    result: list[tuple[str, ...]] = []
    for members in found.values():
        if said[own_name(contents, contents.tensor(members[0]))].layer is None:
            result.extend((member,) for member in members)
            continue
        # of two that are the same layer the first
        layers: dict[int, str] = {}
        for member in members:
            layers.setdefault(layer_in(contents, said, member), member)
        result.append(tuple(layers.values()))
        result.extend((member,) for member in members if member not in layers.values())
    return result


def role_in(tensor: TensorInfo, named: Role | None, *, alone: bool) -> Role | None:
    """What a tensor is: what its name says, unless its type or its numbers say that it cannot be.

    alone: whether there is nothing else, so that it has to be something.
    """
    peek = tensor.peek
    whole = tensor.is_whole and not (peek is not None and peek.flags)
    if named is Role.IDS:
        return Role.IDS if tensor.is_whole else None
    if named is Role.SEQUENCES:
        return named if tensor.is_whole or tensor.is_real else None
    if named in (Role.WEIGHTS, Role.SCORES) and len(tensor.shape) < 2:
        return None
    if named is Role.WEIGHTS:
        negative = peek is not None and (peek.minus_inf or (peek.low is not None and peek.low < -1e-3))
        return Role.SCORES if negative else Role.WEIGHTS
    if named is Role.SCORES and peek is not None and any(peek.sums):
        return Role.WEIGHTS
    # a letter, or out, is what anything may be called
    if named in LOOSELY and alone and len(tensor.shape) > 1 and peek is not None and any(peek.sums):
        return Role.WEIGHTS
    if named is not None:
        return named
    # one token's only score is 0 or 1 as easily as any other number
    one_token = alone and tensor.is_real and tensor.shape[-2:] == (1, 1)
    flags = peek is not None and peek.flags and len(tensor.shape) > 1 and not any(peek.sums) and not one_token
    if tensor.dtype == "bool" or flags:
        return Role.MASK if len(tensor.shape) > 0 else None
    if whole and tensor.is_ends:
        return Role.SEQUENCES
    if alone and tensor.dtype.startswith("complex"):
        return Role.SCORES  # so that it is said why it cannot be
    if whole or not tensor.is_real or len(tensor.shape) < 2:
        return None
    if peek is not None and any(peek.sums):
        return Role.WEIGHTS
    by_shape = _by_shape(tensor) if alone else None
    # after softmax, whatever their rows sum to: dropout, padding and sigmoid make them sum to something else
    return Role.WEIGHTS if by_shape is Role.SCORES and peek is not None and peek.like_weights else by_shape


def _by_shape(tensor: TensorInfo) -> Role | None:
    """What the only tensor of a file may be, by its shape."""
    shape, peek = tensor.shape, tensor.peek
    if peek is not None and peek.high is not None and peek.high <= 0 and (peek.minus_inf or (peek.low or 0) <= -1e4):
        return Role.MASK
    if 3 in shape[:-1] and len(shape) >= 4 and shape[-1] != shape[-2]:
        return Role.QKV
    if len(shape) == 2 and shape[0] != shape[1]:
        return Role.HIDDEN
    if len(shape) == 3 and shape[-1] != shape[-2] and shape[-1] >= 64 and shape[-1] % 8 == 0 and shape[0] == 1:
        return Role.HIDDEN
    return Role.SCORES


def one_of_each(contents: Contents, parts: Sequence[Part]) -> list[Part]:
    """Of several parts with one role in an attention the one to use; the others are left out."""
    result = list(parts)
    groups: dict[tuple[str, Role], list[int]] = {}
    for index, part in enumerate(parts):
        if part.role is not None and part.role is not Role.SEQUENCES:  # of which queries and keys have their own
            groups.setdefault((part.group, part.role), []).append(index)
    for indices in groups.values():
        # queries and keys as the scores were made of them
        best = max(indices, key=lambda k: (is_rotated(parts[k].tensors[0]), len(parts[k].tensors), -k))
        for index in indices:
            if index != best:
                result[index] = replace(parts[index], role=None)
    return _shared_between_groups(result)


def _shared_between_groups(parts: list[Part]) -> list[Part]:
    """Where all that is shown belongs to one attention, so do the masks and ids that name none."""
    shown = {part.group for part in parts if part.role in (Role.WEIGHTS, Role.SCORES, Role.Q, Role.QKV)}
    if len(shown) != 1:
        return parts
    (group,) = shown
    loose = (Role.MASK, Role.IDS, Role.SEQUENCES, Role.HIDDEN)
    return [replace(p, group=group) if p.role in loose and p.group != group and not p.group else p for p in parts]


def meaning_in(contents: Contents, parts: Sequence[Part]) -> Meaning | None:
    """What the mask means: numbers are added; of flags some names say it, and no others."""
    for part in parts:
        if part.role is not Role.MASK:
            continue
        tensor = contents.tensor(part.tensors[0])
        flags = tensor.dtype == "bool" or (tensor.peek is not None and tensor.peek.flags)
        if not flags:
            return "additive"
        # numbers that are all 0 block nothing as numbers that are added
        if tensor.is_real and tensor.peek is not None and tensor.peek.high == 0:
            return "additive"
        name = own_name(contents, tensor).lower()
        if "key_padding_mask" in name:
            return "blocked"
        if "attention_mask" in name:
            return "allowed"
    return None
