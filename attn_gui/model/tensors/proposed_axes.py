"""The readings of the axes of several tensors that fit together, and that least speaks against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from attn_gui.model.tensors.axes import Axis, Role
from attn_gui.model.tensors.axes_fit import readings
from attn_gui.model.tensors.info import Contents, TensorInfo
from attn_gui.model.tensors.names import is_by_tokens
from attn_gui.model.tensors.reading import Part
from attn_gui.model.tensors.sizes import Quantity, counts_of

# of readings of all tensors of one attention that are tried, and of one tensor
MOST_TRIED, MOST_EACH = 20_000, 40
UNEQUAL_LENGTHS, SHARED_KEYS, NOT_ALL = 2.0, 0.3, 3.0
# keys along which nothing sums to 1, as along another axis: more than any order of axes is unusual
NO_KEYS = 7.0
# keys that are a part of the queries: rather heads that share keys
FEWER_KEYS = 1.5
# layer, batch, head, query, key
STACKED = 5
# what is less usual than this, of one tensor and of all together, is not proposed
MOST_AGAINST, MOST_AGAINST_ALL = 4.0, 6.0
# cu_seqlens of keys, where they are not those of the queries
_OF_KEYS = ("_k", "_kv", "_key")


def any_axes(contents: Contents, part: Part) -> tuple[Axis, ...]:
    """The most usual axes of a part by itself; of what is left out, or fits nothing, those of weights."""
    shape = contents.tensor(part.tensors[0]).shape
    for role in (part.role, Role.WEIGHTS):
        if role is not None:
            found = _ranked(contents, replace(part, role=role))
            if found:
                return found[0][1]
    return (Axis.SINGLE,) * len(shape)


def _ranked(contents: Contents, part: Part) -> list[tuple[float, tuple[Axis, ...]]]:
    """Readings of a part by itself, the most usual first, with what its numbers and its name say."""
    tensor = contents.tensor(part.tensors[0])
    assert part.role is not None
    if part.role is Role.SEQUENCES and len(tensor.shape) == 1:
        return [(0.0, (Axis.KEY if tensor.name.endswith(_OF_KEYS) else Axis.QUERY,))]
    found = []
    # one tensor of so many axes holds all layers, whatever number is in its name
    elsewhere = bool(part.layers) and (len(part.tensors) > 1 or len(tensor.shape) < STACKED)
    for cost, axes in readings(part.role, tensor.shape, layers=elsewhere):
        cost += _by_sums(tensor, part.role, axes) + _by_name(tensor, part.role, axes)
        cost += _by_words(contents, tensor, part.role, axes)
        found.append((cost + _by_totals(tensor, part.role, contents.totals, axes), axes))
    return sorted(found, key=lambda each: each[0])[:MOST_EACH]


def _by_sums(tensor: TensorInfo, role: Role, axes: Sequence[Axis]) -> float:
    """Against weights whose keys do not sum to 1 while another axis does; for keys that do so amid queries and heads.

    What sums to 1 along the middle axis is rather [query, key, head] than [head, key, query].
    """
    if role is not Role.WEIGHTS or tensor.peek is None or not any(tensor.peek.sums):
        return 0.0
    if not tensor.peek.sums[axes.index(Axis.KEY)]:
        return NO_KEYS
    return -2.5 if _has_fewer_heads_last(tensor.shape, axes) else 0.0


def _has_fewer_heads_last(shape: Sequence[int], axes: Sequence[Axis]) -> bool:
    """Whether heads stand last and are no more than the queries, and neither of the two alone is as many as the keys.

    What alone is as many as the keys counts the queries, whichever is more.
    """
    if Axis.HEAD not in axes:
        return False
    heads, query, key = (axes.index(axis) for axis in (Axis.HEAD, Axis.QUERY, Axis.KEY))
    if not query < key < heads:
        return False
    if shape[key] in (shape[heads], shape[query]) and shape[heads] != shape[query]:
        return False
    return shape[heads] <= shape[query]


def _by_words(contents: Contents, tensor: TensorInfo, role: Role, axes: Sequence[Axis]) -> float:
    """For tokens that are as many as a list of words in the file, where the heads are not."""
    token = next((axis for axis in (Axis.QUERY, Axis.KEY) if axis in axes), None)
    if token is None or Axis.HEAD not in axes or role not in (Role.Q, Role.K, Role.V, Role.QKV):
        return 0.0
    counts = {len(words) for words in contents.words.values()}
    heads, tokens = tensor.shape[axes.index(Axis.HEAD)], tensor.shape[axes.index(token)]
    return -1.0 if tokens in counts and heads not in counts else 0.0


def _by_totals(tensor: TensorInfo, role: Role, totals: frozenset[int], axes: Sequence[Axis]) -> float:
    """Against tokens that are not as many as those of all sequences together, while something else is.

    Where nothing is, against a batch and heads before tokens, for such tokens are packed as [tokens, heads, size], and
    against what is further from being as many than the heads are.
    """
    token = next((axis for axis in (Axis.QUERY, Axis.KEY) if axis in axes), None)
    if not totals or token is None or role is Role.SEQUENCES:
        return 0.0
    lengths = dict(zip(axes, tensor.shape, strict=True))
    others = [lengths[axis] for axis in (Axis.HEAD, Axis.BATCH, Axis.LAYER) if axis in lengths]
    if lengths[token] in totals:
        return 0.0
    if totals & {*others}:
        return 3.0
    if role not in (Role.Q, Role.K, Role.V):
        return 0.0
    if Axis.HEAD not in lengths:
        return 2.0 * (lengths.get(Axis.BATCH, 1) > 1)
    off, off_heads = (min(abs(length - total) for total in totals) for length in (lengths[token], lengths[Axis.HEAD]))
    return 1.0 * (axes.index(Axis.HEAD) < axes.index(token)) + 1.5 * (off_heads < off)


def _by_name(tensor: TensorInfo, role: Role, axes: Sequence[Axis]) -> float:
    if not is_by_tokens(tensor.name) or Axis.HEAD not in axes:
        return 0.0
    token = Axis.KEY if role in (Role.K, Role.V) else Axis.QUERY
    return -1.0 if token in axes and axes.index(token) < axes.index(Axis.HEAD) else 0.0


def fitting(contents: Contents, parts: Sequence[Part], known: Mapping[Quantity, int]) -> list[tuple[Axis, ...]] | None:
    """The readings of all ``parts`` that fit together and that least speaks against; None where none fit."""
    ranked = [[each for each in _ranked(contents, part) if each[0] <= MOST_AGAINST] for part in parts]
    shapes = [contents.tensor(part.tensors[0]).shape for part in parts]
    best: tuple[float, list[tuple[Axis, ...]]] | None = None
    tried = 0

    def go(index: int, cost: float, known: Mapping[Quantity, int], chosen: list[tuple[Axis, ...]]) -> None:
        nonlocal best, tried
        tried += 1
        if tried > MOST_TRIED or cost > MOST_AGAINST_ALL or (best is not None and cost >= best[0]):
            return
        if index == len(parts):
            cost += _by_items(parts, shapes, chosen)
            if cost <= MOST_AGAINST_ALL and (best is None or cost < best[0]):
                best = (cost, list(chosen))
            return
        for own, axes in ranked[index]:
            part = replace(parts[index], axes=axes)
            learned = dict(known)
            against = learn(learned, part, shapes[index])
            if against is not None:
                go(index + 1, cost + own + against, learned, [*chosen, axes])

    go(0, 0.0, known, [])
    if best is None and len(parts) > 1:
        # what does not fit is said by the checks, and the rest is read as well as it can be
        first = fitting(contents, parts[:1], known)
        if first is None:
            return None
        learned = dict(known)
        learn(learned, replace(parts[0], axes=first[0]), shapes[0])
        rest = [(fitting(contents, [part], learned) or [any_axes(contents, part)])[0] for part in parts[1:]]
        return [first[0], *rest]
    return None if best is None else best[1]


def _by_items(parts: Sequence[Part], shapes: Sequence[Sequence[int]], chosen: Sequence[Sequence[Axis]]) -> float:
    """Against layers, or a batch, that some of what belongs together has and some has not, and against heads that
    stand before the tokens in some and after them in others."""
    loose = (Role.MASK, Role.IDS, Role.HIDDEN, Role.SEQUENCES, Role.OUTPUT)
    orders = {
        axes.index(Axis.HEAD) < next(at for at, axis in enumerate(axes) if axis in (Axis.QUERY, Axis.KEY))
        for axes, part in zip(chosen, parts, strict=True)
        if part.role in (Role.Q, Role.K, Role.V, Role.KV) and Axis.HEAD in axes
    }
    cost = NOT_ALL * (len(orders) > 1)
    for axis in (Axis.LAYER, Axis.BATCH):
        have = [
            any(each is axis and side > 1 for each, side in zip(axes, shape, strict=True))
            for axes, shape in zip(chosen, shapes, strict=True)
        ]
        main = [own for own, part in zip(have, parts, strict=True) if part.role not in loose]
        if any(main) and not all(main):
            cost += NOT_ALL
        elif any(have) and main and not any(main):
            cost += 1.0
    return cost


def learn(known: dict[Quantity, int], part: Part, shape: Sequence[int]) -> float | None:
    """Add what ``part`` says to ``known``, and return what speaks against it; None where it does not fit."""
    cost = 0.0
    for said in counts_of(part, shape):
        before = known.get(said.quantity)
        if before is None or (said.soft and before == 1):
            known[said.quantity] = said.length
        elif before != said.length and not (said.soft and said.length == 1):
            return None
    width = part.place(Axis.WIDTH)
    if width is not None and part.role in (Role.Q, Role.K, Role.V) and not _learn_width(known, part, shape[width]):
        return None
    heads, kv_heads = known.get("head"), known.get("kv_head")
    if part.role in (Role.K, Role.V, Role.KV) and heads and kv_heads:
        if heads % kv_heads:
            return None
        cost += SHARED_KEYS * (heads != kv_heads and part.role is not Role.V)
    if part.role is Role.K and known.get("query") != known.get("key"):
        n_q, n_k = known.get("query", 0), known.get("key", 0)
        shared = part.kind == "self" and Axis.HEAD in part.axes and n_k and n_q > n_k and n_q % n_k == 0
        cost += UNEQUAL_LENGTHS + FEWER_KEYS * bool(shared)
    return cost


def _learn_width(known: dict[Quantity, int], part: Part, width: int) -> bool:
    """What the rows of heads that lie side by side say of d_k and of the heads that share keys; whether it fits."""
    heads, d_k = known.get("head", 0), known.get("d_k", 0)
    if part.role is Role.Q:
        if not heads:
            return True
        if width % heads or width < 2 * heads:
            return False
        return known.setdefault("d_k", width // heads) == width // heads
    if part.role is Role.K and d_k:
        if width % d_k:
            return False
        return known.setdefault("kv_head", width // d_k) == width // d_k
    kv_heads = known.get("kv_head", 0)
    return not kv_heads or width % kv_heads == 0
