"""What is read in one way and might as well be another: weights and scores, heads and tokens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from attn_gui.model.tensors.axes import Axis, Role
from attn_gui.model.tensors.axes_fit import USUAL_HEADS
from attn_gui.model.tensors.group_checks import of_group
from attn_gui.model.tensors.info import Contents
from attn_gui.model.tensors.names import is_by_tokens, role_of
from attn_gui.model.tensors.part_checks import of_part
from attn_gui.model.tensors.problem import Problem, sentence
from attn_gui.model.tensors.reading import Part, Reading, swapped
from attn_gui.model.tensors.sizes import shape_of, sizes_of

SQUARE = (Role.WEIGHTS, Role.SCORES)
TURNED = (Role.Q, Role.K, Role.V, Role.QKV, Role.KV, Role.OUTPUT)


def of_numbers(contents: Contents, reading: Reading, index: int) -> Iterator[Problem]:
    """Weights whose rows do not sum to 1, and scores that are all in 0 to 1, where the name does not say it."""
    part = reading.parts[index]
    peeks = [peek for name in part.tensors if (peek := contents.tensor(name).peek) is not None]
    key = part.place(Axis.KEY)
    if key is None or not peeks or not all(peek.like_weights for peek in peeks):
        return
    sums = [span for peek in peeks if key < len(peek.spans) and (span := peek.spans[key]) is not None]
    if not sums or all(peek.sums[key] for peek in peeks):
        return
    if part.role is Role.WEIGHTS and role_of(part.tensors[0]) is Role.WEIGHTS:
        return
    low, high = min(span[0] for span in sums), max(span[1] for span in sums)
    other, asked = (Role.SCORES, "scores") if part.role is Role.WEIGHTS else (Role.WEIGHTS, "weights after all")
    text = f"{sentence(part)}: the numbers lie in 0 to 1" if max(p.high or 0 for p in peeks) <= 1 else sentence(part)
    text += f"{',' if text.endswith('1') else ':'} rows sum to {low:.2f} to {high:.2f}: are these {asked}?"
    yield Problem(text, index, key, reading.with_part(index, replace(part, role=other)))


def of_squares(contents: Contents, reading: Reading, index: int) -> Iterator[Problem]:
    """Weights and scores of unequal queries and keys that are as many with another axis as the heads."""
    part = reading.parts[index]
    if part.role not in SQUARE or not _counts_heads(part):
        return
    heads, query, key = (part.axes.index(axis) for axis in (Axis.HEAD, Axis.QUERY, Axis.KEY))
    shape = shape_of(contents, part)
    if shape[query] == shape[key] or shape[heads] not in (shape[query], shape[key]):
        return
    other = query if shape[heads] == shape[key] else key
    first, second = sorted({heads, query, key} - {other})
    axes = list(part.axes)
    if other is query:
        axes[heads], axes[query] = axes[query], axes[heads]
    else:
        axes[first], axes[second], axes[other] = Axis.QUERY, Axis.KEY, Axis.HEAD
    peeks = [peek for name in part.tensors if (peek := contents.tensor(name).peek) is not None]
    if any(any(peek.sums) and not peek.sums[axes.index(Axis.KEY)] for peek in peeks):
        return
    turned = reading.with_axes(index, tuple(axes))
    if _rules_out(contents, reading, turned, part.group):
        return
    text = f"{sentence(part)}: {shape[query]} queries and {shape[key]} keys: does axis {other} count the heads?"
    yield Problem(text, index, other, turned)


def of_sums(contents: Contents, reading: Reading, index: int) -> Iterator[Problem]:
    """Heads and queries of weights that might be each other: what sums to 1 tells the keys, which do not stand last."""
    part = reading.parts[index]
    if part.role is not Role.WEIGHTS or not _counts_heads(part):
        return
    heads, query, key = (part.axes.index(axis) for axis in (Axis.HEAD, Axis.QUERY, Axis.KEY))
    shape = shape_of(contents, part)
    if key > max(heads, query) or shape[heads] == shape[key] != shape[query]:
        return  # of_squares asks about what is as many as the keys
    peeks = [peek for name in part.tensors if (peek := contents.tensor(name).peek) is not None]
    if not peeks or not all(any(peek.sums) and peek.sums[key] for peek in peeks):
        return
    turned = reading.with_axes(index, swapped(part.axes, heads, Axis.QUERY))
    if _does_not_fit(contents, reading, turned, part.group):
        return
    other = ", ".join(turned.parts[index].axes)
    text = f"what sums to 1 along axis {key} may be {other} as well: does axis {query} count the heads?"
    yield Problem(f"{sentence(part)}: {text}", index, query, turned)


def of_hidden(contents: Contents, reading: Reading, index: int) -> Iterator[Problem]:
    """Rows of numbers that may be hidden states, where only the shape says that they are scores."""
    part = reading.parts[index]
    if part.role is not Role.SCORES or role_of(part.tensors[0]) is Role.SCORES or len(part.axes) != 3:
        return
    shape = shape_of(contents, part)
    peeks = [peek for name in part.tensors if (peek := contents.tensor(name).peek) is not None]
    if shape[1] == shape[2] or any(peek.like_weights or peek.minus_inf for peek in peeks):
        return
    hidden = replace(part, role=Role.HIDDEN, axes=(Axis.BATCH, Axis.QUERY, Axis.WIDTH))
    text = f"{sentence(part)}: {shape[1]} queries and {shape[2]} keys: are these hidden states of {shape[2]} numbers?"
    yield Problem(text, index, 2, reading.with_part(index, hidden))


def of_turns(contents: Contents, reading: Reading, group: str) -> Iterator[Problem]:
    """Heads and tokens of Q, K and V that might as well be each other; the remedy turns them all together."""
    parts = [part for part in reading.used(group) if part.role in TURNED and _token(part) is not None]
    main = next((part for part in parts if part.role is not Role.OUTPUT), None)
    if main is None or len(main.axes) != len(shape_of(contents, main)):
        return
    if any(is_by_tokens(part.tensors[0]) for part in parts):
        return
    if main.role is Role.QKV and _is_by_parts(main):
        return
    turned = reading
    for part in parts:
        turned = turned.with_part(reading.parts.index(part), _turned(part))
    heads, other = main.axes.index(Axis.HEAD), _token(main)
    assert other is not None
    length = shape_of(contents, main)[heads]
    if _rules_out(contents, reading, turned, group):
        return
    text = f"{length} items in axis {heads}, read as heads: are these the tokens?"
    yield Problem(f"{sentence(main)}: {text}", reading.parts.index(main), heads, turned)


def _counts_heads(part: Part) -> bool:
    """Whether each of heads, queries and keys has an axis, which is not so while one is chosen after the other."""
    return all(axis in part.axes for axis in (Axis.HEAD, Axis.QUERY, Axis.KEY))


def _rules_out(contents: Contents, reading: Reading, turned: Reading, group: str) -> bool:
    """Whether anything speaks against heads and tokens being each other, be it only how many heads are usual."""
    if _does_not_fit(contents, reading, turned, group):
        return True
    here, there = sizes_of(contents, reading, group), sizes_of(contents, turned, group)
    return here.heads in USUAL_HEADS and there.heads not in USUAL_HEADS


def _does_not_fit(contents: Contents, reading: Reading, turned: Reading, group: str) -> bool:
    """Whether the tensors and the tokens' names, or a single item of either, rule ``turned`` out."""
    for index, part in enumerate(turned.parts):
        if part.group == group and any(True for _ in of_part(contents, turned, index, part)):
            return True
    if any(True for _ in of_group(contents, turned, group)):
        return True
    here, there = sizes_of(contents, reading, group), sizes_of(contents, turned, group)
    if min(here.heads, there.heads, here.n_q, there.n_q) < 2:
        return True
    if here.n_q == here.n_k and there.n_q != there.n_k:
        return True  # queries and keys are the same tokens, and heads share keys
    names = reading.tokens
    return names is not None and len(names) == here.n_q and len(names) != there.n_q


def _token(part: Part) -> int | None:
    """The axis of tokens beside one of heads."""
    if Axis.HEAD not in part.axes:
        return None
    return next((at for at, axis in enumerate(part.axes) if axis in (Axis.QUERY, Axis.KEY)), None)


def _turned(part: Part) -> Part:
    heads, tokens = part.axes.index(Axis.HEAD), _token(part)
    assert tokens is not None
    axes = list(part.axes)
    axes[heads], axes[tokens] = axes[tokens], axes[heads]
    return replace(part, axes=tuple(axes))


def _is_by_parts(part: Part) -> bool:
    """Whether tokens stand before Q, K and V, and heads after: no program writes it the other way round."""
    if Axis.PART not in part.axes:
        return False
    tokens = _token(part)
    return tokens is not None and tokens < part.axes.index(Axis.PART) < part.axes.index(Axis.HEAD)
