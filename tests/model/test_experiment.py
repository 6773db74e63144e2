"""Experiment: a value that validates itself; each refusal names field, expected and received."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from attn_gui.model.biases.relative_buckets import RelativeBuckets
from attn_gui.model.errors import ExperimentError, TooLarge, readable_bytes, readable_sizes
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal, Imported
from attn_gui.model.painted import Painted
from attn_gui.model.positions.learned import Learned
from attn_gui.model.positions.sinusoidal import Sinusoidal
from attn_gui.model.precision import Precision
from attn_gui.model.qk_norm.rms_norm import RMSNorm
from attn_gui.model.rotary.frequencies import Frequencies
from attn_gui.model.scoring import Scoring
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.model.sources import AppendedKey, FromTokens, GivenQKV
from attn_gui.model.table import Table, frozen
from attn_gui.model.tokens import TokenSequence
from attn_gui.model.variant import Variant
from attn_gui.model.weights import Weights
from tests.reference import allowed_cells
from tests.strategies import experiments

EYE = np.eye(2)
TWO = TokenSequence.of("ab", EYE)
PLAIN = Weights.of(EYE, EYE, EYE)
MULTI = Weights.of(EYE, EYE, EYE, EYE)


def single(weights: Weights = PLAIN, tokens: TokenSequence = TWO, **fields: Any) -> Experiment:
    return Experiment(tokens, FromTokens(weights), **fields)


def multi(weights: Weights = MULTI, heads: int = 2, kv_heads: int = 2, **fields: Any) -> Experiment:
    return Experiment(TWO, FromTokens(weights), Variant.MULTI_HEAD_SELF, heads, kv_heads, **fields)


def appended(key_width: int, value_width: int) -> AppendedKey:
    return AppendedKey("end", Table.of(np.ones((1, key_width))), Table.of(np.ones((1, value_width))))


def given_qkv(*shapes: tuple[int, ...], **fields: Any) -> Experiment:
    return Experiment(TWO, GivenQKV(*(frozen(np.ones(shape)) for shape in shapes)), **fields)


@pytest.mark.parametrize(
    ("make", "field", "expected", "received"),
    [
        (lambda: multi(heads=0), "heads", "1 or more", "0"),
        (lambda: multi(kv_heads=0), "kv_heads", "a divisor of the 2 query heads", "0"),
        (lambda: multi(heads=3, kv_heads=2), "kv_heads", "a divisor of the 3 query heads", "2"),
        (lambda: single(heads=2), "heads", "1 for Self-attention", "2"),
        (lambda: single(variant=Variant.CROSS), "context", "a token table for Cross-attention", "none"),
        (lambda: single(Weights.of(np.eye(3), EYE, EYE)), "W_Q", "2 rows", "shape (3, 3)"),
        (lambda: single(Weights.of(EYE, np.eye(3), EYE)), "W_K", "2 rows", "shape (3, 3)"),
        (lambda: single(Weights.of(EYE, EYE, np.eye(3))), "W_V", "2 rows", "shape (3, 3)"),
        (lambda: single(Weights.of(EYE, np.ones((2, 3)), EYE)), "W_K", "2 columns (1 x d_k 2)", "3"),
        (
            lambda: single(Weights.of(np.ones((2, 0)), EYE, EYE)),
            "W_Q",
            "columns in 1 equal parts, one per head",
            "shape (2, 0)",
        ),
        (
            lambda: multi(Weights.of(np.ones((2, 3)), EYE, EYE, EYE)),
            "W_Q",
            "columns in 2 equal parts, one per head",
            "shape (2, 3)",
        ),
        (lambda: multi(PLAIN), "W_O", "a matrix of 2 rows", "none"),
        (lambda: multi(Weights.of(EYE, EYE, EYE, np.eye(3))), "W_O", "2 rows", "shape (3, 3)"),
        (lambda: single(MULTI), "W_O", "none in a single-head variant", "a matrix or its bias"),
        (
            lambda: single(Weights.of(EYE, EYE, EYE, b_O=[1, 2])),
            "W_O",
            "none in a single-head variant",
            "a matrix or its bias",
        ),
        (lambda: single(Weights.of(EYE, EYE, EYE, b_Q=[1, 2, 3])), "b_Q", "shape (1, 2)", "shape (1, 3)"),
        (lambda: single(tokens=TokenSequence.of("ab", np.empty((2, 0)))), "embeddings", "at least 1 dimension", "0"),
        (lambda: given_qkv((1, 3, 2), (1, 2, 2), (1, 2, 2)), "Q", "shape (1, 2, size)", "(1, 3, 2)"),
        (lambda: given_qkv((1, 2, 2), (1, 3, 2), (1, 2, 2)), "K", "shape (1, 2, size)", "(1, 3, 2)"),
        (lambda: given_qkv((1, 2, 2), (1, 2, 2), (2, 2, 2)), "V", "shape (1, 2, size)", "(2, 2, 2)"),
        (lambda: given_qkv((1, 2, 2), (1, 2, 3), (1, 2, 2)), "K", "rows as long as Q's, 2", "3"),
        (lambda: given_qkv((1, 2, 0), (1, 2, 0), (1, 2, 2)), "Q", "shape (1, 2, size)", "(1, 2, 0)"),
        (lambda: TokenSequence.of([], np.empty((0, 2))), "tokens", "at least 1 token", "none"),
        (lambda: TokenSequence.of("abc", EYE), "embeddings", "one row for each of 3 tokens", "2 rows"),
        (lambda: TokenSequence.of(["a", ""], EYE), "token 2", "a name of at least one character", "''"),
        (lambda: TokenSequence.of(["a", 3], EYE), "token 2", "a name of at least one character", "3"),
        (lambda: TokenSequence.of("ab", EYE, ["noun"]), "dimensions", "2 names", "1"),
        (lambda: TokenSequence.of("ab", EYE, pad=[True]), "column pad", "shape (2,)", "(1,)"),
        (lambda: Scoring(scale=float("nan")), "scale", "a number from -1e30 to 1e30", "nan"),
        (lambda: Scoring(softcap=0.0), "softcap", "a number from 1e-30 to 1e30", "0.0"),
        (lambda: Scoring(softcap=float("inf")), "softcap", "a number from 1e-30 to 1e30", "inf"),
        (lambda: Session(()), "session", "at least 1 experiment", "none"),
        (lambda: Session((NamedExperiment("a", single()),), 1), "current", "0 to 0", "1"),
        (lambda: Experiment.from_qkv([1.0], [1.0], [1.0]), "Q", "2 or 3 axes ([heads,] tokens, size)", "shape (1,)"),
        (
            lambda: Experiment.from_qkv(EYE, np.ones((1, 1, 2, 2)), EYE),
            "K",
            "2 or 3 axes ([heads,] tokens, size)",
            "shape (1, 1, 2, 2)",
        ),
        (lambda: single(past=TokenSequence.of("p", np.ones((1, 3)))), "past", "embeddings of 2 numbers", "3"),
        (lambda: single(values=TokenSequence.of("abc", np.ones((3, 2)))), "values", "a row for each of 2 keys", "3"),
        (
            lambda: single(values=TWO, past=TokenSequence.of("p", np.ones((1, 2)))),
            "past",
            "none where values have embeddings of their own",
            "1 tokens",
        ),
        (lambda: single(values=TokenSequence.of("ab", np.ones((2, 3)))), "W_V", "3 rows", "shape (2, 2)"),
        (lambda: multi(appended=(appended(4, 2),)), "K of end", "shape (1, 2)", "(1, 4)"),
        (lambda: multi(appended=(appended(2, 2), appended(2, 1))), "V of end", "shape (1, 2)", "(1, 1)"),
        (lambda: multi(scoring=Scoring(sinks=(1.0,))), "sinks", "one for each of 2 heads", "1"),
        (
            lambda: given_qkv((1, 2, 2), (1, 2, 2), (1, 2, 2), scoring=Scoring(position=Sinusoidal())),
            "position",
            "none where Q, K and V were given",
            "Sinusoidal",
        ),
        (
            lambda: single(scoring=Scoring(position=Learned(np.ones((1, 2))))),
            "position learned table",
            "a row for position 1",
            "1 rows",
        ),
        (
            lambda: single(
                scoring=Scoring(position=Learned(np.ones((2, 2)))),
                variant=Variant.CROSS,
                context=TokenSequence.of("xyz", np.ones((3, 2))),
            ),
            "position learned table",
            "a row for position 2",
            "2 rows",
        ),
        (
            lambda: multi(scoring=Scoring(rotary=Frequencies())),
            "rotary frequencies width",
            "an even number of the 1 dimensions of a head",
            "1",
        ),
        (
            lambda: multi(scoring=Scoring(qk_norm=RMSNorm(gain_q=np.ones(2)))),
            "qk_norm rms gain_q",
            "shape (1,)",
            "(2,)",
        ),
        (
            lambda: single(rule=Imported(np.ones((2, 3), bool))),
            "mask imported cells",
            "shape (2, 2) or (1, 2, 2)",
            "(2, 3)",
        ),
        (
            lambda: multi(scoring=Scoring(biases=(RelativeBuckets(np.ones((8, 3))),))),
            "bias relative_buckets table",
            "2 columns, one a head",
            "3",
        ),
        (lambda: Experiment.from_qkv(EYE, EYE, EYE, past=2), "past", "fewer than the 2 keys", "2"),
        (lambda: Experiment.from_tokens("ab", EYE, heads=3), "heads", "a divisor of d_model 2", "3"),
        (lambda: Experiment.from_tokens("ab", EYE, heads=0), "heads", "a divisor of d_model 2", "0"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(make: Any, field: str, expected: str, received: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        make()
    assert (caught.value.field, caught.value.expected, caught.value.received) == (field, expected, received)


def test_an_experiment_is_a_value() -> None:
    e = single()
    with pytest.raises(FrozenInstanceError):
        e.heads = 3  # type: ignore[misc]
    later = replace(e, precision=Precision.FLOAT16)
    assert later.revision > e.revision
    assert later.tokens is e.tokens
    assert e != replace(e)
    for array in e.arrays():
        assert not array.flags.writeable


@given(experiments())
def test_sizes_and_mask_are_read_off_the_parts(e: Experiment) -> None:
    present = e.context if e.variant.is_cross and e.context is not None else e.tokens
    past = [] if e.past is None else [e.past]
    assert (e.n_q, e.offset) == (len(e.tokens), sum(map(len, past)))
    assert e.n_k == e.offset + len(present) + len(e.appended) == len(e.keys)
    names = [*(token for table in [*past, present] for token in table.tokens), *(key.name for key in e.appended)]
    assert list(e.keys.tokens) == names
    scale = e.d_k**-0.5 if e.scoring.scale is None else e.scoring.scale
    assert e.scale == pytest.approx(scale / e.scoring.temperature, rel=1e-15)
    every = slice(0, e.n_q), slice(0, e.n_k)
    for head, expected in enumerate(allowed_cells(e)):
        assert np.array_equal(e.allowed(*every, head), expected)
        assert np.array_equal(
            e.allowed(slice(e.n_q // 2, e.n_q), slice(e.n_k // 2, e.n_k), head), expected[e.n_q // 2 :, e.n_k // 2 :]
        )
    assert all(not array.flags.writeable for array in e.arrays())


def test_tokens_alone_get_identity_weights() -> None:
    e = Experiment.from_tokens("abc", np.arange(6.0).reshape(3, 2))
    assert e.weights is not None
    assert [name for name, _ in e.weights.items()] == ["W_Q", "W_K", "W_V"]
    assert all(np.array_equal(table.array(), np.eye(2)) for _, table in e.weights.items())
    assert (e.variant, e.d_k, e.d_v) == (Variant.SELF, 2, 2)


@pytest.mark.parametrize(
    ("fields", "variant", "heads", "kv_heads"),
    [
        ({}, Variant.SELF, 1, 1),
        ({"heads": 2}, Variant.MULTI_HEAD_SELF, 2, 2),
        ({"heads": 1}, Variant.MULTI_HEAD_SELF, 1, 1),
        ({"heads": 4, "kv_heads": 2}, Variant.MULTI_HEAD_SELF, 4, 2),
        ({"context": TokenSequence.of("xyz", np.ones((3, 5)))}, Variant.CROSS, 1, 1),
        ({"context": TokenSequence.of("xyz", np.ones((3, 5))), "heads": 2}, Variant.MULTI_HEAD_CROSS, 2, 2),
        ({"variant": Variant.MULTI_HEAD_SELF}, Variant.MULTI_HEAD_SELF, 1, 1),
        ({"variant": Variant.SELF, "context": TokenSequence.of("xyz", np.ones((3, 5)))}, Variant.SELF, 1, 1),
    ],
)
def test_the_variant_follows_from_what_is_given(fields: Any, variant: Variant, heads: int, kv_heads: int) -> None:
    e = Experiment.from_tokens("ab", np.ones((2, 4)), **fields)
    assert (e.variant, e.heads, e.kv_heads) == (variant, heads, kv_heads)
    assert e.weights is not None
    assert (e.weights.W_O is not None) == variant.is_multi_head


def test_given_q_k_and_v_are_named_and_kept() -> None:
    Q = np.arange(6.0).reshape(3, 2)
    e = Experiment.from_qkv(Q, Q, Q)
    assert (e.tokens.tokens, e.variant) == (("t1", "t2", "t3"), Variant.SELF)
    Q[0, 0] = 99
    assert isinstance(e.source, GivenQKV)
    assert e.source.Q[0, 0, 0] == 0
    cross = Experiment.from_qkv(Q, Q[:2], Q[:2])
    assert (cross.tokens.tokens, cross.keys.tokens, cross.variant) == (("q1", "q2", "q3"), ("k1", "k2"), Variant.CROSS)
    named = Experiment.from_qkv(Q, Q, Q, tokens="abc", key_tokens="xyz")
    assert (named.tokens.tokens, named.keys.tokens, named.variant) == (tuple("abc"), tuple("xyz"), Variant.CROSS)
    many = Experiment.from_qkv(np.ones((4, 3, 2)), np.ones((2, 5, 2)), np.ones((2, 5, 7)))
    assert (many.variant, many.heads, many.kv_heads, many.d_v) == (Variant.MULTI_HEAD_CROSS, 4, 2, 7)
    assert many.weights is None


def test_numbers_that_are_not_finite_may_be_imported() -> None:
    e = Experiment.from_tokens("ab", [[np.nan, 1], [np.inf, 2]])
    assert np.isnan(e.tokens.embeddings[0, 0])


def test_weights_by_name() -> None:
    with pytest.raises(KeyError):
        PLAIN.get("W_X")
    with pytest.raises(KeyError):
        PLAIN.with_table("W_X", None)
    table = Table.of(np.ones((2, 2)))
    assert PLAIN.with_table("W_K", table).W_K is table
    assert not PLAIN.has_biases
    assert Weights.of(EYE, EYE, EYE, b_V=[1, 2]).has_biases


def test_a_session_changes_its_current_experiment_alone() -> None:
    first, second = NamedExperiment("one", single(), "a note"), NamedExperiment("two", single())
    session = Session((first, second), view={"decimals": 2})
    other = single()
    changed = session.with_experiment(other)
    assert changed.experiment is other
    assert (changed.named.name, changed.named.note) == ("one", "a note")
    assert changed.experiments[1] is second
    assert changed.view == {"decimals": 2}
    assert session.experiment is first.experiment
    arrays = list(session.arrays())
    assert len(arrays) == len(list(first.experiment.arrays())) + len(list(second.experiment.arrays()))


def test_painted_cells_lie_on_top_of_the_rule() -> None:
    e = single(rule=Causal(), painted=Painted().with_cells([(0, 1)], True).with_cells([(1, 0)], False))
    assert e.allowed(slice(0, 2), slice(0, 2)).tolist() == [[True, True], [False, True]]


@given(st.integers(0, 10**19))
@example(999_900_000)
@example(999_500_000_000)
def test_bytes_are_readable(count: int) -> None:
    number, unit = readable_bytes(count).split()
    size = {"bytes": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}[unit]
    assert float(number.replace(",", "")) * size == pytest.approx(count, rel=0.006)
    assert "e" not in number
    assert float(number.replace(",", "")) < 1000 or unit == "TB"


@given(st.integers(0, 10**13), st.integers(1, 10**9))
@example(1 << 30, 1)
def test_sizes_that_differ_are_written_so_that_they_differ(count: int, more: int) -> None:
    first, second = readable_sizes(count, count + more)
    assert first != second


def test_a_little_more_than_there_is() -> None:
    assert readable_sizes(1 << 30, (1 << 30) + 1) == ("1,073,741,824 bytes", "1,073,741,825 bytes")
    assert readable_sizes(1 << 30, 1_074_800_000) == ("1.074 GB", "1.075 GB")
    assert str(TooLarge("A", 8_001_000_000, 8_000_000_000)) == "A needs 8.001 GB; 8 GB may be used"


def test_too_large_says_both_figures() -> None:
    error = TooLarge("A", 8_600_000_000, 500)
    assert str(error) == "A needs 8.6 GB; 500 bytes may be used"
    assert isinstance(error, MemoryError)


LONG = "a name of at most 10,000 characters"


@pytest.mark.parametrize(
    ("tokens", "dimensions", "field"),
    [(("a", "x" * 10_001), (), "token 2"), (("a", "b"), (None, "x" * 10_001), "dimension 2")],
)
def test_a_name_nobody_reads_is_refused(tokens: tuple[str, ...], dimensions: tuple[Any, ...], field: str) -> None:
    with pytest.raises(ExperimentError) as refused:
        TokenSequence.of(tokens, EYE, dimensions)
    assert (refused.value.field, refused.value.expected, refused.value.received) == (field, LONG, "one of 10,001")
    assert TokenSequence.of(["a", "x" * 10_000], EYE, ["x" * 10_000, None]).tokens[1] == "x" * 10_000


def test_a_title_nobody_reads_is_refused() -> None:
    e = Experiment.from_tokens("ab", EYE)
    with pytest.raises(ExperimentError, match="name: expected at most 10,000 characters, received 10,001"):
        NamedExperiment("x" * 10_001, e)


def test_positions_go_on_after_the_cache_unless_they_are_given() -> None:
    past = TokenSequence.of("pq", np.ones((2, 2)))
    e = single(past=past)
    assert (e.query_positions.tolist(), e.key_positions.tolist(), e.last_position) == ([2, 3], [0, 1, 2, 3], 3)
    given_places = replace(e, tokens=TWO.with_column("position", [7, 1]))
    assert given_places.query_positions.tolist() == [7, 1]
    assert (given_places.key_positions.tolist(), given_places.last_position) == ([0, 1, 7, 1], 7)
    keyed = single(appended=(appended(2, 2),))
    assert keyed.key_positions.tolist() == [0, 1], "what is appended stands nowhere"


def test_a_cache_may_come_with_given_q_k_and_v() -> None:
    e = Experiment.from_qkv(np.ones((2, 3)), np.ones((5, 3)), np.ones((5, 3)), past=3)
    assert (e.variant, e.n_q, e.n_k, e.offset) == (Variant.SELF, 2, 5, 3)
    assert e.keys.tokens == ("past1", "past2", "past3", "t1", "t2")
    cross = Experiment.from_qkv(np.ones((1, 3)), np.ones((5, 3)), np.ones((5, 3)), past=2)
    assert (cross.variant, cross.keys.tokens) == (Variant.CROSS, ("past1", "past2", "k1", "k2", "k3"))


def test_every_query_may_attend_to_what_is_appended() -> None:
    e = single(rule=Imported(np.zeros((2, 2), bool)), appended=(appended(2, 2),))
    assert e.allowed(slice(0, 2), slice(0, 3)).tolist() == [[False, False, True]] * 2
    forbidden = replace(e, painted=Painted().with_cells([(1, 2)], False))
    assert forbidden.allowed(slice(0, 2), slice(0, 3)).tolist() == [[False, False, True], [False] * 3]
