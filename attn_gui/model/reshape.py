"""Edits that change shapes: dimensions, variant, heads, biases. What still fits is kept, the rest starts anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from attn_gui.model.edits import Side, sequence
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.fitting import fields_of, with_what_fits
from attn_gui.model.painted import Painted
from attn_gui.model.sources import FromTokens, called
from attn_gui.model.table import Table
from attn_gui.model.tokens import TokenSequence
from attn_gui.model.variant import Variant
from attn_gui.model.weights import BIASES, Weights


def rearrange_dimensions(experiment: Experiment, side: Side, order: Sequence[int | None]) -> Experiment:
    """With dimension j being the present ``order[j]``, or a new one of zeros where that is None.

    The weights follow: their rows are rearranged likewise, new ones are zero. Weights that were all the identity
    stay the identity, where heads may have another size. The cache has the dimensions of the present keys, and both
    change together; a learned position table follows its tokens, and goes where the context is then of another width.
    """
    e = experiment
    keys: Side = "context" if e.variant.is_cross else "tokens"
    if side == "past":
        side = keys
    if not order:
        raise ExperimentError(side, "at least 1 dimension to be left", "all of them deleted")
    if e.weights is None:
        raise ExperimentError("dimensions", "tokens projected by weights", f"given {_given(e)}, which have none")
    changes: dict[str, Any] = {side: _with_dimensions(sequence(e, side), order)}
    if side == keys and e.past is not None:
        changes["past"] = _with_dimensions(e.past, order)
    weights, read = e.weights, projecting(e, side)
    tables: dict[str, Table] = {name: getattr(weights, name) for name in read}
    if side == "tokens":
        changes["scoring"] = replace(e.scoring, position=e.scoring.position.rearranged(order))
    identity = len(read) == 3 and not weights.has_biases and all(_is_identity(t) for t in tables.values())
    if identity and not e.variant.is_multi_head:
        fresh = dict.fromkeys(read, Table.of(np.eye(len(order))))
        try:
            return replace(e, **changes, source=FromTokens(replace(weights, **fresh)))
        except ExperimentError:
            pass  # gains, appended keys or rotary positions are for heads of the present size
    fresh = {name: Table.of(Table.of(table.array().T).with_columns(order).array().T) for name, table in tables.items()}
    return with_what_fits(fields_of(e) | changes | {"source": FromTokens(replace(weights, **fresh))})


def projecting(experiment: Experiment, side: Side) -> list[str]:
    """The matrices that project the embeddings called ``side``."""
    e = experiment
    keys: tuple[Side, Side] = ("context" if e.variant.is_cross else "tokens", "past")
    readers = {"W_Q": ("tokens",), "W_K": keys, "W_V": keys if e.values is None else ("values",)}
    return [name for name, tables in readers.items() if side in tables]


def _with_dimensions(of: TokenSequence, order: Sequence[int | None]) -> TokenSequence:
    names = tuple(None if was is None else of.dimensions[was] for was in order)
    return replace(of, embeddings=of.embeddings.with_columns(order), dimensions=names)


def with_sequence(experiment: Experiment, side: Side, changed: TokenSequence) -> Experiment:
    """With a whole token table replaced (a sentence, a paste); weights that fit its width are kept."""
    if experiment.weights is None:
        raise ExperimentError(side, "tokens projected by weights", f"given {_given(experiment)}")
    in_use = side == "tokens" or experiment.variant.is_cross
    return _refitted(experiment, Painted() if in_use else experiment.painted, **{side: changed})


def with_variant(experiment: Experiment, variant: Variant) -> Experiment:
    """As another variant. Multi-head starts with 2 heads if they divide d_model, cross with a copy of the tokens."""
    if experiment.weights is None:
        return _given_variant(experiment, variant)
    context = experiment.context
    if variant.is_cross and context is None:
        context = experiment.tokens
    heads, kv_heads = experiment.heads, experiment.kv_heads
    if not variant.is_multi_head:
        heads = kv_heads = 1
    elif not experiment.variant.is_multi_head:
        heads = next((h for h in range(2, experiment.d_model + 1) if experiment.d_model % h == 0), 1)
        kv_heads = heads
    painted = experiment.painted if variant.is_cross == experiment.variant.is_cross else Painted()
    return _refitted(experiment, painted, variant=variant, heads=heads, kv_heads=kv_heads, context=context)


def with_heads(experiment: Experiment, heads: int) -> Experiment:
    """With another number of heads; the matrices keep their numbers and are cut into heads differently.

    As many query heads as before share a kv head where that comes out even.
    """
    reason = dict(head_choices(experiment)).get(heads, f"{heads} heads do not divide d = {experiment.d_model}")
    if reason is not None:
        raise ExperimentError("heads", "a count that fits", reason)
    if heads == experiment.heads:
        return experiment
    kv_heads, rest = divmod(experiment.kv_heads * heads, experiment.heads)
    return _refitted(experiment, experiment.painted, heads=heads, kv_heads=heads if rest else kv_heads)


def head_choices(experiment: Experiment) -> list[tuple[int, str | None]]:
    """Counts of heads to offer, each with the reason why it cannot be had, or None.

    Every count to 16, then the divisors of d_model, and the present one.
    """
    d = experiment.d_model
    counts = sorted({*range(1, min(d, 16) + 1), *(h for h in range(1, d + 1) if d % h == 0), experiment.heads})
    choices: list[tuple[int, str | None]] = []
    for count in counts:
        reason = None
        if count == experiment.heads:
            pass
        elif experiment.weights is None:
            reason = f"{_given(experiment)} were given with {experiment.heads} heads"
        elif not experiment.variant.is_multi_head:
            reason = f"{experiment.variant.label} has one head: choose a multi-head variant"
        elif d % count:
            reason = f"{count} heads do not divide d = {d}"
        choices.append((count, reason))
    return choices


def with_biases(experiment: Experiment, present: bool) -> Experiment:
    """With a bias for each matrix, of zeros where there was none, or without biases."""
    weights = experiment.weights
    if weights is None:
        raise ExperimentError("biases", "tokens projected by weights", f"given {_given(experiment)}")
    for bias in BIASES:
        matrix = weights.get("W_" + bias[-1])
        row = weights.get(bias) if present else None
        if present and row is None and matrix is not None:
            row = Table.of(np.zeros((1, matrix.width)))
        weights = weights.with_table(bias, row)
    return replace(experiment, source=FromTokens(weights))


def _refitted(experiment: Experiment, painted: Painted, **changed: Any) -> Experiment:
    """``experiment`` with ``changed`` fields, each matrix kept where it fits them and the identity where not."""
    draft = fields_of(experiment) | changed
    heads, kv_heads, weights = draft["heads"], draft["kv_heads"], draft["source"].weights
    d_model = draft["tokens"].width
    d_context = draft["context"].width if draft["variant"].is_cross else d_model
    # values of their own are those of the present keys: with another table they make no sense
    keys = draft["context"] if draft["variant"].is_cross else draft["tokens"]
    if draft["values"] is not None and len(draft["values"]) != len(keys):
        draft["values"] = None
    d_values = d_context if draft["values"] is None else draft["values"].width
    d_k, d_v = _head_sizes(weights, (d_model, d_context, d_values), heads, kv_heads)
    shapes = {
        "W_Q": (d_model, heads * d_k),
        "W_K": (d_context, kv_heads * d_k),
        "W_V": (d_values, kv_heads * d_v),
    }
    if draft["variant"].is_multi_head:
        kept = weights.W_O is not None and len(weights.W_O) == heads * d_v
        shapes["W_O"] = (heads * d_v, weights.W_O.width if kept else d_model)
    tables: dict[str, Table] = {}
    for name, shape in shapes.items():
        table, bias = weights.get(name), weights.get("b_" + name[-1])
        tables[name] = table if table is not None and table.shape == shape else Table.of(np.eye(*shape))
        if bias is not None or (name == "W_O" and table is None and weights.has_biases):
            fits = bias is not None and bias.width == shape[1]
            tables["b_" + name[-1]] = bias if fits and bias is not None else Table.of(np.zeros((1, shape[1])))
    return with_what_fits(draft | {"source": FromTokens(Weights(**tables)), "painted": painted})


def _head_sizes(weights: Weights, widths: tuple[int, int, int], heads: int, kv_heads: int) -> tuple[int, int]:
    """d_k and d_v of the matrices that fit; where none does, large enough for d_model to have a place."""

    def size(table: Table | None, rows: int, count: int) -> int | None:
        fits = table is not None and len(table) == rows and table.width % count == 0
        return table.width // count if fits and table is not None else None

    d_model, d_context, d_values = widths
    fresh = -(-d_model // heads)
    d_k = size(weights.W_Q, d_model, heads) or size(weights.W_K, d_context, kv_heads) or fresh
    d_v = size(weights.W_V, d_values, kv_heads)
    if d_v is None and weights.W_O is not None and len(weights.W_Q) == d_model and len(weights.W_O) % heads == 0:
        d_v = len(weights.W_O) // heads
    return d_k, d_v or fresh


def _given_variant(experiment: Experiment, variant: Variant) -> Experiment:
    if variant.is_multi_head != experiment.variant.is_multi_head and experiment.heads > 1:
        raise ExperimentError("variant", f"a multi-head one for {experiment.heads} given heads", variant.label)
    context, present = experiment.context, len(experiment.present_keys)
    if variant.is_cross and not experiment.variant.is_cross and (context is None or len(context) != present):
        context = experiment.tokens  # the given keys are as many as the tokens
    return with_what_fits(fields_of(experiment) | {"variant": variant, "context": context})


def _given(experiment: Experiment) -> str:
    """What was given to an experiment that has no weights."""
    assert not isinstance(experiment.source, FromTokens)
    return called(experiment.source)


def _is_identity(table: Table) -> bool:
    return table.shape[0] == table.shape[1] and bool(np.array_equal(table.array(), np.eye(table.width)))
