"""Source expressions: what is selected, as the code that gets it from the file that it was opened from."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from attn_gui.model.session import NamedExperiment
from attn_gui.model.trace import Head

NO_FILE = "This experiment was not opened from a file of tensors"

# a last index of nothing but whole numbers, which further ones can be put into
_LAST_INDEX = re.compile(r"\[(-?\d+(?:, ?-?\d+)*)\]$")


def source_expression(
    named: NamedExperiment, stage: str, head: Head, queries: Collection[int], keys: Collection[int]
) -> str:
    """How a part of ``stage`` ("A" or "N") of ``named`` is had from its file; "" where it came from none.

    queries, keys: those selected, from 0; none stands for all. Of a file without the stage the queries' rows of Q and
    the keys' rows of K, a line each.
    """
    expressions = {} if named.origin is None else named.origin.expressions
    e = named.experiment
    wanted = _places(queries, e.n_q), _places(keys, e.n_k)
    if stage in expressions:
        return indexed(expressions[stage], head, *wanted)
    if "Q" not in expressions or "K" not in expressions:
        return _other(expressions, stage, head, *wanted)
    kv_head: Head = head if head == "mean" else head // (e.heads // e.kv_heads)
    rows = (("Q", head, wanted[0]), ("K", kv_head, wanted[1]))
    return "\n".join(f"{name} = {indexed(expressions[name], of, places, None)}" for name, of, places in rows)


def indexed(expression: str, head: Head, rows: Sequence[int] | None, columns: Sequence[int] | None) -> str:
    """``expression``, an array [heads, rows, columns], with indices: ``np.load('attn.npy')[12, 7, 34:50]``.

    None stands for all rows or columns. Places that do not follow one another are listed, with ``np.ix_`` where rows
    and columns both are.
    """
    listed = [places is not None and not _follow(places) for places in (rows, columns)]
    if head == "mean":
        expression += ".mean(axis=0)"
        indices: list[str] = []
    else:
        indices = [str(head)]
        if any(listed):  # beside a list, numpy would move the axis of a single number
            expression, indices = _with(expression, indices), []
    if all(listed):
        return f"{expression}[np.ix_({list(rows or ())}, {list(columns or ())})]"
    indices += [_text(rows), _text(columns)]
    while indices and indices[-1] == ":":
        indices.pop()
    return _with(expression, indices)


def _other(
    expressions: Mapping[str, str],
    stage: str,
    head: Head,
    queries: Sequence[int] | None,
    keys: Sequence[int] | None,
) -> str:
    """The scores where the weights are asked for, or the other way round, said as such."""
    other = "A" if stage == "N" else "N"
    return f"{other} = {indexed(expressions[other], head, queries, keys)}" if other in expressions else ""


def _places(places: Collection[int], count: int) -> list[int] | None:
    found = sorted(place for place in set(places) if place < count)
    return found if found and len(found) < count else None


def _follow(places: Sequence[int]) -> bool:
    return places[-1] - places[0] == len(places) - 1


def _text(places: Sequence[int] | None) -> str:
    if places is None:
        return ":"
    if len(places) == 1:
        return str(places[0])
    return f"{places[0]}:{places[-1] + 1}" if _follow(places) else str(list(places))


def _with(expression: str, indices: Sequence[str]) -> str:
    if not indices:
        return expression
    last = _LAST_INDEX.search(expression)
    if last is not None and not any(index.startswith("[") for index in indices):
        return f"{expression[: last.start()]}[{', '.join([last[1], *indices])}]"
    return f"{expression}[{', '.join(indices)}]"
