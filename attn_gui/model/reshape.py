"""Edits that change shapes: dimensions, variant, heads, biases. What still fits is kept, the rest starts anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from attn_gui.model.edits import Side, sequence
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment, FromTokens, GivenQKV
from attn_gui.model.painted import Painted
from attn_gui.model.table import Table
from attn_gui.model.tokens import TokenSequence
from attn_gui.model.variant import Variant
from attn_gui.model.weights import BIASES, Weights


def rearrange_dimensions(experiment: Experiment, side: Side, order: Sequence[int | None]) -> Experiment:
    """With dimension j being the present ``order[j]``, or a new one of zeros where that is None.

    The weights follow: their rows are rearranged likewise, new ones are zero. Weights that were all the identity
    stay the identity.
    """
    of = sequence(experiment, side)
    if not order:
        raise ExperimentError(side, "at least 1 dimension to be left", "all of them deleted")
    names = tuple(None if was is None else of.dimensions[was] for was in order)
    changed = replace(of, embeddings=of.embeddings.with_columns(order), dimensions=names)
    if experiment.weights is None:
        raise ExperimentError("dimensions", "tokens projected by weights", "given Q, K and V, which have none")
    fields: dict[str, Any] = {side: changed}
    read = {"tokens": ("W_Q",), "context": ("W_K", "W_V")}[side]
    if side == "tokens" and not experiment.variant.is_cross:
        read = ("W_Q", "W_K", "W_V")
    elif side == "context" and not experiment.variant.is_cross:
        read = ()
    weights = experiment.weights
    tables: dict[str, Table] = {name: getattr(weights, name) for name in read}
    identity = len(read) == 3 and not weights.has_biases and all(_is_identity(t) for t in tables.values())
    if identity and not experiment.variant.is_multi_head:
        fresh = {name: Table.of(np.eye(len(order))) for name in read}
    else:
        fresh = {
            name: Table.of(Table.of(table.array().T).with_columns(order).array().T) for name, table in tables.items()
        }
    fields["source"] = FromTokens(replace(weights, **fresh))
    return replace(experiment, **fields)


def with_sequence(experiment: Experiment, side: Side, changed: TokenSequence) -> Experiment:
    """With a whole token table replaced (a sentence, a paste); weights that fit its width are kept."""
    if experiment.weights is None:
        raise ExperimentError(side, "tokens projected by weights", "given Q, K and V")
    return _refitted(replace_unchecked(experiment, **{side: changed}), painted=Painted())


def with_variant(experiment: Experiment, variant: Variant) -> Experiment:
    """As another variant. Multi-head starts with 2 heads where d_model can be halved, cross with a copy of the tokens."""
    if experiment.weights is None:
        return _given_variant(experiment, variant)
    context = experiment.context
    if variant.is_cross and context is None:
        context = experiment.tokens
    heads = experiment.heads
    if not variant.is_multi_head:
        heads = 1
    elif not experiment.variant.is_multi_head:
        heads = next((h for h in range(2, experiment.d_model + 1) if experiment.d_model % h == 0), 1)
    painted = experiment.painted if variant.is_cross == experiment.variant.is_cross else Painted()
    return _refitted(
        replace_unchecked(experiment, variant=variant, heads=heads, kv_heads=heads, context=context),
        painted=painted,
    )


def with_heads(experiment: Experiment, heads: int) -> Experiment:
    """With another number of heads; the matrices keep their numbers and are cut into heads differently."""
    reason = dict(head_choices(experiment)).get(heads, f"{heads} heads do not divide d = {experiment.d_model}")
    if reason is not None:
        raise ExperimentError("heads", "a count that fits", reason)
    return _refitted(replace_unchecked(experiment, heads=heads, kv_heads=heads), painted=experiment.painted)


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
            reason = f"Q, K and V were given with {experiment.heads} heads"
        elif not experiment.variant.is_multi_head:
            reason = f"{experiment.variant.label} has one head: choose a multi-head variant"
        elif d % count:
            reason = f"{count} heads do not divide d = {d}"
        choices.append((count, reason))
    return choices


def with_biases(experiment: Experiment, present: bool) -> Experiment:
    """With a bias of zeros for each matrix, or without biases."""
    weights = experiment.weights
    if weights is None:
        raise ExperimentError("biases", "tokens projected by weights", "given Q, K and V")
    for bias in BIASES:
        matrix = weights.get("W_" + bias[-1])
        row = Table.of(np.zeros((1, matrix.width))) if present and matrix is not None else None
        weights = weights.with_table(bias, row)
    return replace(experiment, source=FromTokens(weights))


class _Draft:
    """The fields of an experiment that is being refitted, not yet valid."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.fields = fields


def replace_unchecked(experiment: Experiment, **fields: Any) -> _Draft:
    names = [name for name in experiment.__dataclass_fields__ if name != "revision"]
    return _Draft({name: getattr(experiment, name) for name in names} | fields)


def _refitted(draft: _Draft, painted: Painted) -> Experiment:
    """A valid experiment of the draft's fields, with each matrix kept if it fits and the identity where not."""
    fields = draft.fields
    variant, heads = fields["variant"], fields["heads"]
    weights: Weights = fields["source"].weights
    d_model = fields["tokens"].width
    d_context = fields["context"].width if variant.is_cross else d_model
    q_width = weights.W_Q.width if weights.W_Q.width % heads == 0 else d_model
    v_width = weights.W_V.width if weights.W_V.width % heads == 0 else d_model
    shapes = {"W_Q": (d_model, q_width), "W_K": (d_context, q_width), "W_V": (d_context, v_width)}
    if variant.is_multi_head:
        d_out = weights.W_O.width if weights.W_O is not None else d_model
        shapes["W_O"] = (v_width, d_out)
    tables: dict[str, Table] = {}
    for name, shape in shapes.items():
        table, bias = weights.get(name), weights.get("b_" + name[-1])
        tables[name] = table if table is not None and table.shape == shape else Table.of(np.eye(*shape))
        if bias is not None or (name == "W_O" and weights.has_biases):
            fits = bias is not None and bias.width == shape[1]
            tables["b_" + name[-1]] = bias if fits and bias is not None else Table.of(np.zeros((1, shape[1])))
    kv_heads = fields["kv_heads"] if fields["kv_heads"] == heads else heads
    return Experiment(**fields | {"source": FromTokens(Weights(**tables)), "kv_heads": kv_heads, "painted": painted})


def _given_variant(experiment: Experiment, variant: Variant) -> Experiment:
    if not isinstance(experiment.source, GivenQKV):
        raise TypeError("given Q, K and V")
    if variant.is_multi_head != experiment.variant.is_multi_head and experiment.heads > 1:
        raise ExperimentError("variant", f"a multi-head one for {experiment.heads} given heads", variant.label)
    context = experiment.context if not variant.is_cross or experiment.context is not None else experiment.tokens
    return replace(experiment, variant=variant, context=context)


def _is_identity(table: Table) -> bool:
    return table.shape[0] == table.shape[1] and bool(np.array_equal(table.array(), np.eye(table.width)))
