"""Whether a reading fits the tensors of a file, and fits together; each fault names the axis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from attn_gui.model.counted import counted
from attn_gui.model.tensors.axes import Axis, Role
from attn_gui.model.tensors.axes_fit import USUAL_HEADS
from attn_gui.model.tensors.doubted import of_hidden, of_numbers, of_squares, of_sums, of_turns
from attn_gui.model.tensors.doubted_layers import of_layers
from attn_gui.model.tensors.doubted_masks import of_mask
from attn_gui.model.tensors.group_checks import alternatives, of_group
from attn_gui.model.tensors.info import Contents
from attn_gui.model.tensors.names import is_parameter
from attn_gui.model.tensors.part_checks import of_part
from attn_gui.model.tensors.problem import Problem as Problem
from attn_gui.model.tensors.problem import called as called
from attn_gui.model.tensors.problem import source_of as source_of
from attn_gui.model.tensors.reading import Reading
from attn_gui.model.tensors.sizes import Sizes, first_said, shape_of, sizes_of
from attn_gui.model.tokens import LONGEST_NAME

MOST_LAYERS = 1_000
# hidden states become an experiment whose projections are squares of this width
WIDEST_HIDDEN = 2_048


def problems(contents: Contents, reading: Reading) -> tuple[Problem, ...]:
    """Everything that keeps ``reading`` from being opened; empty where nothing does."""
    own = [p for index, part in enumerate(reading.parts) for p in of_part(contents, reading, index, part)]
    if own:
        return tuple(own)
    found = [problem for group in reading.groups for problem in of_group(contents, reading, group)]
    if found:
        return tuple(found)
    return tuple(_of_whole(contents, reading))


def sizes(contents: Contents, reading: Reading) -> Mapping[str, Sizes]:
    """What each group (:attr:`Reading.groups`) counts, as far as it is known; never raises."""
    return {group: sizes_of(contents, reading, group) for group in reading.groups}


def shown_groups(reading: Reading) -> tuple[str, ...]:
    """The groups that hold something to show: weights, scores, Q and K, or hidden states."""
    return tuple(group for group in reading.groups if source_of(reading, group) is not None)


def _of_whole(contents: Contents, reading: Reading) -> Iterator[Problem]:
    """What is wrong with tokens, batch, layers and the mask's meaning, where all tensors fit."""
    shown = shown_groups(reading)
    if not shown:
        yield Problem(_nothing(reading))
        return
    counted = {group: sizes_of(contents, reading, group) for group in shown}
    for group, size in counted.items():
        if not 0 <= reading.batch < size.batch:
            text = f"The batch has {size.batch} items, and none with the number {reading.batch + 1}"
            yield Problem(text, field="batch")
            return
        masked = any(part.role is Role.MASK for part in reading.used(group))
        if masked and reading.meaning is None and source_of(reading, group) in (Role.QKV, Role.SCORES):
            yield Problem("The mask: does True (or 1) mean “may attend” or “blocked”?", field="meaning")
        if source_of(reading, group) is Role.HIDDEN:
            yield from _hidden(contents, reading, group)
    there = {layer for size in counted.values() for layer in size.layers}
    missing = sorted(set(reading.layers or ()) - there) if there else []
    if missing:
        yield Problem(f"There is no layer {missing[0] + 1}", field="layers")
    elif reading.layers == () and there:
        yield Problem("No layer is chosen", field="layers")
    elif len(there if reading.layers is None else reading.layers) > MOST_LAYERS:
        yield Problem(f"At most {MOST_LAYERS:,} layers can be opened at once", field="layers")
    yield from _tokens(contents, reading, counted)


def _hidden(contents: Contents, reading: Reading, group: str) -> Iterator[Problem]:
    part = next(part for part in reading.used(group) if part.role is Role.HIDDEN)
    width = shape_of(contents, part)[part.axes.index(Axis.WIDTH)]
    if width > WIDEST_HIDDEN:
        text = f"The hidden states: {width:,} numbers a token; alone they can be opened up to {WIDEST_HIDDEN:,}"
        yield Problem(text, reading.parts.index(part), part.axes.index(Axis.WIDTH))


