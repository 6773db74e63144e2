"""Edits of token tables and weights: pure functions from one Experiment to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment, FromTokens, GivenQKV
from attn_gui.model.table import frozen
from attn_gui.model.tokens import TokenSequence, frozen_flags

Side = Literal["tokens", "context"]

FINITE = "a finite number"


def sequence(experiment: Experiment, side: Side) -> TokenSequence:
    """The token table called ``side``."""
    found: TokenSequence | None = getattr(experiment, side)
    if found is None:
        raise ExperimentError("context", "a cross-attention's context table", "none")
    return found


def with_side(experiment: Experiment, side: Side, changed: TokenSequence) -> Experiment:
    """With the token table called ``side`` replaced, and nothing else."""
    return replace(experiment, tokens=changed) if side == "tokens" else replace(experiment, context=changed)


def set_cells(experiment: Experiment, side: Side, rows: ArrayLike, columns: ArrayLike, values: ArrayLike) -> Experiment:
    """With embedding cells replaced; ``rows``, ``columns`` and ``values`` broadcast together, values finite."""
    numbers = np.asarray(values, dtype=np.float64)
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


def set_pad(experiment: Experiment, side: Side, rows: Sequence[int], values: ArrayLike) -> Experiment:
    """With the ``pad`` flags of ``rows`` replaced."""
    of = sequence(experiment, side)
    pad = of.pad.copy()
    pad[list(rows)] = values
    return with_side(experiment, side, of.with_pad(pad))


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
        {key: frozen_flags(np.insert(column, at, [False] * len(names))) for key, column in of.columns.items()},
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


def set_weight_cells(
    experiment: Experiment, name: str, rows: ArrayLike, columns: ArrayLike, values: ArrayLike
) -> Experiment:
    """With cells of the matrix or bias ``name`` replaced, values finite."""
    numbers = np.asarray(values, dtype=np.float64)
    odd = _first_not_finite(rows, columns, numbers)
    if odd is not None:
        row, column, value = odd
        raise ExperimentError(f"{name} row {row + 1}, column {column + 1}", FINITE, value)
    weights = experiment.weights
    table = None if weights is None else weights.get(name)
    if weights is None or table is None:
        raise ExperimentError(name, "a matrix or bias of this experiment", "none by that name")
    return replace(experiment, source=FromTokens(weights.with_table(name, table.with_cells(rows, columns, numbers))))


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
    """With the table replaced, and painted cells and given Q, K, V moved along: row r was ``order[r]``."""
    before = len(sequence(experiment, side))
    places: list[int | None] = [None] * before
    for now, was in enumerate(order):
        if was is not None:
            places[was] = now
    cross = experiment.variant.is_cross
    as_queries, as_keys = side == "tokens", (side == "context") == cross
    stay_q: list[int | None] = list(range(experiment.n_q))
    stay_k: list[int | None] = list(range(experiment.n_k))
    fields: dict[str, Any] = {side: changed}
    if as_queries or as_keys:
        fields["painted"] = experiment.painted.rearranged(
            places if as_queries else stay_q, places if as_keys else stay_k
        )
    if isinstance(experiment.source, GivenQKV):
        source = experiment.source
        fields["source"] = GivenQKV(
            _taken(source.Q, order) if as_queries else source.Q,
            _taken(source.K, order) if as_keys else source.K,
            _taken(source.V, order) if as_keys else source.V,
        )
    return replace(experiment, **fields)


def _taken(array: np.ndarray[Any, Any], order: Sequence[int | None]) -> np.ndarray[Any, Any]:
    taken = array[:, [0 if was is None else was for was in order]]  # [heads, len(order), size]
    taken[:, [was is None for was in order]] = 0.0
    return frozen(taken)
