"""Experiment: everything that decides the picture, as one value."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attn_gui.model.errors import ExperimentError
from attn_gui.model.initialise import initial_weights
from attn_gui.model.masks import Columns, MaskRule
from attn_gui.model.painted import Painted
from attn_gui.model.precision import Precision
from attn_gui.model.scoring import Scoring
from attn_gui.model.table import Floats, Table, frozen
from attn_gui.model.tokens import TokenSequence
from attn_gui.model.validate import check_given, check_projections
from attn_gui.model.variant import Variant
from attn_gui.model.weights import Weights

_revisions = itertools.count(1)


@dataclass(frozen=True, eq=False)
class FromTokens:
    """Q, K and V are projections of the token tables by ``weights``."""

    weights: Weights


@dataclass(frozen=True, eq=False)
class GivenQKV:
    """Q, K and V were given: [heads, n_q, d_k], [kv_heads, n_k, d_k], [kv_heads, n_k, d_v], float64, read-only."""

    Q: Floats
    K: Floats
    V: Floats


Source = FromTokens | GivenQKV


@dataclass(frozen=True, eq=False)
class Experiment:
    """What is explored. A value: to change it, make another (``dataclasses.replace``), which gets a new revision.

    tokens: the queries, and the keys too unless the variant is a cross-attention.
    context: keys and values of a cross-attention, with a width of its own; kept but unused by other variants.
    heads, kv_heads: query heads and key/value heads; query head h uses kv head h // (heads // kv_heads).
    source: FromTokens(weights) or GivenQKV(Q, K, V).
    rule, painted: the mask: a rule, and cells set by hand on top of it.
    Raises ExperimentError (field, expected, received) where the parts do not fit together.
    """

    tokens: TokenSequence
    source: Source
    variant: Variant = Variant.SELF
    heads: int = 1
    kv_heads: int = 1
    context: TokenSequence | None = None
    rule: MaskRule = MaskRule()
    painted: Painted = Painted()
    scoring: Scoring = Scoring()
    precision: Precision = Precision.FLOAT32
    revision: int = field(init=False, default_factory=lambda: next(_revisions))

    def __post_init__(self) -> None:
        if self.heads < 1:
            raise ExperimentError("heads", "1 or more", str(self.heads))
        if self.kv_heads < 1 or self.heads % self.kv_heads:
            raise ExperimentError("kv_heads", f"a divisor of the {self.heads} query heads", str(self.kv_heads))
        if self.heads > 1 and not self.variant.is_multi_head:
            raise ExperimentError("heads", f"1 for {self.variant.label}", str(self.heads))
        if self.variant.is_cross and self.context is None:
            raise ExperimentError("context", f"a token table for {self.variant.label}", "none")
        if isinstance(self.source, GivenQKV):
            check_given(self.source.Q, self.source.K, self.source.V, self.heads, self.kv_heads, self.n_q, self.n_k)
        else:
            check_projections(
                self.source.weights,
                (self.tokens.width, self.keys.width),
                (self.heads, self.kv_heads),
                multi_head=self.variant.is_multi_head,
            )

    @classmethod
    def from_tokens(
        cls,
        tokens: Iterable[str],
        X: ArrayLike,
        weights: Weights | None = None,
        *,
        context: TokenSequence | None = None,
        heads: int | None = None,
        kv_heads: int | None = None,
        **fields: Any,
    ) -> Experiment:
        """An experiment over embeddings ``X`` [n, d].

        Without ``weights`` the projections are identities. ``heads`` makes it multi-head (with W_O); ``context``
        makes it a cross-attention. Other fields as in :class:`Experiment`.
        """
        sequence = TokenSequence.of(tokens, X)
        variant = fields.pop("variant", None) or _variant(context is not None, heads is not None)
        count = 1 if heads is None else heads
        kv_count = count if kv_heads is None else kv_heads
        if weights is None:
            d_context = context.width if context is not None and variant.is_cross else sequence.width
            weights = initial_weights(
                "identity", sequence.width, d_context, count, multi_head=variant.is_multi_head, kv_heads=kv_count
            )
        return cls(sequence, FromTokens(weights), variant, count, kv_count, context, **fields)

    @classmethod
    def from_qkv(
        cls,
        Q: ArrayLike,
        K: ArrayLike,
        V: ArrayLike,
        *,
        tokens: Sequence[str] | None = None,
        key_tokens: Sequence[str] | None = None,
        **fields: Any,
    ) -> Experiment:
        """An experiment over given Q [heads, n_q, d_k], K [kv_heads, n_k, d_k], V [kv_heads, n_k, d_v].

        Two axes mean one head. Without ``tokens`` the queries are called q1, q2, ..., the keys k1, k2, ...;
        without ``key_tokens`` a K as long as Q is taken as self-attention.
        """
        given = []
        for name, array in (("Q", Q), ("K", K), ("V", V)):
            numbers = np.asarray(array, dtype=np.float64)
            if numbers.ndim not in (2, 3):
                raise ExperimentError(name, "2 or 3 axes ([heads,] tokens, size)", f"shape {numbers.shape}")
            given.append(frozen(numbers if numbers.ndim == 3 else numbers[np.newaxis]))
        q, k, v = given
        heads, n_q, _ = q.shape
        n_k = k.shape[1]
        cross = key_tokens is not None or n_q != n_k
        names = tuple(tokens) if tokens is not None else _numbered("q" if cross else "t", n_q)
        key_names = tuple(key_tokens) if key_tokens is not None else _numbered("k", n_k)
        return cls(
            TokenSequence(names, Table.of(np.empty((len(names), 0)))),
            GivenQKV(q, k, v),
            fields.pop("variant", None) or _variant(cross, heads > 1),
            heads,
            k.shape[0],
            TokenSequence(key_names, Table.of(np.empty((len(key_names), 0)))) if cross else None,
            **fields,
        )

    @property
    def keys(self) -> TokenSequence:
        """The tokens that are attended to: the context of a cross-attention, the tokens themselves otherwise."""
        return self.context if self.variant.is_cross and self.context is not None else self.tokens

    @property
    def weights(self) -> Weights | None:
        return self.source.weights if isinstance(self.source, FromTokens) else None

    @property
    def n_q(self) -> int:
        return len(self.tokens)

    @property
    def n_k(self) -> int:
        return len(self.keys)

    @property
    def d_model(self) -> int:
        """Width of the query tokens' embeddings."""
        return self.tokens.width

    @property
    def d_k(self) -> int:
        """Size of one head's queries and keys."""
        if isinstance(self.source, GivenQKV):
            return int(self.source.Q.shape[-1])
        return self.source.weights.W_Q.width // self.heads

    @property
    def d_v(self) -> int:
        """Size of one head's values."""
        if isinstance(self.source, GivenQKV):
            return int(self.source.V.shape[-1])
        return self.source.weights.W_V.width // self.kv_heads

    @property
    def scale(self) -> float:
        """What raw scores are multiplied by."""
        return self.scoring.scale_for(self.d_k)

    def columns(self) -> Columns:
        """What the mask's rule may look at, as numpy arrays."""
        return Columns(self.n_q, self.n_k, {"pad": self.keys.pad})

    def allowed(self, rows: slice, columns: slice) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Where queries ``rows`` may attend to keys ``columns``: [len(rows), len(columns)], bool."""
        i = np.arange(rows.start, rows.stop)[:, np.newaxis]
        j = np.arange(columns.start, columns.stop)[np.newaxis, :]
        block = np.array(np.broadcast_to(self.rule.allowed(i, j, self.columns()), (i.size, j.size)))
        self.painted.apply(block, rows.start, columns.start)
        return block

    def arrays(self) -> Iterator[np.ndarray[Any, Any]]:
        """Every array that the value holds, for accounting of memory."""
        for sequence in (self.tokens, self.context):
            if sequence is not None:
                yield from sequence.embeddings.chunks
                yield from sequence.columns.values()
        if isinstance(self.source, GivenQKV):
            yield from (self.source.Q, self.source.K, self.source.V)
        else:
            for _, table in self.source.weights.items():
                yield from table.chunks


def _variant(cross: bool, multi_head: bool) -> Variant:
    if cross:
        return Variant.MULTI_HEAD_CROSS if multi_head else Variant.CROSS
    return Variant.MULTI_HEAD_SELF if multi_head else Variant.SELF


def _numbered(letter: str, count: int) -> tuple[str, ...]:
    return tuple(f"{letter}{index + 1}" for index in range(count))
