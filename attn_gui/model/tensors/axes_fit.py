"""Which readings of the axes of one tensor there are, the most usual first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations, permutations

from attn_gui.model.tensors.axes import BESIDES, NEEDED, Axis, Role

# numbers of heads that models have
USUAL_HEADS = {1, 2, 3, 4, 6, 8, 9, 10, 12, 14, 15, 16, 20, 24, 25, 28, 32, 36, 40, 48, 56, 64, 71, 72, 96, 112, 128}
MOST_AXES = 6
# the usual order; rows of [tokens, heads, size] are as usual as those of [heads, tokens, size]
_ORDER = (Axis.SINGLE, Axis.LAYER, Axis.BATCH, Axis.PART, Axis.HEAD, Axis.QUERY, Axis.KEY, Axis.SIZE, Axis.WIDTH)
_PLACES = {axis: place for place, axis in enumerate((*_ORDER, Axis.FUSED))}


def readings(role: Role, shape: Sequence[int], *, layers: bool = False) -> Iterator[tuple[float, tuple[Axis, ...]]]:
    """Readings of the axes of a tensor of this role and shape, each with what speaks against it, from 0 up.

    layers: whether the layers are other tensors, so that no axis counts them.
    """
    for cost, axes in _forms(role, len(shape)):
        if layers and Axis.LAYER in axes:
            continue
        more = _against(role, shape, axes)
        if more is not None:
            yield cost + more, axes


@lru_cache(maxsize=256)
def _forms(role: Role, count: int) -> tuple[tuple[float, tuple[Axis, ...]], ...]:
    """Every order of every set of ``count`` axes that the role may have, with how unusual it is."""
    if not 0 < count <= MOST_AXES:
        return ()
    found: dict[tuple[Axis, ...], float] = {}
    for rank, needed in enumerate(form for form in NEEDED[role] if len(form) <= count):
        besides = [axis for axis in BESIDES[role] if not (axis is Axis.HEAD and {Axis.WIDTH, Axis.FUSED} & {*needed})]
        for chosen in combinations(besides, count - len(needed)):
            cost = 0.3 * rank + _unusual(chosen)
            if Axis.PART in needed and Axis.HEAD not in chosen:
                cost += 1.2  # 3 of something are rather 3 tokens
            for order in permutations((*chosen, *needed)):
                against = cost + _disorder(role, order)
                if against < 8:
                    found[order] = min(against, found.get(order, against))
    return tuple(sorted(((cost, order) for order, cost in found.items()), key=lambda each: each[0]))


def _unusual(chosen: Sequence[Axis]) -> float:
    """Against these axes beside the needed ones: heads come first, a batch next."""
    cost = 0.0
    if Axis.HEAD not in chosen and chosen:
        cost += 1.0 if len(chosen) == 1 else 2.0
    if Axis.SINGLE in chosen:
        cost += 1.5
    if Axis.LAYER in chosen and Axis.BATCH not in chosen:
        cost += 0.2
    return cost


def _disorder(role: Role, order: Sequence[Axis]) -> float:
    """How far ``order`` is from the usual one."""
    cost = 0.0
    token = Axis.KEY if role in (Role.K, Role.V, Role.KV) else Axis.QUERY
    fused = [axis for axis in order if axis in (token, Axis.PART, Axis.HEAD)]
    if fused == [token, Axis.PART, Axis.HEAD]:
        cost -= 0.8  # flash attention's; nobody writes [heads, 3, tokens]
    elif fused == [Axis.HEAD, Axis.PART, token]:
        cost += 1.5
    for first, second in combinations(order, 2):
        if _PLACES[first] <= _PLACES[second]:
            continue
        pair = {first, second}
        if role not in (Role.WEIGHTS, Role.SCORES, Role.MASK) and pair <= {token, Axis.HEAD, Axis.PART}:
            cost += 0.5
        elif pair == {Axis.LAYER, Axis.BATCH}:
            cost += 0.8
        else:
            cost += 2.0
    return cost


def _against(role: Role, shape: Sequence[int], axes: Sequence[Axis]) -> float | None:
    """What the lengths say against ``axes``; None where they rule them out."""
    cost = 0.0
    for length, axis in zip(shape, axes, strict=True):
        if axis is Axis.SINGLE and length != 1:
            return None
        if axis is Axis.PART and length != (2 if role is Role.KV else 3):
            return None
        if axis is Axis.HEAD and length not in USUAL_HEADS:
            cost += 0.6
        if axis is Axis.LAYER and length == 1:
            cost += 0.4
        if axis is Axis.BATCH and length > 1 and Axis.LAYER not in axes and role in (Role.WEIGHTS, Role.SCORES):
            cost += 0.3  # of one array of several, layers are more usual than sentences
        if axis is Axis.WIDTH and Axis.HEAD not in axes and len(axes) == 2 and role is not Role.HIDDEN:
            cost += 1.0  # two axes are the rows of one head
    if role in (Role.WEIGHTS, Role.SCORES) and {Axis.HEAD, Axis.QUERY, Axis.KEY} <= {*axes}:
        heads, query, key = (axes.index(axis) for axis in (Axis.HEAD, Axis.QUERY, Axis.KEY))
        if query < key < heads and shape[query] == shape[key] != shape[heads]:
            cost -= 2.5  # heads that stand last are more usual than keys before queries that are not as many
    return cost
