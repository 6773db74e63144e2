"""Where Q, K and V come from, and the keys that stand before and after those of the tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attn_gui.model.columns import NO_PARENT, Values
from attn_gui.model.table import Floats, Table
from attn_gui.model.tokens import TokenSequence
from attn_gui.model.weights import Weights


@dataclass(frozen=True, eq=False)
class FromTokens:
    """Q, K and V are projections of the token tables by ``weights``."""

    weights: Weights


@dataclass(frozen=True, eq=False)
class GivenQKV:
    """Q, K and V were given: [heads, n_q, d_k], [kv_heads, n_k, d_k], [kv_heads, n_k, d_v], float64, read-only.

    n_k counts the keys of the cache too, but not those that are appended.
    """

    Q: Floats
    K: Floats
    V: Floats


Source = FromTokens | GivenQKV


@dataclass(frozen=True, eq=False)
class AppendedKey:
    """A key after all tokens that is no token's: bias_k and bias_v, or the zero key, of nn.MultiheadAttention.

    K: [1, kv_heads * d_k]; V: [1, kv_heads * d_v]. Every query may attend to it, whatever the mask's rule.
    """

    name: str
    K: Table
    V: Table


def joined(sequences: Sequence[TokenSequence]) -> TokenSequence:
    """Token tables one after another; a parent is counted within its own table, a position goes on."""
    if len(sequences) == 1:
        return sequences[0]
    names = {name for sequence in sequences for name in sequence.columns}
    width = sequences[0].width
    return TokenSequence(
        tuple(token for sequence in sequences for token in sequence.tokens),
        Table([chunk for sequence in sequences for chunk in sequence.embeddings.chunks], width),
        sequences[0].dimensions,
        {name: _joined_column(name, sequences) for name in names},
    )


def _joined_column(name: str, sequences: Sequence[TokenSequence]) -> Values:
    parts, start = [], 0
    for sequence in sequences:
        column = sequence.column(name)
        if name == "parent":
            column = np.where(column == NO_PARENT, NO_PARENT, column + start)
        elif name == "position" and name not in sequence.columns:
            column = column + start
        parts.append(column)
        start += len(sequence)
    return np.concatenate(parts)
