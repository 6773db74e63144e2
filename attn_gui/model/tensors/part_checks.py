"""What is wrong with one tensor by itself, as it is read."""

from __future__ import annotations

from collections.abc import Iterator

from attn_gui.model.tensors.axes import NEEDED, Axis, Role, choices
from attn_gui.model.tensors.info import Contents
from attn_gui.model.tensors.problem import Problem, sentence
from attn_gui.model.tensors.reading import Part, Reading
from attn_gui.model.tensors.sizes import shape_of


def of_part(contents: Contents, reading: Reading, index: int, part: Part) -> Iterator[Problem]:
    """What is wrong with the part by itself."""
    if part.role is None:
        return
    named, shape = sentence(part), shape_of(contents, part)
    types = {contents.tensor(tensor).dtype for tensor in part.tensors}
    if any(dtype.startswith("complex") for dtype in types):
        yield Problem(f"{named}: real numbers are needed, not {sorted(types)[0]}", index)
        return
    other = next((t for t in part.tensors if contents.tensor(t).shape[1:] != shape[1:] and len(shape)), None)
    other = other or next((t for t in part.tensors if len(contents.tensor(t).shape) != len(shape)), None)
    if other is not None or any(contents.tensor(t).shape != shape for t in part.tensors):
        other = other or next(t for t in part.tensors if contents.tensor(t).shape != shape)
        text = f"{other} has the shape {contents.tensor(other).shape}, and {part.tensors[0]} has {shape}"
        yield Problem(f"{named}: the layers differ: {text}", index)
        return
    if not shape:
        yield Problem(f"{named}: a lone number has no axes", index)
        return
    if 0 in shape:
        yield Problem(f"{named}: no items in axis {shape.index(0)}", index, shape.index(0))
        return
    if len(part.axes) != len(shape):
        yield Problem(f"{named}: {len(shape)} axes of shape {shape}, read as {len(part.axes)}", index)
        return
    for place, axis in enumerate(part.axes):
        if axis not in choices(part.role):
            yield Problem(f"{named}: axis {place} cannot be read as {axis.label.lower()}", index, place)
            return
        if axis is not Axis.SINGLE and axis in part.axes[:place]:
            first = part.axes.index(axis)
            yield Problem(f"{named}: axes {first} and {place} are both read as {axis.label.lower()}", index, place)
            return
        if axis is Axis.SINGLE and shape[place] != 1:
            yield Problem(f"{named}: {shape[place]} items in axis {place}: what do they count?", index, place)
            return
        if axis is Axis.PART and shape[place] != (2 if part.role is Role.KV else 3):
            parts = "2 items, K and V" if part.role is Role.KV else "3 items, Q, K and V"
            yield Problem(f"{named}: {shape[place]} items in axis {place}, which needs {parts}", index, place)
            return
        if axis is Axis.LAYER and part.layers:
            yield Problem(f"{named}: axis {place} is read as layers, and each layer is another tensor", index, place)
            return
    if not any(set(form) <= set(part.axes) for form in NEEDED[part.role]):
        missing = next(axis for axis in NEEDED[part.role][0] if axis not in part.axes)
        yield Problem(f"{named}: which axis counts {missing.plural}?", index)
