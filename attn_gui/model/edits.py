"""Edits of token tables: pure functions from one Experiment to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.given import Given, rearranged
from attn_gui.model.masks.rule import taken
from attn_gui.model.positions import InputPosition
from attn_gui.model.scoring import Scoring
from attn_gui.model.sources import FromTokens, GivenSource, with_parts
from attn_gui.model.table import Table, floats
from attn_gui.model.tokens import TokenSequence

Side = Literal["tokens", "context", "values", "past"]

FINITE = "a finite number"


def sequence(experiment: Experiment, side: Side) -> TokenSequence:
    """The token table called ``side``."""
    found: TokenSequence | None = getattr(experiment, side)
    if found is None:
        raise ExperimentError(side, "a token table of that name", "none")
    return found


def with_side(experiment: Experiment, side: Side, changed: TokenSequence) -> Experiment:
    """With the token table called ``side`` replaced, and nothing else."""
    changes: dict[str, Any] = {side: changed}
    return replace(experiment, **changes)


def set_cells(experiment: Experiment, side: Side, rows: ArrayLike, columns: ArrayLike, values: ArrayLike) -> Experiment:
    """With embedding cells replaced; ``rows``, ``columns`` and ``values`` broadcast together, values finite."""
    numbers = floats(values)
    of = sequence(experiment, side)
    odd = _first_not_finite(rows, columns, numbers)
    if odd is not None:
        row, column, value = odd
        raise ExperimentError(f"{of.dimension_name(column)} of token {row + 1} {of.tokens[row]!r}", FINITE, value)
    return with_side(experiment, side, replace(of, embeddings=of.embeddings.with_cells(rows, columns, numbers)))


def rename_tokens(experiment: Experiment, side: Side, rows: Sequence[int], names: Sequence[str]) -> Experiment:
    of = sequence(experiment, side)
    tokens = list(of.tokens)
    for row, name in zip(rows, names, strict=True):
        tokens[row] = name
    return with_side(experiment, side, replace(of, tokens=tuple(tokens)))


def rename_dimension(experiment: Experiment, side: Side, column: int, name: str | None) -> Experiment:
    """With a dimension called ``name``, or by its automatic name where that is None or empty."""
    of = sequence(experiment, side)
    names = list(of.dimensions)
    names[column] = name or None
    return with_side(experiment, side, replace(of, dimensions=tuple(names)))


def set_column(experiment: Experiment, side: Side, name: str, rows: Sequence[int], values: ArrayLike) -> Experiment:
    """With the values of ``rows`` in the per-token column ``name`` replaced."""
    of = sequence(experiment, side)
    before, given = of.column(name), np.asarray(values)
    # in a type that loses nothing of what was given: what is no whole number is refused, not cut off
    column = before.astype(np.result_type(before, given))
    column[list(rows)] = given
    return with_side(experiment, side, of.with_column(name, column))


def insert_tokens(
    experiment: Experiment, side: Side, at: int, names: Sequence[str], embeddings: ArrayLike | None = None
) -> Experiment:
    """With tokens before row ``at``; ``embeddings`` [len(names), d], zeros if left out."""
    of = sequence(experiment, side)
    block = np.zeros((len(names), of.width)) if embeddings is None else embeddings
    order = [*range(at), *[None] * len(names), *range(at, len(of))]
    grown = TokenSequence(
        (*of.tokens[:at], *names, *of.tokens[at:]),
        of.embeddings.with_rows_inserted(at, block),
        of.dimensions,
        of.rearranged(order),
    )
    return _rearranged(experiment, side, grown, order)


def delete_tokens(experiment: Experiment, side: Side, rows: Sequence[int]) -> Experiment:
    """Without ``rows``; raises ExperimentError if none would be left."""
    of = sequence(experiment, side)
    gone = set(rows)
    order = [row for row in range(len(of)) if row not in gone]
    if not order:
        raise ExperimentError(side, "at least 1 token to be left", "all of them deleted")
    shrunk = TokenSequence(
        tuple(of.tokens[row] for row in order),
        of.embeddings.without_rows(rows),
        of.dimensions,
        of.rearranged(order),
    )
    return _rearranged(experiment, side, shrunk, order)


def move_tokens(experiment: Experiment, side: Side, start: int, count: int, to: int) -> Experiment:
    """With ``count`` rows from ``start`` moved so that they begin at row ``to`` of the rest."""
    of = sequence(experiment, side)
    rest = [row for row in range(len(of)) if not start <= row < start + count]
    order = [*rest[:to], *range(start, start + count), *rest[to:]]
    moved = TokenSequence(
        tuple(of.tokens[row] for row in order),
        of.embeddings.with_rows_moved(start, count, to),
        of.dimensions,
        of.rearranged(order),
    )
    return _rearranged(experiment, side, moved, order)


def _first_not_finite(
    rows: ArrayLike, columns: ArrayLike, numbers: np.ndarray[Any, Any]
) -> tuple[int, int, str] | None:
    """Row, column and value of the first number that is NaN or infinite, or None."""
    if np.isfinite(numbers).all():
        return None
    r, c, v = (array.ravel() for array in np.broadcast_arrays(rows, columns, numbers))
    at = int(np.argmin(np.isfinite(v)))
    return int(r[at]), int(c[at]), str(v[at])


def _rearranged(experiment: Experiment, side: Side, changed: TokenSequence, order: Sequence[int | None]) -> Experiment:
    """With the table replaced, and all that goes cell by cell or row by row moved along: row r was ``order[r]``."""
    e = experiment
    # values of their own name the same tokens as the keys, which in a self-attention ask as well
    as_queries = side == "tokens" or (side == "values" and not e.variant.is_cross)
    of_keys = {"tokens": not e.variant.is_cross, "context": e.variant.is_cross, "values": True, "past": True}[side]
    fields: dict[str, Any] = {side: changed}
    if not (as_queries or of_keys):
        return replace(e, **fields)
    queries: list[int | None] = list(order) if as_queries else list(range(e.n_q))
    keys: list[int | None] = list(range(e.n_k - len(e.appended)))
    if of_keys:
        first, count = (0, e.offset) if side == "past" else (e.offset, len(e.present_keys))
        keys[first : first + count] = [None if was is None else was + first for was in order]
        if side != "past":
            fields |= _other_key_table(e, side, changed, order)
    fields |= moved_cells(e, queries, keys)
    if not isinstance(e.source, FromTokens):
        fields["source"] = moved_parts(e.source, queries if as_queries else None, keys if of_keys else None)
    return _with_positions(e, fields)


def _with_positions(e: Experiment, fields: dict[str, Any]) -> Experiment:
    """``e`` with ``fields`` changed, whose learned positions reach as far as its tokens."""
    scoring: Scoring = fields["scoring"]
    moved = replace(e, **fields | {"scoring": replace(scoring, position=InputPosition())})
    return replace(moved, scoring=replace(scoring, position=scoring.position.reaching(moved.last_position)))


def moved_cells(e: Experiment, queries: Sequence[int | None], keys: Sequence[int | None]) -> dict[str, Any]:
    """The fields that go cell by cell, moved along: place r now holds what was at ``queries[r]`` or ``keys[r]``.

    ``keys`` leaves out those that are appended.
    """
    appended = range(e.n_k - len(e.appended), e.n_k)
    return {
        "painted": e.painted.rearranged(_places(queries, e.n_q), _places([*keys, *appended], e.n_k)),
        "rule": e.rule.rearranged(queries, keys),
        "scoring": e.scoring.rearranged(queries, keys),
    }


def _other_key_table(e: Experiment, side: Side, changed: TokenSequence, order: Sequence[int | None]) -> dict[str, Any]:
    """Keys and separate values name the same tokens: the one that was not edited follows."""
    if e.values is None:
        return {}
    other: Side = "values" if side != "values" else "context" if e.variant.is_cross else "tokens"
    of = sequence(e, other)
    rows = taken(of.embeddings.array(), order, 0, 0.0)
    return {other: TokenSequence(changed.tokens, Table.of(rows), of.dimensions, of.rearranged(order))}


def _places(order: Sequence[int | None], before: int) -> list[int | None]:
    """Where each of ``before`` rows has gone, None where it is no more: the inverse of ``order``."""
    places: list[int | None] = [None] * before
    for now, was in enumerate(order):
        if was is not None:
            places[was] = now
    return places


def moved_parts(
    source: GivenSource, queries: Sequence[int | None] | None, keys: Sequence[int | None] | None
) -> GivenSource:
    """What was given, moved along as :func:`moved_cells`; None leaves queries or keys as they are."""
    axes = {"Q": (1, None), "K": (None, 1), "V": (None, 1), "A": (1, 2), "N": (1, 2)}
    parts: dict[str, Given] = {}
    for name, array in source.parts().items():
        for axis, order in zip(axes[name], (queries, keys), strict=True):
            if axis is not None and order is not None:
                array = rearranged(array, axis, order, name)
        parts[name] = array
    return with_parts(source, parts)
