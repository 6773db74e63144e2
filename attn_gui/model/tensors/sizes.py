"""What the axes of the tensors of one attention count, taken together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from attn_gui.model.tensors.axes import Axis, Role
from attn_gui.model.tensors.info import Contents
from attn_gui.model.tensors.reading import Part, Reading

Quantity = Literal["layer", "batch", "head", "kv_head", "query", "key", "d_k", "d_v"]
OF_KEYS = (Role.K, Role.V, Role.KV)
# what is believed first
_TRUSTED = (
    Role.WEIGHTS,
    Role.SCORES,
    Role.Q,
    Role.QKV,
    Role.K,
    Role.KV,
    Role.V,
    Role.OUTPUT,
    Role.HIDDEN,
    Role.MASK,
    Role.IDS,
    Role.SEQUENCES,
)


@dataclass(frozen=True)
class Sizes:
    """What one attention of a file counts: 0 where nothing says.

    layers: the layers that there are, from 0. batch: items of the batch, 1 without one.
    """

    layers: tuple[int, ...]
    batch: int
    heads: int
    kv_heads: int
    n_q: int
    n_k: int
    d_k: int
    d_v: int


@dataclass(frozen=True)
class Count:
    """That a part counts ``length`` of ``quantity`` in ``axis`` (None: it has no axis of heads, so it is of one).

    soft: whether a length of 1 only means that it is the same for all.
    """

    quantity: Quantity
    length: int
    axis: int | None
    soft: bool = False


def counts_of(part: Part, shape: Sequence[int]) -> Iterator[Count]:
    """What the axes of a tensor of ``shape`` say as ``part`` reads them."""
    role = part.role
    if role is None or len(part.axes) != len(shape) or role is Role.SEQUENCES:
        return
    for place, (axis, length) in enumerate(zip(part.axes, shape, strict=True)):
        soft = role is Role.MASK or axis is Axis.BATCH
        for quantity in _QUANTITIES.get((axis, role), _BY_AXIS.get(axis, ())):
            yield Count(quantity, length, place, soft)
    apart = {Axis.HEAD, Axis.WIDTH, Axis.FUSED}
    if role not in (Role.MASK, Role.HIDDEN, Role.IDS, Role.OUTPUT) and not apart & set(part.axes):
        yield Count("kv_head" if role in OF_KEYS else "head", 1, None)
        if role is Role.QKV:
            yield Count("kv_head", 1, None)


_BY_AXIS: dict[Axis, tuple[Quantity, ...]] = {
    Axis.LAYER: ("layer",),
    Axis.BATCH: ("batch",),
    Axis.HEAD: ("head",),
    Axis.QUERY: ("query",),
    Axis.KEY: ("key",),
}
_QUANTITIES: dict[tuple[Axis, Role], tuple[Quantity, ...]] = {
    **{(Axis.HEAD, role): ("kv_head",) for role in OF_KEYS},
    (Axis.HEAD, Role.QKV): ("head", "kv_head"),
    (Axis.QUERY, Role.QKV): ("query", "key"),
    (Axis.SIZE, Role.Q): ("d_k",),
    (Axis.SIZE, Role.K): ("d_k",),
    (Axis.SIZE, Role.V): ("d_v",),
    (Axis.SIZE, Role.KV): ("d_k", "d_v"),
    (Axis.SIZE, Role.QKV): ("d_k", "d_v"),
    (Axis.SIZE, Role.OUTPUT): ("d_v",),
}


def trusted(parts: Sequence[Part]) -> list[Part]:
    """Parts that are used, what is believed first standing first."""
    used = [part for part in parts if part.role is not None]
    return sorted(used, key=lambda part: _TRUSTED.index(part.role))


def first_said(contents: Contents, parts: Sequence[Part]) -> dict[Quantity, tuple[int, Part, int | None]]:
    """What each quantity is, by the first part that is to be believed, and which part and axis that is."""
    found: dict[Quantity, tuple[int, Part, int | None]] = {}
    for part in trusted(parts):
        for said in counts_of(part, shape_of(contents, part)):
            before = found.get(said.quantity)
            # an axis says more than that there is none, and more than a length of 1 that broadcasts
            weak = before is not None and before[0] == 1 and (before[2] is None or said.soft)
            if before is None or (weak and said.length != 1 and said.axis is not None):
                found[said.quantity] = (said.length, part, said.axis)
    return found


def shape_of(contents: Contents, part: Part) -> tuple[int, ...]:
    """The shape of the first of the part's tensors."""
    return contents.tensor(part.tensors[0]).shape


