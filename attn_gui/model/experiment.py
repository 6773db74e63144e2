"""Experiment: everything that decides the picture, as one value."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attn_gui.model.columns import Values
from attn_gui.model.errors import ExperimentError
from attn_gui.model.given import Given, given, precision_of
from attn_gui.model.initialise import initial_weights
from attn_gui.model.mapped import is_mapped
from attn_gui.model.masks import Columns, MaskRule
from attn_gui.model.painted import Painted
from attn_gui.model.precision import Precision
from attn_gui.model.scoring import Scoring
from attn_gui.model.sources import AppendedKey, FromTokens, GivenQKV, GivenScores, GivenWeights, Source, joined
from attn_gui.model.table import Table
from attn_gui.model.tokens import TokenSequence
from attn_gui.model.validate import check_acting, check_appended, check_given, check_projections
from attn_gui.model.variant import Variant
from attn_gui.model.weights import Weights

_revisions = itertools.count(1)


@dataclass(frozen=True, eq=False)
class Experiment:
    """What is explored. A value: to change it, make another (``dataclasses.replace``), which gets a new revision.

    tokens: the queries, and the keys too unless the variant is a cross-attention.
    context: keys and values of a cross-attention, with a width of its own; kept but unused by other variants.
    values: embeddings that values are projected from, where they are not those of the keys (kdim and vdim of
    nn.MultiheadAttention); its tokens are the keys.
    past: the cache, tokens whose keys and values stand before those of the present; they ask nothing.
    appended: keys after all tokens, which are no token's.
    heads, kv_heads: query heads and key/value heads; query head h uses kv head h // (heads // kv_heads).
    source: FromTokens(weights), or what was given: GivenQKV(Q, K, V), GivenScores(A, V), GivenWeights(N, V).
    rule, painted: the mask: a rule, and cells set by hand on top of it.
    hidden: stages that an exercise keeps to itself; whoever computes the experiment is refused them.
    Raises ExperimentError (field, expected, received) where the parts do not fit together.
    """

    tokens: TokenSequence
    source: Source
    variant: Variant = Variant.SELF
    heads: int = 1
    kv_heads: int = 1
    context: TokenSequence | None = None
    values: TokenSequence | None = None
    past: TokenSequence | None = None
    appended: tuple[AppendedKey, ...] = ()
    rule: MaskRule = MaskRule()
    painted: Painted = Painted()
    scoring: Scoring = Scoring()
    precision: Precision = Precision.FLOAT32
    hidden: frozenset[str] = frozenset()
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
        if self.past is not None:
            self._check_past(self.past)
        tokens = self.n_k - len(self.appended)
        if not isinstance(self.source, FromTokens):
            check_given(self.source, self.heads, self.kv_heads, self.n_q, tokens)
            masked = self.rule.kind != "none" or bool(self.painted)
            check_acting(self.source, self.scoring, masked, len(self.appended))
        else:
            check_projections(
                self.source.weights,
                (self.tokens.width, self.present_keys.width, self.value_rows.width),
                (self.heads, self.kv_heads),
                multi_head=self.variant.is_multi_head,
            )
        if self.values is not None and len(self.values) != len(self.present_keys):
            raise ExperimentError("values", f"a row for each of {len(self.present_keys)} keys", f"{len(self.values)}")
        check_appended(self.appended, self.kv_heads * self.d_k, self.kv_heads * self.d_v)
        self.rule.check_fits(self.n_q, tokens, self.heads)
        for bias in self.scoring.biases:
            bias.check_fits(self.n_q, tokens, self.heads)
        self._check_scoring()

    def _check_past(self, past: TokenSequence) -> None:
        if past.width != self.present_keys.width:
            raise ExperimentError("past", f"embeddings of {self.present_keys.width} numbers", str(past.width))
        if self.values is not None:
            raise ExperimentError("past", "none where values have embeddings of their own", f"{len(past)} tokens")

    def _check_scoring(self) -> None:
        scoring = self.scoring
        if scoring.sinks is not None and len(scoring.sinks) != self.heads:
            raise ExperimentError("sinks", f"one for each of {self.heads} heads", str(len(scoring.sinks)))
        if scoring.position.kind != "none":
            scoring.position.check_fits(self.query_positions, self.tokens.width)
            scoring.position.check_fits(self.key_positions, self.present_keys.width)
        if scoring.rotary is not None or scoring.qk_norm is not None:
            scoring.check_fits(self.query_positions, self.key_positions, self.d_k)

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
        V: ArrayLike | None = None,
        *,
        tokens: Sequence[str] | None = None,
        key_tokens: Sequence[str] | None = None,
        past: int = 0,
        **fields: Any,
    ) -> Experiment:
        """An experiment over given Q [heads, n_q, d_k], K [kv_heads, n_k, d_k], and perhaps V [kv_heads, n_k, d_v].

        Two axes mean one head. Without ``tokens`` the queries are called q1, q2, ..., the keys k1, k2, ...;
        without ``key_tokens`` a K as long as Q is taken as self-attention. The first ``past`` keys are the cache.
        """
        q, k = _by_head("Q", Q), _by_head("K", K)
        source = GivenQKV(q, k, None if V is None else _by_head("V", V))
        return cls._of_given(source, q.shape[:2], k.shape[:2], tokens, key_tokens, past, fields)

    @classmethod
    def from_scores(
        cls,
        A: ArrayLike,
        V: ArrayLike | None = None,
        *,
        tokens: Sequence[str] | None = None,
        key_tokens: Sequence[str] | None = None,
        past: int = 0,
        **fields: Any,
    ) -> Experiment:
        """An experiment over given scores A [heads, n_q, n_k] and perhaps values V [kv_heads, n_k, d_v].

        In the precision of A unless ``fields`` say otherwise; names and cache as in :meth:`from_qkv`.
        """
        a = _by_head("A", A)
        v = None if V is None else _by_head("V", V)
        fields.setdefault("precision", precision_of(a.dtype))
        shape = (a.shape[0] if v is None else v.shape[0], a.shape[2])
        return cls._of_given(GivenScores(a, v), a.shape[:2], shape, tokens, key_tokens, past, fields)

    @classmethod
    def from_weights(
        cls,
        N: ArrayLike,
        V: ArrayLike | None = None,
        *,
        tokens: Sequence[str] | None = None,
        key_tokens: Sequence[str] | None = None,
        past: int = 0,
        **fields: Any,
    ) -> Experiment:
        """An experiment over given weights N [heads, n_q, n_k] and perhaps values V [kv_heads, n_k, d_v].

        In the precision of N unless ``fields`` say otherwise; names and cache as in :meth:`from_qkv`.
        """
        n = _by_head("N", N)
        v = None if V is None else _by_head("V", V)
        fields.setdefault("precision", precision_of(n.dtype))
        shape = (n.shape[0] if v is None else v.shape[0], n.shape[2])
        return cls._of_given(GivenWeights(n, v), n.shape[:2], shape, tokens, key_tokens, past, fields)

    @classmethod
    def _of_given(
        cls,
        source: Source,
        queries: tuple[int, ...],
        keys: tuple[int, ...],
        tokens: Sequence[str] | None,
        key_tokens: Sequence[str] | None,
        past: int,
        fields: dict[str, Any],
    ) -> Experiment:
        """Of (heads, n_q) ``queries`` and (kv_heads, n_k) ``keys``."""
        (heads, n_q), (kv_heads, count) = queries, keys
        n_k = count - past
        if n_k < 1:
            raise ExperimentError("past", f"fewer than the {count} keys", str(past))
        cross = key_tokens is not None or n_q != n_k
        names = tuple(tokens) if tokens is not None else _numbered("q" if cross else "t", n_q)
        key_names = tuple(key_tokens) if key_tokens is not None else _numbered("k", n_k)
        return cls(
            _nameless(names),
            source,
            fields.pop("variant", None) or _variant(cross, heads > 1),
            heads,
            kv_heads,
            _nameless(key_names) if cross else None,
            past=_nameless(_numbered("past", past)) if past else None,
            **fields,
        )

    @property
    def present_keys(self) -> TokenSequence:
        """The tokens that the present keys belong to: the context of a cross-attention, otherwise the tokens."""
        return self.context if self.variant.is_cross and self.context is not None else self.tokens

    @cached_property
    def key_rows(self) -> TokenSequence:
        """What keys are projected from: the cache and the present keys."""
        return joined([self.past, self.present_keys] if self.past is not None else [self.present_keys])

    @property
    def value_rows(self) -> TokenSequence:
        """What values are projected from."""
        return self.key_rows if self.values is None else self.values

    @cached_property
    def keys(self) -> TokenSequence:
        """Every key by its name, in the order of the key axis: the cache, the present keys, what is appended."""
        if not self.appended:
            return self.key_rows
        names = tuple(key.name for key in self.appended)
        rows = Table.of(np.zeros((len(names), self.key_rows.width)))
        return joined([self.key_rows, TokenSequence(names, rows, self.key_rows.dimensions)])

    @property
    def weights(self) -> Weights | None:
        return self.source.weights if isinstance(self.source, FromTokens) else None

    @property
    def has_queries(self) -> bool:
        """Whether there are queries and keys that the scores come of."""
        return isinstance(self.source, FromTokens | GivenQKV)

    @property
    def has_scores(self) -> bool:
        """Whether there are scores that the weights come of."""
        return not isinstance(self.source, GivenWeights)

    @property
    def has_values(self) -> bool:
        """Whether there are values for the weights to gather."""
        return isinstance(self.source, FromTokens) or self.source.V is not None

    @property
    def n_q(self) -> int:
        return len(self.tokens)

    @property
    def n_k(self) -> int:
        return self.offset + len(self.present_keys) + len(self.appended)

    @property
    def offset(self) -> int:
        """The position of the first query among the keys: the length of the cache."""
        return 0 if self.past is None else len(self.past)

    @cached_property
    def query_positions(self) -> Values:
        """Where each query stands, [n_q], for position encodings: its ``position``, or its place after the cache."""
        tokens = self.tokens
        given = "position" in tokens.columns
        return tokens.column("position") if given else tokens.column("position") + self.offset

    @property
    def key_positions(self) -> Values:
        """Where each key of a token stands, [n_k without the appended]."""
        return self.key_rows.column("position")

    @property
    def last_position(self) -> int:
        """The farthest position of a query or of a token's key."""
        return max(int(self.query_positions.max()), int(self.key_positions.max()))

    @property
    def d_model(self) -> int:
        """Width of the query tokens' embeddings."""
        return self.tokens.width

    @property
    def d_k(self) -> int:
        """Size of one head's queries and keys; 0 without any."""
        if isinstance(self.source, FromTokens):
            return self.source.weights.W_Q.width // self.heads
        return int(self.source.Q.shape[-1]) if isinstance(self.source, GivenQKV) else 0

    @property
    def d_v(self) -> int:
        """Size of one head's values; 0 without any."""
        if isinstance(self.source, FromTokens):
            return self.source.weights.W_V.width // self.kv_heads
        return 0 if self.source.V is None else int(self.source.V.shape[-1])

    @property
    def scale(self) -> float:
        """What raw scores are multiplied by; 1 where the scores or weights were given."""
        return self.scoring.scale_for(self.d_k) if self.has_queries else 1.0

    @property
    def sums_to_one(self) -> bool:
        """Whether each row of weights that may attend to anything sums to 1; of weights that were given, who knows."""
        return self.has_scores and self.scoring.sums_to_one

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of the per-token columns that the mask and the biases look at."""
        biases = self.scoring.biases
        return tuple(dict.fromkeys((*self.rule.reads, *(name for bias in biases for name in bias.columns))))

    def columns(self, head: int = 0) -> Columns:
        """What the mask's rule and the biases may look at, as numpy arrays."""
        names = self.reads
        key = {name: self.key_rows.column(name) for name in names}
        return Columns(
            self.n_q,
            self.n_k - len(self.appended),
            self.offset,
            key | self.rule.derived(key),
            {name: self.tokens.column(name) for name in names},
            head,
        )

    def allowed(self, rows: slice, columns: slice, head: int = 0) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Where queries ``rows`` may attend to keys ``columns`` in a head: [len(rows), len(columns)], bool."""
        i = np.arange(rows.start, rows.stop)[:, np.newaxis]
        j = np.arange(columns.start, columns.stop)[np.newaxis, :]
        looked_at = self.columns(head)
        appended = j >= looked_at.n_k
        ruled = self.rule.allowed(i, np.where(appended, 0, j), looked_at) | appended
        block = np.array(np.broadcast_to(ruled, (i.size, j.size)))
        self.painted.apply(block, rows.start, columns.start)
        return block

    def is_ruled(self, allowed: bool, queries: Values, keys: Values) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Of which cells (``queries`` and ``keys`` [cells]) the rule says ``allowed`` in every head, [cells]."""
        appended = keys >= self.n_k - len(self.appended)
        same = np.ones(queries.shape, bool)
        for head in range(self.heads if self.rule.per_head else 1):
            ruled = self.rule.allowed(queries, np.where(appended, 0, keys), self.columns(head))
            same &= (np.broadcast_to(ruled, same.shape) | appended) == allowed
        return same

    def arrays(self) -> Iterator[np.ndarray[Any, Any]]:
        """Every array that the value holds in memory, for accounting of it."""
        for sequence in (self.tokens, self.context, self.values, self.past):
            if sequence is not None:
                yield from sequence.embeddings.chunks
                yield from sequence.columns.values()
        if not isinstance(self.source, FromTokens):
            yield from (part for part in self.source.parts().values() if not is_mapped(part))
        else:
            for _, table in self.source.weights.items():
                yield from table.chunks
        yield from self.rule.arrays()
        yield from self.scoring.arrays()
        for key in self.appended:
            yield from (*key.K.chunks, *key.V.chunks)


def _variant(cross: bool, multi_head: bool) -> Variant:
    if cross:
        return Variant.MULTI_HEAD_CROSS if multi_head else Variant.CROSS
    return Variant.MULTI_HEAD_SELF if multi_head else Variant.SELF


def _by_head(name: str, array: ArrayLike) -> Given:
    found = given(array, name)
    if found.ndim not in (2, 3):
        axes = "queries, keys" if name in ("A", "N") else "tokens, size"
        raise ExperimentError(name, f"2 or 3 axes ([heads,] {axes})", f"shape {found.shape}")
    return found if found.ndim == 3 else found[np.newaxis]


def _nameless(names: tuple[str, ...]) -> TokenSequence:
    return TokenSequence(names, Table.of(np.empty((len(names), 0))))


def _numbered(letter: str, count: int) -> tuple[str, ...]:
    return tuple(f"{letter}{index + 1}" for index in range(count))
