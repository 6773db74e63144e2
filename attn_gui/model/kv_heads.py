"""Grouped-query attention: how many heads keys and values have."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.sources import AppendedKey, FromTokens, called, kv_parts, with_parts
from attn_gui.model.table import Floats, Table, frozen


def kv_head_choices(experiment: Experiment) -> list[tuple[int, str | None]]:
    """Counts of kv heads to offer, each with the reason why it cannot be had, or None."""
    heads = experiment.heads
    if not experiment.has_values:
        here = experiment.kv_heads
        none = f"{_called(experiment)} were given without values"
        return [(count, None if count == here else none) for count in range(1, heads + 1)]
    return [
        (count, None if heads % count == 0 else f"{count} do not divide the {heads} query heads")
        for count in range(1, heads + 1)
    ]


def with_kv_heads(experiment: Experiment, kv_heads: int) -> Experiment:
    """With another count of kv heads: fewer are the means of those they replace, more are copies.

    (Means as Ainslie et al. 2023, section 2.1, make them. Copies change no output.)
    """
    e = experiment
    if kv_heads < 1 or e.heads % kv_heads:
        raise ExperimentError("kv_heads", f"a divisor of the {e.heads} query heads", str(kv_heads))
    if kv_heads == e.kv_heads:
        return e
    if not e.has_values:
        raise ExperimentError("kv_heads", "values that they gather", f"{_called(e)} given without any")
    appended = tuple(
        AppendedKey(key.name, _columns(key.K, e.kv_heads, kv_heads), _columns(key.V, e.kv_heads, kv_heads))
        for key in e.appended
    )
    if not isinstance(e.source, FromTokens):
        given = kv_parts(e.source).items()
        parts = {name: frozen(_regrouped(part.astype(np.float64), kv_heads)) for name, part in given}
        return replace(e, kv_heads=kv_heads, source=with_parts(e.source, parts), appended=appended)
    weights = e.source.weights
    for name in ("W_K", "W_V", "b_K", "b_V"):
        table = weights.get(name)
        if table is not None:
            weights = weights.with_table(name, _columns(table, e.kv_heads, kv_heads))
    return replace(e, kv_heads=kv_heads, source=FromTokens(weights), appended=appended)


def _called(experiment: Experiment) -> str:
    return "weights" if isinstance(experiment.source, FromTokens) else called(experiment.source)


def _columns(table: Table, before: int, after: int) -> Table:
    """A table [rows, before * size] with its parts regrouped: [rows, after * size]."""
    parts = table.array().reshape(len(table), before, -1).transpose(1, 0, 2)  # [before, rows, size]
    return Table.of(_regrouped(parts, after).transpose(1, 0, 2).reshape(len(table), -1))


def _regrouped(parts: Floats, after: int) -> Floats:
    """[before, ..] -> [after, ..], by way of as many parts as both counts divide."""
    before = len(parts)
    common = int(np.lcm(before, after))
    copies = np.repeat(parts, common // before, axis=0)
    return copies.reshape(after, common // after, *parts.shape[1:]).mean(axis=1)
