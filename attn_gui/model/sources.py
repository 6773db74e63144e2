"""What is given and where the rest comes from, and the keys that stand before and after those of the tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attn_gui.model.columns import NO_PARENT, Values
from attn_gui.model.given import Given
from attn_gui.model.table import Table
from attn_gui.model.tokens import TokenSequence
from attn_gui.model.weights import Weights


@dataclass(frozen=True, eq=False)
class FromTokens:
    """Q, K and V are projections of the token tables by ``weights``."""

    weights: Weights


@dataclass(frozen=True, eq=False)
class GivenQKV:
    """Q, K and V were given: [heads, n_q, d_k], [kv_heads, n_k, d_k], [kv_heads, n_k, d_v].

    As all that is given, read-only, in the type that it came in, and perhaps a view of a mapped file
    (:mod:`attn_gui.model.given`): whoever computes converts a part at a time. n_k counts the keys of the cache too,
    but not those that are appended.
    """

    Q: Given
    K: Given
    V: Given | None = None

    def parts(self) -> dict[str, Given]:
        """What was given, by its name."""
        parts = {"Q": self.Q, "K": self.K}
        return parts if self.V is None else parts | {"V": self.V}


@dataclass(frozen=True, eq=False)
class GivenScores:
    """Scores were given, [heads, n_q, n_k], and values perhaps, [kv_heads, n_k, d_v].

    A: before the bias and the mask, which act on them, as does the normaliser.
    """

    A: Given
    V: Given | None = None

    def parts(self) -> dict[str, Given]:
        """What was given, by its name."""
        return {"A": self.A} if self.V is None else {"A": self.A, "V": self.V}


@dataclass(frozen=True, eq=False)
class GivenWeights:
    """Weights were given, [heads, n_q, n_k], and values perhaps, [kv_heads, n_k, d_v].

    N: shown as they are, whatever their rows sum to; no mask, scoring or normaliser acts on them.
    """

    N: Given
    V: Given | None = None

    def parts(self) -> dict[str, Given]:
        """What was given, by its name."""
        return {"N": self.N} if self.V is None else {"N": self.N, "V": self.V}


GivenSource = GivenQKV | GivenScores | GivenWeights
Source = FromTokens | GivenSource


def called(source: GivenSource) -> str:
    """What was given, in words."""
    if isinstance(source, GivenQKV):
        return "Q, K and V"
    return "scores" if isinstance(source, GivenScores) else "weights"


def were_given(source: Source) -> str:
    """The beginning of a sentence: ``Q, K and V were given``; nothing where tokens are projected."""
    if isinstance(source, FromTokens):
        return ""
    what = called(source)
    return f"{what[:1].upper()}{what[1:]} were given"


def kv_parts(source: GivenSource) -> dict[str, Given]:
    """What was given for each kv head."""
    return {name: part for name, part in source.parts().items() if name in "KV"}


def with_parts(source: GivenSource, parts: Mapping[str, Given]) -> GivenSource:
    """``source`` with ``parts`` of it replaced."""
    changes: dict[str, Any] = dict(parts)
    return replace(source, **changes)


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
