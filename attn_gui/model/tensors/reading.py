"""Reading: how a person reads the tensors of a file. A value: to correct it, make another (``with_part``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from attn_gui.model.mask_import import Meaning
from attn_gui.model.tensors.axes import Axis, Role

Kind = Literal["self", "cross"]
Order = Literal["parts", "heads"]


@dataclass(frozen=True)
class Part:
    """One array of the attention as the file holds it: one tensor, or one a layer.

    role: None leaves it out. tensors: names in the contents, in the order of ``layers``, which counts from 0; one
    tensor may hold all layers in an axis, then ``layers`` is empty. axes: one for each axis, the same for all tensors.
    group: parts of one group belong to the same attention ("encoder", "decoder"); kind: of that attention.
    module: the place in the model, ``{}`` where the layer's number stands ("blocks.{}.attn"); empty if unknown.
    order: of an axis FUSED: ``parts`` (all of Q, then K, then V) or ``heads`` (Q, K, V of each head, or of each group
    of heads that share one K and V).
    """

    role: Role | None
    tensors: tuple[str, ...]
    axes: tuple[Axis, ...]
    layers: tuple[int, ...] = ()
    group: str = ""
    kind: Kind = "self"
    module: str = ""
    order: Order = "parts"

    def place(self, axis: Axis) -> int | None:
        """Which axis counts ``axis``, from 0; None where none does."""
        return self.axes.index(axis) if axis in self.axes else None

    def with_axes(self, axes: Sequence[Axis]) -> Part:
        """Read with these axes; where one of them counts the layers, a number in the name does not."""
        layers = () if Axis.LAYER in axes and len(self.tensors) == 1 else self.layers
        return replace(self, axes=tuple(axes), layers=layers)

    @property
    def is_side_by_side(self) -> bool:
        """Whether one axis holds the rows of all heads."""
        return self.role is not Role.HIDDEN and (Axis.WIDTH in self.axes or Axis.FUSED in self.axes)


@dataclass(frozen=True)
class Reading:
    """How the tensors of a file are read.

    batch: which item of the batch is opened, from 0. layers: which layers are opened, from 0; None opens all.
    heads, kv_heads: how many, where the heads lie side by side in one axis (WIDTH, FUSED) and no tensor says;
    None takes what another tensor says, or 1. meaning: of a mask; None where it cannot be known (flags): then it has to
    be chosen before the file is opened. tokens: names of the queries, and of the keys too unless ``key_tokens`` is
    given; None numbers them.
    """

    parts: tuple[Part, ...]
    batch: int = 0
    layers: tuple[int, ...] | None = None
    heads: int | None = None
    kv_heads: int | None = None
    meaning: Meaning | None = None
    tokens: tuple[str, ...] | None = None
    key_tokens: tuple[str, ...] | None = None

    def used(self, group: str | None = None) -> tuple[Part, ...]:
        """The parts that are not left out, of all groups or one."""
        return tuple(p for p in self.parts if p.role is not None and group in (None, p.group))

    @property
    def groups(self) -> tuple[str, ...]:
        """The attentions, each by its name, in the order of the file."""
        return tuple(dict.fromkeys(part.group for part in self.used()))

    def with_part(self, index: int, part: Part) -> Reading:
        """With one of ``parts`` replaced."""
        parts = list(self.parts)
        parts[index] = part
        return replace(self, parts=tuple(parts))

    def with_axes(self, index: int, axes: Sequence[Axis]) -> Reading:
        """With the axes of one of ``parts`` replaced."""
        return self.with_part(index, self.parts[index].with_axes(axes))


def swapped(axes: Sequence[Axis], index: int, axis: Axis) -> tuple[Axis, ...]:
    """``axes`` with ``axis`` at ``index``, and what stood there where ``axis`` was before."""
    result = list(axes)
    if axis in result and axis is not Axis.SINGLE:
        result[result.index(axis)] = result[index]
    result[index] = axis
    return tuple(result)
