"""Weights that were opened from a file, and how an experiment takes them up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attn_gui.model.edits import Side
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.fitting import fields_of, with_what_fits
from attn_gui.model.painted import Painted
from attn_gui.model.sources import AppendedKey, FromTokens
from attn_gui.model.table import Table
from attn_gui.model.text import embed
from attn_gui.model.tokens import TokenSequence
from attn_gui.model.variant import Variant
from attn_gui.model.weights import Weights


@dataclass(frozen=True, eq=False)
class OpenedWeights:
    """Weights with the number of their heads, and the keys that they append."""

    weights: Weights
    heads: int
    appended: tuple[AppendedKey, ...] = ()

    @property
    def kv_heads(self) -> int:
        return self.heads * self.weights.W_K.width // self.weights.W_Q.width

    @property
    def widths(self) -> tuple[int, int, int]:
        """The width of what queries, keys and values are projected from."""
        return len(self.weights.W_Q), len(self.weights.W_K), len(self.weights.W_V)

    def with_zero_key(self) -> OpenedWeights:
        """With one more key, of zeros (``add_zero_attn`` of nn.MultiheadAttention)."""
        K, V = (Table.of(np.zeros((1, table.width))) for table in (self.weights.W_K, self.weights.W_V))
        return replace(self, appended=(*self.appended, AppendedKey("zero", K, V)))


def tables_for(experiment: Experiment, widths: tuple[int, int, int]) -> dict[Side, tuple[TokenSequence, int]]:
    """The token tables that weights of ``widths`` read, each with the width that they need it to have.

    Queries and keys of two widths make a cross-attention, values of a third a table of their own.
    """
    e, (d_model, d_context, d_values) = experiment, widths
    cross = e.variant.is_cross or d_model != d_context
    keys = (e.context or e.tokens) if cross else e.tokens
    tables: dict[Side, tuple[TokenSequence, int]] = {"tokens": (e.tokens, d_model)}
    if cross:
        tables["context"] = (keys, d_context)
    own = e.values if e.values is not None and len(e.values) == len(keys) else None
    if d_values != d_context or (own is not None and own.width == d_values):
        tables["values"] = (own or keys, d_values)
    elif e.past is not None:
        tables["past"] = (e.past, d_context)
    return tables


def tables_to_draw(experiment: Experiment, widths: tuple[int, int, int]) -> dict[Side, int]:
    """The token tables whose embeddings have another width than weights of ``widths`` read, with that width."""
    tables = tables_for(experiment, widths)
    return {side: width for side, (sequence, width) in tables.items() if sequence.width != width}


def with_opened_weights(experiment: Experiment, opened: OpenedWeights, seed: int | None = None) -> Experiment:
    """With the weights of a file, and heads, variant and appended keys as they have them.

    Embeddings of another width than the weights read are drawn anew from ``seed``, under the same token names; raises
    ExperimentError where there are some and ``seed`` is None. What still fits of mask and scoring is kept.
    """
    e, weights = experiment, opened.weights
    tables = tables_for(e, opened.widths)
    drawn: dict[str, Any] = {"values": None, "past": None}
    for side, (sequence, width) in tables.items():
        if sequence.width == width:
            drawn[side] = sequence
            continue
        if seed is None:
            raise ExperimentError(side, f"embeddings of {width} numbers, as the weights read", str(sequence.width))
        drawn[side] = replace(
            sequence, embeddings=embed(sequence.tokens, width, "random", seed).embeddings, dimensions=()
        )
    cross = "context" in tables
    variants: Mapping[bool, Variant] = {False: Variant.SELF, True: Variant.CROSS}
    if weights.W_O is not None:
        variants = {False: Variant.MULTI_HEAD_SELF, True: Variant.MULTI_HEAD_CROSS}
    changes = drawn | {
        "variant": variants[cross],
        "heads": opened.heads,
        "kv_heads": opened.kv_heads,
        "source": FromTokens(weights),
        "appended": opened.appended,
    }
    if cross != e.variant.is_cross:
        changes["painted"] = Painted()  # its keys were others
    return with_what_fits(fields_of(e) | changes)