def _tokens(contents: Contents, reading: Reading, counted: Mapping[str, Sizes]) -> Iterator[Problem]:
    for field, tokens in (("tokens", reading.tokens), ("key_tokens", reading.key_tokens)):
        if tokens is None:
            continue
        bad = next((k for k, token in enumerate(tokens) if not 0 < len(token) <= LONGEST_NAME), None)
        if bad is not None:
            yield Problem(f"Token {bad + 1} has no name, or one of over {LONGEST_NAME:,} characters", field=field)
            return
        wanted = [(g, "keys" if field == "key_tokens" else "queries", s) for g, s in counted.items()]
        fitting = [len(tokens) == (s.n_k if what == "keys" else s.n_q) for _, what, s in wanted]
        if any(fitting):
            continue
        group, what, size = wanted[0]
        yield _wrong_count(contents, reading, group, field, what, size, len(tokens))


def _wrong_count(
    contents: Contents, reading: Reading, group: str, field: str, what: str, size: Sizes, count: int
) -> Problem:
    quantity = "key" if what == "keys" else "query"
    expected = size.n_k if what == "keys" else size.n_q
    said = first_said(contents, reading.used(group)).get(quantity)  # type: ignore[call-overload]
    text = f"{counted(count, 'token')} for {counted(expected, quantity, what)}"
    if said is None or said[2] is None:
        return Problem(text, field=field)
    _, part, place = said
    index = reading.parts.index(part)
    text += f" (axis {place} of {called(part)})"
    axis = Axis.KEY if what == "keys" and part.role is not Role.QKV else Axis.QUERY
    for axes in alternatives(contents, reading, index):
        at = axes.index(axis) if axis in axes else None
        if at is not None and shape_of(contents, part)[at] == count:
            return Problem(f"{text}: are {what} in axis {at}?", index, place, reading.with_axes(index, axes), field)
    return Problem(text, None, None, field=field)


def _nothing(reading: Reading) -> str:
    """Why there is nothing to show."""
    roles = {part.role for part in reading.used()}
    if not roles and any(is_parameter(part.tensors[0]) for part in reading.parts):
        return "These are the weights of a model: File > Open model runs it, File > Open weights takes one layer"
    if not roles:
        return "Nothing is chosen: say what one of the tensors is"
    if roles <= {Role.MASK, Role.SEQUENCES}:
        return "A mask alone has no scores: it can act on the experiment in the window"
    if Role.Q in roles:
        return "Q alone has no scores: K is missing"
    if roles & {Role.K, Role.KV}:
        return "K alone has no scores: Q is missing"
    if Role.OUTPUT in roles:
        return "An output alone has neither scores nor weights; read it as hidden states to see its rows"
    if Role.V in roles:
        return "V alone has neither scores nor weights"
    return "Nothing that can be shown: weights, scores, Q and K, or hidden states"


def doubts(contents: Contents, reading: Reading) -> tuple[Problem, ...]:
    """What is read in one way and might as well be another; nothing of it keeps the file from being opened."""
    return tuple(_doubts(contents, reading))


def _doubts(contents: Contents, reading: Reading) -> Iterator[Problem]:
    yield from of_layers(contents, reading)
    for group in reading.groups:
        yield from of_turns(contents, reading, group)
    for index, part in enumerate(reading.parts):
        if part.role is Role.MASK:
            yield from of_mask(contents, reading, index)
        if part.role in (Role.WEIGHTS, Role.SCORES):
            yield from of_numbers(contents, reading, index)
            yield from of_hidden(contents, reading, index)
            yield from of_squares(contents, reading, index)
            yield from of_sums(contents, reading, index)
        if part.role in (Role.WEIGHTS, Role.SCORES) and len(part.axes) == 4 and not part.layers:
            here, there = (Axis.LAYER, Axis.BATCH) if Axis.LAYER in part.axes else (Axis.BATCH, Axis.LAYER)
            at = part.place(here)
            if at is not None and shape_of(contents, part)[at] > 1:
                text = f"{shape_of(contents, part)[at]} items in axis {at}, read as {here.plural}"
                meant = "is this a batch" if there is Axis.BATCH else "are these layers"
                axes = _with(part.axes, at, there)
                yield Problem(f"{text}: {meant}?", index, at, reading.with_axes(index, axes))
        if part.role in (Role.WEIGHTS, Role.SCORES) and len(part.axes) == 3 and Axis.HEAD in part.axes:
            at = part.axes.index(Axis.HEAD)
            length = shape_of(contents, part)[at]
            if length not in USUAL_HEADS:
                axes = _with(part.axes, at, Axis.BATCH)
                text = f"{length} items in axis {at}, read as heads: is this a batch?"
                yield Problem(text, index, at, reading.with_axes(index, axes))


def _with(axes: Sequence[Axis], at: int, axis: Axis) -> tuple[Axis, ...]:
    return (*axes[:at], axis, *axes[at + 1 :])
