"""Masks that might as well be of a batch, or of something else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from attn_gui.model.tensors.axes import Axis, Role
from attn_gui.model.tensors.info import Contents
from attn_gui.model.tensors.problem import Problem, sentence
from attn_gui.model.tensors.reading import Reading
from attn_gui.model.tensors.sizes import shape_of

# what has the batch of the attention, if there is one
BATCHED = (Role.WEIGHTS, Role.SCORES, Role.Q, Role.K, Role.V, Role.QKV, Role.KV, Role.OUTPUT, Role.HIDDEN)


def of_mask(contents: Contents, reading: Reading, index: int) -> Iterator[Problem]:
    """A batch that nothing else has, and queries that are as many as the items of the batch."""
    part = reading.parts[index]
    shape = shape_of(contents, part)
    others = [each for each in reading.used(part.group) if each.role in BATCHED]
    if not others or len(part.axes) != len(shape):
        return
    items = {shape_of(contents, each)[at] for each in others if (at := each.place(Axis.BATCH)) is not None}
    at = part.place(Axis.BATCH)
    if at is not None and shape[at] > 1 and items <= {1}:
        text = f"{shape[at]} items in axis {at}, read as a batch, and nothing else has one: is it of something else?"
        yield Problem(f"{sentence(part)}: {text}", index, at, reading.with_part(index, replace(part, role=None)))
    elif part.axes == (Axis.QUERY, Axis.KEY) and shape[0] > 1 and shape[0] in items:
        text = f"{shape[0]} items in axis 0, read as queries: is this a batch?"
        yield Problem(f"{sentence(part)}: {text}", index, 0, reading.with_axes(index, (Axis.BATCH, Axis.KEY)))
