"""What a person tells of the tensors of a file beside what is proposed: what they are, and what their axes count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attn_gui.model.tensors.axes import Axis, Role
from attn_gui.model.tensors.info import Contents
from attn_gui.model.tensors.proposals import propose
from attn_gui.model.tensors.reading import Part, Reading

# that a message lists
MOST_NAMES = 12


@dataclass(frozen=True)
class ToldRole:
    """What the tensor called ``name`` is; None leaves it out. Without a name it is the only one that there is."""

    role: Role | None
    name: str = ""


@dataclass(frozen=True)
class ToldAxes:
    """What the axes of the tensor called ``name`` count. Without a name it is the only one that there is."""

    axes: tuple[Axis, ...]
    name: str = ""


class NotThere(Exception):
    """A tensor that is told of and that the file has not; the message says which there are, and what was told."""

    def __init__(self, expected: str, received: str) -> None:
        super().__init__(f"expected {expected}, received {received}")
        self.expected, self.received = expected, received


def as_told(contents: Contents, roles: Sequence[ToldRole], axes: Sequence[ToldAxes]) -> Reading:
    """The reading to propose, given what is told; raises NotThere.

    Of several tensors with one role in an attention, the one is used that was told to have it.
    """
    plain = propose(contents)
    reading = propose(contents, {_part(plain, told.name).tensors: told.role for told in roles}) if roles else plain
    for each in axes:
        part = _part(reading, each.name)
        shape = contents.tensor(part.tensors[0]).shape
        if len(each.axes) != len(shape):
            counted = f"{len(shape)} {'axis' if len(shape) == 1 else 'axes'} for {part.tensors[0]}, of shape {shape}"
            raise NotThere(counted, ",".join(each.axes))
        reading = reading.with_part(reading.parts.index(part), part.with_axes(each.axes))
    return reading


def _part(reading: Reading, name: str) -> Part:
    """The part that the tensor called ``name`` is of: one of many layers says it of all of them."""
    if not name and len(reading.parts) == 1:
        return reading.parts[0]
    found = next((part for part in reading.parts if name in part.tensors), None)
    if found is None:
        names = ", ".join(part.tensors[0] for part in reading.parts[:MOST_NAMES])
        more = f" and {len(reading.parts) - MOST_NAMES} more" if len(reading.parts) > MOST_NAMES else ""
        raise NotThere(f"the name of a tensor ({names}{more})", repr(name) if name else "none")
    return found