def sizes_of(contents: Contents, reading: Reading, group: str) -> Sizes:
    """What an attention counts, as far as it is known."""
    parts = reading.used(group)
    known = {quantity: length for quantity, (length, *_) in first_said(contents, parts).items()}
    heads = known.get("head", 0) or reading.heads or 0
    kv_heads = known.get("kv_head", 0) or reading.kv_heads or _kv_heads(contents, parts, known, heads)
    widths = dict(_widths(contents, parts, heads, kv_heads))
    return Sizes(
        layers_of(contents, parts),
        max(1, known.get("batch", 1)),
        heads,
        kv_heads,
        known.get("query", 0),
        known.get("key", 0) or (known.get("query", 0) if _only_queries(parts) else 0),
        known.get("d_k", 0) or widths.get("d_k", 0),
        known.get("d_v", 0) or widths.get("d_v", 0),
    )


def layers_of(contents: Contents, parts: Sequence[Part]) -> tuple[int, ...]:
    """The layers that all the parts with layers have; empty where there is but one and it has no number."""
    common: set[int] | None = None
    for part in parts:
        place = part.place(Axis.LAYER)
        shape = shape_of(contents, part)
        if part.layers:
            own = set(part.layers)
        elif place is not None and place < len(shape):
            own = set(range(shape[place]))
        else:
            continue
        if part.role in (Role.HIDDEN, Role.MASK, Role.IDS, Role.SEQUENCES, Role.OUTPUT) and common is not None:
            continue  # hidden states are one more than layers, and a mask may be there for some
        common = own if common is None else common & own
    return tuple(sorted(common or ()))


def _kv_heads(contents: Contents, parts: Sequence[Part], known: Mapping[Quantity, int], heads: int) -> int:
    """Of keys that lie side by side: as many as their width holds of the queries' d_k."""
    d_k = known.get("d_k", 0)
    for part in parts:
        if part.role is Role.Q and Axis.WIDTH in part.axes and heads:
            d_k = shape_of(contents, part)[part.axes.index(Axis.WIDTH)] // heads
    for part in parts:
        if part.role in (Role.K, Role.KV) and Axis.WIDTH in part.axes and d_k:
            count, rest = divmod(shape_of(contents, part)[part.axes.index(Axis.WIDTH)], d_k)
            if not rest and count and heads % count == 0:
                return count
    return heads


def _widths(contents: Contents, parts: Sequence[Part], heads: int, kv_heads: int) -> Iterator[tuple[Quantity, int]]:
    """Sizes of one head's rows where the heads lie side by side."""
    for part in parts:
        for axis, length in zip(part.axes, shape_of(contents, part), strict=False):
            count = kv_heads if part.role in OF_KEYS else heads
            if axis is Axis.FUSED and heads:
                count = heads + 2 * kv_heads
            elif axis is not Axis.WIDTH or part.role in (Role.HIDDEN, Role.OUTPUT) or not count:
                continue
            if part.role is not Role.V:
                yield "d_k", length // count
            if part.role not in (Role.Q, Role.K):
                yield "d_v", length // count


def _only_queries(parts: Sequence[Part]) -> bool:
    """Whether nothing speaks of keys: then they are the queries' own tokens."""
    return all(part.role in (Role.HIDDEN, Role.IDS, Role.OUTPUT, Role.SEQUENCES) for part in parts)
