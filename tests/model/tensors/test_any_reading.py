"""Whatever a person chooses, one axis after another, is answered in words."""

from __future__ import annotations

import math
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from attn_gui.model.tensors.axes import Axis, Role, choices
from attn_gui.model.tensors.checks import doubts, problems
from attn_gui.model.tensors.info import Peek
from attn_gui.model.tensors.offers import offers
from attn_gui.model.tensors.proposals import propose
from attn_gui.model.tensors.reading import swapped
from attn_gui.model.tensors.sizes import sizes_of
from tests.model.tensors.holding import FLAGS, contents

NAMES = ["attn", "layers5", "q", "k", "v", "qkv", "mask", "cu_seqlens", "untitled", "out", "h.3.attn"]
SHAPES = st.lists(st.sampled_from([1, 2, 3, 4, 7]), min_size=0, max_size=5).map(tuple)


@st.composite
def held(draw: st.DrawFn) -> dict[str, object]:
    shapes: dict[str, object] = {}
    for name in draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True)):
        shape = draw(SHAPES)
        sums = tuple(draw(st.booleans()) for _ in shape)
        spans = tuple((0.9, 1.0) if each else (0.1, 2.0) for each in sums)
        peek = draw(st.sampled_from([Peek(0.0, 1.0, sums=sums, spans=spans), Peek(-3.0, 2.0), FLAGS, None]))
        dtype = draw(st.sampled_from(["float32", "float32", "bool", "int64"]))
        shapes[name.replace(".", "__")] = (shape, dtype, *([peek] if peek is not None and math.prod(shape) else []))
    return shapes


@given(held(), st.data())
@settings(max_examples=400)
def test_any_choice_of_roles_and_axes_is_answered(shapes: dict[str, object], data: st.DataObject) -> None:
    file = contents(**shapes)
    reading = propose(file)
    for _ in range(data.draw(st.integers(0, 6))):
        index = data.draw(st.integers(0, len(reading.parts) - 1))
        part = reading.parts[index]
        if part.role is None or not part.axes:
            reading = reading.with_part(index, replace(part, role=data.draw(st.sampled_from(Role))))
            continue
        axis = data.draw(st.sampled_from([Axis.SINGLE, *choices(part.role)]))
        place = data.draw(st.integers(0, len(part.axes) - 1))
        reading = reading.with_axes(index, swapped(part.axes, place, axis))
        found = [*problems(file, reading), *doubts(file, reading)]
        assert all(each.text for each in found)
        for group in reading.groups:
            sizes_of(file, reading, group)
        if not problems(file, reading):
            assert all(each.text for each in offers(file, reading))
