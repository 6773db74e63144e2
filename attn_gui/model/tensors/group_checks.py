"""What does not fit together in one attention, with the axis, and what it could be instead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from attn_gui.model.counted import counted as words
from attn_gui.model.tensors.axes import Axis, Role
from attn_gui.model.tensors.axes_fit import readings
from attn_gui.model.tensors.info import Contents
from attn_gui.model.tensors.problem import Problem, called, sentence, source_of
from attn_gui.model.tensors.reading import Part, Reading
from attn_gui.model.tensors.sizes import OF_KEYS, Count, Sizes, counts_of, first_said, shape_of, sizes_of

_QUANTITIES = {
    "layer": "layers",
    "batch": "items of a batch",
    "head": "heads",
    "kv_head": "heads",
    "query": "queries",
    "key": "keys",
    "d_k": "numbers of a row",
    "d_v": "numbers of a row",
}


def of_group(contents: Contents, reading: Reading, group: str) -> Iterator[Problem]:
    """What does not fit together in one attention."""
    parts = reading.used(group)
    if source_of(reading, group) is Role.WEIGHTS:
        parts = tuple(part for part in parts if part.role not in (Role.Q, Role.MASK))
    first = first_said(contents, parts)
    for part in parts:
        index = reading.parts.index(part)
        for said in counts_of(part, shape_of(contents, part)):
            length, other, _ = first[said.quantity]
            if said.length == length or (said.soft and 1 in (said.length, length)) or other is part:
                continue
            if said.quantity == "layer" and part.role in (Role.HIDDEN, Role.MASK, Role.IDS):
                continue
            yield _misfit(contents, reading, index, said, first[said.quantity])
            return
    yield from _counts(contents, reading, group)


def _misfit(
    contents: Contents,
    reading: Reading,
    index: int,
    said: Count,
    reference: tuple[int, Part, int | None],
) -> Problem:
    """That a part says another length than another one, with the axis, and what it could be instead."""
    part, (length, other, place) = reading.parts[index], reference
    named = sentence(part)
    have = "have" if called(other).startswith("the ") and called(other).endswith("s") else "has"
    at = "" if place is None else f" in axis {place}"
    quantity = _QUANTITIES[said.quantity]
    if said.axis is None:
        remedy = reading.with_part(index, replace(part, role=None))
        text = f"{named}: no axis of heads, and {called(other)} {have} {length}{at}: is this their mean?"
        return Problem(text, index, None, remedy)
    text = f"{named}: {said.length} items in axis {said.axis}, read as {quantity}; {called(other)} {have} {length}{at}"
    for axes in alternatives(contents, reading, index):
        if axes[said.axis] != part.axes[said.axis]:
            meant = "is this a batch" if axes[said.axis] is Axis.BATCH else f"are these {axes[said.axis].plural}"
            return Problem(f"{text}: {meant}?", index, said.axis, reading.with_axes(index, axes))
    return Problem(text, index, said.axis)


def alternatives(contents: Contents, reading: Reading, index: int) -> Iterator[tuple[Axis, ...]]:
    """Other readings of the axes of a part that fit all the other parts of its attention."""
    part = reading.parts[index]
    assert part.role is not None
    shape = shape_of(contents, part)
    others = [each for each in reading.used(part.group) if each is not part]
    known = first_said(contents, others)
    for _, axes in sorted(readings(part.role, shape, layers=len(part.tensors) > 1), key=lambda each: each[0]):
        said = counts_of(replace(part, axes=axes), shape)
        if all(s.quantity not in known or s.length == known[s.quantity][0] or (s.soft and s.length == 1) for s in said):
            yield axes


def _counts(contents: Contents, reading: Reading, group: str) -> Iterator[Problem]:
    """Heads that lie side by side, and heads that share keys."""
    counted = sizes_of(contents, reading, group)
    parts = reading.used(group)
    for part in parts:
        index = reading.parts.index(part)
        for place, axis in enumerate(part.axes):
            if axis not in (Axis.WIDTH, Axis.FUSED) or part.role in (Role.HIDDEN, Role.OUTPUT):
                continue
            length = shape_of(contents, part)[place]
            if not counted.heads:
                text = f"{called(part)}: the {length} numbers in axis {place} are of all heads: how many heads?"
                yield Problem(text, index, place, field="heads")
                return
            count = counted.kv_heads if part.role in OF_KEYS else counted.heads
            count = counted.heads + 2 * counted.kv_heads if axis is Axis.FUSED else count
            if length % count:
                text = (
                    f"{called(part)}: the {length} numbers in axis {place} cannot be divided evenly among {count} heads"
                )
                field = "heads" if reading.heads is not None else ""
                yield Problem(text, index, place, field=field)
                return
    if counted.kv_heads and counted.heads % counted.kv_heads:
        keys = next((p for p in parts if p.role in OF_KEYS), None)
        keys_of, queries = words(counted.kv_heads, "head"), words(counted.heads, "head")
        text = f"{keys_of} of keys and values cannot be shared evenly among {queries} of queries"
        yield Problem(text, None if keys is None else reading.parts.index(keys), field="kv_heads")
        return
    roles = {part.role: part for part in parts}
    if Role.Q in roles and Role.K in roles:
        yield from _same_width(contents, reading, roles[Role.Q], roles[Role.K], counted)
    if source_of(reading, group) in (Role.QKV, Role.SCORES):
        yield from _ends(contents, reading, group, counted)


def _ends(contents: Contents, reading: Reading, group: str, counted: Sizes) -> Iterator[Problem]:
    """Ends of sequences that are not those of the tokens."""
    ends = [part for part in reading.used(group) if part.role is Role.SEQUENCES]
    for part in ends:
        tensor = contents.tensor(part.tensors[0])
        of_keys = Axis.KEY in part.axes
        # the only ones are those of both
        sides = {counted.n_k if of_keys else counted.n_q} | ({counted.n_q, counted.n_k} if len(ends) == 1 else set())
        if tensor.peek is None:
            continue
        low, high = int(tensor.peek.low or 0), int(tensor.peek.high or 0)
        wrong = next((count for count in sorted(sides) if count != high), None)
        if not (tensor.is_whole or tensor.peek.integral):
            text = "the ends of sequences are whole numbers, and not all of these are"
        elif low < 0:
            text = f"the ends of sequences are 0 or more, and one is {low}"
        elif low > 0:
            text = f"the ends of sequences begin with {low}, and not with 0"
        elif wrong is not None:
            text = f"the ends of sequences reach {high}, and there are {words(wrong, 'key' if of_keys else 'token')}"
        elif len(tensor.shape) == 1 and not tensor.peek.rising:
            text = "the ends of sequences do not rise"
        else:
            continue
        remedy = reading.with_part(reading.parts.index(part), replace(part, role=None))
        yield Problem(f"{tensor.name}: {text}: leave them out?", reading.parts.index(part), None, remedy)
    counts = [(part, shape_of(contents, part)[0] - 1) for part in ends if len(part.axes) == 1]
    if len({count for _, count in counts}) > 1:
        told = " and ".join(f"{part.tensors[0]} of {words(count, 'sequence')}" for part, count in counts)
        yield Problem(f"Queries and keys lie in as many sequences: {told}", reading.parts.index(counts[-1][0]))


def _same_width(contents: Contents, reading: Reading, q: Part, k: Part, counted: Sizes) -> Iterator[Problem]:
    """Q and K are as wide, a head."""

    def width(part: Part, count: int) -> int:
        shape = shape_of(contents, part)
        if Axis.SIZE in part.axes:
            return shape[part.axes.index(Axis.SIZE)]
        return shape[part.axes.index(Axis.WIDTH)] // count

    own, other = width(k, counted.kv_heads or 1), width(q, counted.heads or 1)
    if own != other:
        yield Problem(f"K: rows of {own} numbers, and those of Q have {other}", reading.parts.index(k))
