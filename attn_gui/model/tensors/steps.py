"""The steps from a tensor of a file to an array of one head after another: views, and the same as source text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from attn_gui.model.tensors.axes import Axis, Role
from attn_gui.model.tensors.reading import Part

Array = NDArray[Any]


@dataclass(frozen=True)
class Index:
    """One item of some axes, which go; None keeps an axis."""

    items: tuple[int | None, ...]

    def apply(self, array: Array) -> Array:
        return array[tuple(slice(None) if item is None else item for item in self.items)]

    def text(self, torch: bool) -> str:
        return f"[{', '.join(':' if item is None else str(item) for item in self.items)}]"


@dataclass(frozen=True)
class Slice:
    """A range of one axis."""

    axis: int
    start: int
    stop: int

    def apply(self, array: Array) -> Array:
        return array[(*(slice(None),) * self.axis, slice(self.start, self.stop))]

    def text(self, torch: bool) -> str:
        return f"[{', '.join([':'] * self.axis + [f'{self.start}:{self.stop}'])}]"


@dataclass(frozen=True)
class Reshape:
    """Other axes over the same numbers."""

    shape: tuple[int, ...]

    def apply(self, array: Array) -> Array:
        return array.reshape(self.shape)

    def text(self, torch: bool) -> str:
        return f".reshape({', '.join(map(str, self.shape))})"


@dataclass(frozen=True)
class Permute:
    """The axes in another order."""

    order: tuple[int, ...]

    def apply(self, array: Array) -> Array:
        return array.transpose(self.order)

    def text(self, torch: bool) -> str:
        return f".{'permute' if torch else 'transpose'}({', '.join(map(str, self.order))})"


@dataclass(frozen=True)
class NewAxis:
    """An axis of length 1 at ``axis``."""

    axis: int

    def apply(self, array: Array) -> Array:
        return array[(*(slice(None),) * self.axis, None)]

    def text(self, torch: bool) -> str:
        return f"[{', '.join([':'] * self.axis + ['None'])}]"


Step = Index | Slice | Reshape | Permute | NewAxis
# the axes of what comes out; without HEAD and QUERY where those have none of their own (masks)
_CANONICAL: dict[Role, tuple[Axis, ...]] = {
    Role.WEIGHTS: (Axis.HEAD, Axis.QUERY, Axis.KEY),
    Role.SCORES: (Axis.HEAD, Axis.QUERY, Axis.KEY),
    Role.MASK: (Axis.HEAD, Axis.QUERY, Axis.KEY),
    Role.Q: (Axis.HEAD, Axis.QUERY, Axis.SIZE),
    Role.OUTPUT: (Axis.HEAD, Axis.QUERY, Axis.SIZE),
    Role.K: (Axis.HEAD, Axis.KEY, Axis.SIZE),
    Role.V: (Axis.HEAD, Axis.KEY, Axis.SIZE),
    Role.HIDDEN: (Axis.QUERY, Axis.WIDTH),
    Role.IDS: (Axis.QUERY,),
    Role.SEQUENCES: (Axis.QUERY,),
}


def steps_to(
    target: Role, part: Part, shape: Sequence[int], *, layer: int = 0, batch: int = 0, heads: int = 1, kv_heads: int = 1
) -> list[Step]:
    """From a tensor of ``shape``, read as ``part`` says, to ``target``: [heads, queries, keys] or [heads, rows, size].

    target: the part's role; of Q, K and V fused, one of them. Masks keep axes of length 1, which broadcast; hidden
    states are [rows, width], ids and ends [count]. heads, kv_heads: how many lie side by side in WIDTH or FUSED.
    """
    steps: list[Step] = []
    token = Axis.KEY if target in (Role.K, Role.V) else Axis.QUERY
    axes, sides = list(part.axes), list(shape)
    if part.role in (Role.QKV, Role.KV) or target in (Role.IDS, Role.SEQUENCES):
        axes = [token if axis in (Axis.QUERY, Axis.KEY) else axis for axis in axes]
    items: list[int | None] = []
    for axis, length in zip(axes, sides, strict=True):
        if axis in (Axis.LAYER, Axis.BATCH):
            items.append(min(layer if axis is Axis.LAYER else batch, length - 1))
        elif axis is Axis.PART:
            items.append((Role.Q, Role.K, Role.V).index(target) - (part.role is Role.KV))
        else:
            items.append(0 if axis is Axis.SINGLE else None)
    if any(item is not None for item in items):
        kept = [index for index, item in enumerate(items) if item is None]
        axes, sides = [axes[index] for index in kept], [sides[index] for index in kept]
        while items[-1] is None:
            items.pop()
        steps.append(Index(tuple(items)))
    count = kv_heads if target in (Role.K, Role.V) else heads
    if Axis.FUSED in axes:
        _part_of(target, part.order, axes, sides, heads, kv_heads, steps)
    if Axis.WIDTH in axes and target is not Role.HIDDEN:
        at = axes.index(Axis.WIDTH)
        sides[at : at + 1] = [count, sides[at] // count]
        axes[at : at + 1] = [Axis.HEAD, Axis.SIZE]
        steps.append(Reshape(tuple(sides)))
    canonical = _CANONICAL[target]
    order = tuple(axes.index(axis) for axis in canonical if axis in axes)
    if order != tuple(range(len(order))):
        steps.append(Permute(order))
    for place, axis in enumerate(canonical):
        if axis not in axes:
            steps.append(NewAxis(place))
    return steps


def _part_of(
    target: Role, order: str, axes: list[Axis], sides: list[int], heads: int, kv_heads: int, steps: list[Step]
) -> None:
    """Take ``target`` out of an axis that holds Q, K and V of all heads."""
    at = axes.index(Axis.FUSED)
    size = sides[at] // (heads + 2 * kv_heads)
    if order == "parts":
        first = {Role.Q: 0, Role.K: heads, Role.V: heads + kv_heads}[target]
        count = heads if target is Role.Q else kv_heads
        steps.append(Slice(at, first * size, (first + count) * size))
        sides[at], axes[at] = count * size, Axis.WIDTH
        return
    shared = heads // kv_heads
    sides[at : at + 1] = [kv_heads, shared + 2, size]
    steps.append(Reshape(tuple(sides)))
    if target is Role.Q:
        steps.append(Slice(at + 1, 0, shared))
        sides[at : at + 2] = [heads]
        steps.append(Reshape(tuple(sides)))
    else:
        steps.append(Index((*(None,) * (at + 1), shared + (target is Role.V))))
        sides[at : at + 2] = [kv_heads]
    axes[at : at + 1] = [Axis.HEAD, Axis.SIZE]


def applied(array: Array, steps: Sequence[Step]) -> Array:
    """What the steps make of ``array``: a view of it wherever numpy can."""
    for step in steps:
        array = step.apply(array)
    return array


def written(expression: str, steps: Sequence[Step], *, torch: bool = False) -> str:
    """The steps as Python after ``expression``, which is an array of numpy or a tensor of torch."""
    return expression + "".join(step.text(torch) for step in steps)
