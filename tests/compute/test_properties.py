"""What must hold of attention whatever the numbers, each for the scorings that it is true of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.compute.trace import trace
from attn_gui.model.biases.additive import Additive
from attn_gui.model.edits import set_cells
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal, Combined, MaskRule, Padding, SlidingWindow, Term
from attn_gui.model.masks.dilated import Dilated
from attn_gui.model.normalisers import Normaliser
from attn_gui.model.normalisers.entmax15 import Entmax15
from attn_gui.model.normalisers.softmax import Softmax
from attn_gui.model.normalisers.softmax_one import SoftmaxOne
from attn_gui.model.normalisers.sparsemax import Sparsemax
from attn_gui.model.precision import Precision
from attn_gui.model.qk_norm.l2_norm import L2Norm
from attn_gui.model.rotary.frequencies import Frequencies
from attn_gui.model.scoring import Scoring
from attn_gui.model.sources import AppendedKey, GivenQKV
from attn_gui.model.table import Table, frozen
from attn_gui.model.variant import Variant
from tests.strategies import experiments, scorings

NORMALISERS = st.sampled_from([kind() for kind in Normaliser.kinds.values()])
SUMMING = st.sampled_from([Softmax(), Sparsemax(), Entmax15()])
CLOSE: dict[str, Any] = {"rtol": 0, "atol": 1e-12}
seeds = st.integers(0, 2**32 - 1)


def given_qkv(seed: int, heads: int, kv_heads: int, n_q: int, n_k: int, **fields: Any) -> Experiment:
    random = np.random.RandomState(seed)
    Q, K, V = (random.standard_normal((h, n, 3)) for h, n in ((heads, n_q), (kv_heads, n_k), (kv_heads, n_k)))
    return Experiment.from_qkv(Q, K, V, **{"precision": Precision.FLOAT64} | fields)


def test_which_normalisers_there_are() -> None:
    """The lists above leave none out."""
    assert {normaliser.kind for normaliser in (Softmax(), Sparsemax(), Entmax15())} == {
        kind for kind, normaliser in Normaliser.kinds.items() if normaliser.sums_to_one
    }


@pytest.mark.parametrize("precision", Precision)
@given(SUMMING, seeds, st.integers(1, 400), st.sampled_from([0.0, 0.01, 1.0, 30.0]), st.floats(0, 1))
def test_rows_sum_to_one_or_are_zero(
    precision: Precision, normaliser: Normaliser, seed: int, n_k: int, scale: float, masked: float
) -> None:
    e = given_qkv(seed, 2, 1, 3, n_k, precision=precision, scoring=Scoring(scale, normaliser=normaliser))
    random = np.random.RandomState(seed)
    cells = [(i, j) for i in range(3) for j in range(n_k) if i == 2 or random.uniform() < masked]
    e = replace(e, painted=e.painted.with_cells(cells, False))
    sums = trace(e).stage("N").astype(np.float64).sum(axis=-1)
    open_rows = e.allowed(slice(0, 3), slice(0, n_k)).any(axis=1)
    assert (sums[:, ~open_rows] == 0).all()
    assert np.abs(sums[:, open_rows] - 1).max(initial=0) <= precision.eps * (2 + np.log2(n_k))


@given(SUMMING, seeds, st.integers(1, 5), st.integers(1, 7), st.integers(-50, 50))
def test_a_constant_added_to_a_row_of_A_leaves_N(
    normaliser: Normaliser, seed: int, n_q: int, n_k: int, constant: int
) -> None:
    rows = constant * np.random.RandomState(seed).uniform(size=(n_q, 1))
    plain = given_qkv(seed, 2, 2, n_q, n_k, scoring=Scoring(normaliser=normaliser))
    shifted = replace(plain, scoring=replace(plain.scoring, biases=(Additive(rows + np.zeros((n_q, n_k))),)))
    np.testing.assert_allclose(trace(shifted).stage("A") - rows, trace(plain).stage("A"), **CLOSE)
    np.testing.assert_allclose(trace(shifted).stage("N"), trace(plain).stage("N"), **CLOSE)


@given(NORMALISERS, seeds, st.integers(1, 4), st.integers(1, 7), st.data())
def test_permuting_keys_with_their_values_leaves_the_output(
    normaliser: Normaliser, seed: int, n_q: int, n_k: int, data: st.DataObject
) -> None:
    sinks = (0.3, -1.0) if normaliser.sinks and data.draw(st.booleans()) else None
    e = given_qkv(seed, 2, 2, n_q, n_k, scoring=Scoring(normaliser=normaliser, sinks=sinks))
    order = data.draw(st.permutations(range(n_k)))
    assert isinstance(e.source, GivenQKV)
    source = GivenQKV(e.source.Q, *(frozen(given_rows[:, order]) for given_rows in (e.source.K, e.source.V)))
    before, after = trace(e), trace(replace(e, source=source))
    np.testing.assert_allclose(after.stage("N"), before.stage("N")[:, :, order], **CLOSE)
    np.testing.assert_allclose(after.stage("output"), before.stage("output"), **CLOSE)


SELF = (Variant.SELF, Variant.MULTI_HEAD_SELF)
CAUSAL = [Causal(), SlidingWindow(2), Dilated(1, 2), Combined((Term(Causal()), Term(Padding())))]


@given(experiments(sources=("tokens",), variants=SELF, tables=()), st.sampled_from(CAUSAL), seeds, st.data())
def test_a_causal_output_ignores_later_tokens_bit_for_bit(
    e: Experiment, rule: MaskRule, seed: int, data: st.DataObject
) -> None:
    # what is appended is open to all, and what is painted lies on top of the rule
    e = Experiment(e.tokens, e.source, e.variant, e.heads, e.kv_heads, rule=rule, precision=e.precision)
    e = replace(e, scoring=data.draw(scorings((e.heads, e.n_q, e.n_k), e.d_k, (e.d_model, e.d_model))))
    first = data.draw(st.integers(0, e.n_q - 1))
    later = np.arange(first, e.n_q)[:, np.newaxis]
    numbers = np.random.RandomState(seed).standard_normal((len(later), e.d_model))
    other = set_cells(e, "tokens", later, np.arange(e.d_model), numbers)
    before, after = trace(e), trace(other)
    for name in ("N", "head_output"):
        assert np.array_equal(after.stage(name)[:, :first], before.stage(name)[:, :first]), name
    assert np.array_equal(after.stage("output")[:first], before.stage("output")[:first])


@given(st.sampled_from([(2, 1), (4, 2), (6, 3), (6, 2), (8, 1)]), seeds, st.sampled_from(Precision), st.data())
def test_repeated_kv_heads_equal_full_heads(
    counts: tuple[int, int], seed: int, precision: Precision, data: st.DataObject
) -> None:
    heads, kv_heads = counts
    scoring = data.draw(scorings((heads, 4, 5), 3))
    grouped = given_qkv(seed, heads, kv_heads, 4, 5, scoring=scoring, precision=precision)
    assert isinstance(grouped.source, GivenQKV)
    full = (np.repeat(rows, heads // kv_heads, axis=0) for rows in (grouped.source.K, grouped.source.V))
    source = GivenQKV(grouped.source.Q, *(frozen(rows) for rows in full))
    before, after = trace(grouped), trace(replace(grouped, source=source, kv_heads=heads))
    for stage in ("K", "V", "A", "N", "output"):
        assert np.array_equal(after.stage(stage), before.stage(stage)), stage


@given(seeds, st.integers(1, 4), st.integers(1, 6))
def test_an_extra_1_is_a_zero_key_that_is_appended(seed: int, n_q: int, n_k: int) -> None:
    plain = given_qkv(seed, 2, 2, n_q, n_k)
    zero = AppendedKey("zero", Table.of(np.zeros((1, 6))), Table.of(np.zeros((1, 6))))
    one = trace(replace(plain, scoring=Scoring(normaliser=SoftmaxOne())))
    appended = trace(replace(plain, appended=(zero,)))
    np.testing.assert_allclose(appended.stage("N")[:, :, :-1], one.stage("N"), **CLOSE)
    np.testing.assert_allclose(appended.stage("output"), one.stage("output"), **CLOSE)


@given(SUMMING, seeds, st.integers(1, 4), st.integers(1, 6), st.floats(-3, 3))
def test_a_sink_is_a_key_of_that_score_which_gathers_nothing(
    normaliser: Normaliser, seed: int, n_q: int, n_k: int, sink: float
) -> None:
    e = given_qkv(seed, 1, 1, n_q, n_k, scoring=Scoring(normaliser=normaliser, sinks=(sink,)))
    assert isinstance(e.source, GivenQKV)
    # a key of zeros has the score that the bias of its column gives it
    K, V = (np.concatenate([rows, np.zeros((1, 1, 3))], axis=1) for rows in (e.source.K, e.source.V))
    column = np.zeros((n_q, n_k + 1))
    column[:, -1] = sink
    scoring = Scoring(normaliser=normaliser, biases=(Additive(column),))
    with_key = trace(Experiment.from_qkv(e.source.Q, K, V, scoring=scoring, precision=Precision.FLOAT64))
    np.testing.assert_allclose(trace(e).stage("N"), with_key.stage("N")[:, :, :-1], **CLOSE)
    np.testing.assert_allclose(trace(e).stage("output"), with_key.stage("output"), **CLOSE)


@given(seeds, st.integers(1, 6), st.integers(0, 300), st.sampled_from(["halves", "interleaved"]))
def test_moving_every_position_leaves_rotary_scores(seed: int, n: int, step: int, layout: str) -> None:
    random = np.random.RandomState(seed)
    X = random.standard_normal((n, 4))
    e = Experiment.from_tokens(
        [f"t{i}" for i in range(n)], X, scoring=Scoring(rotary=Frequencies(layout)), precision=Precision.FLOAT64
    )
    moved = replace(e, tokens=e.tokens.with_column("position", np.arange(step, step + n)))
    np.testing.assert_allclose(trace(moved).stage("A"), trace(e).stage("A"), rtol=0, atol=1e-10)


@given(seeds, st.floats(0.1, 9), st.floats(0.2, 5))
def test_a_temperature_divides_the_scale(seed: int, scale: float, temperature: float) -> None:
    hot = given_qkv(seed, 1, 1, 3, 4, scoring=Scoring(scale, temperature=temperature))
    plain = given_qkv(seed, 1, 1, 3, 4, scoring=Scoring(scale / temperature))
    assert np.array_equal(trace(hot).stage("N"), trace(plain).stage("N"))


@given(seeds, st.floats(1e-3, 1e3), st.floats(-20, 20))
def test_scores_of_unit_vectors_are_cosines(seed: int, size: float, scale: float) -> None:
    random = np.random.RandomState(seed)
    Q, K = (random.standard_normal((5, 3)) for _ in range(2))
    e = Experiment.from_qkv(size * Q, K, K, scoring=Scoring(scale, qk_norm=L2Norm(0.0)), precision=Precision.FLOAT64)
    cosines = Q @ K.T / np.linalg.norm(Q, axis=1)[:, np.newaxis] / np.linalg.norm(K, axis=1)
    np.testing.assert_allclose(trace(e).stage("A", 0), scale * cosines, rtol=0, atol=1e-13 * max(1, abs(scale)))
