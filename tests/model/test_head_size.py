"""d_k and d_v: what stays, what is new, and that growing changes no product."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attn_gui.compute.trace import trace
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.head_size import with_head_size
from attn_gui.model.initialise import initial_weights
from attn_gui.model.precision import Precision
from attn_gui.model.qk_norm.rms_norm import RMSNorm
from attn_gui.model.rotary.frequencies import Frequencies
from attn_gui.model.scoring import Scoring
from attn_gui.model.sources import AppendedKey
from attn_gui.model.table import Table
from attn_gui.model.weights import Weights


def experiment(heads: int, kv_heads: int, d_k: int, d_v: int, biases: bool, seed: int = 0) -> Experiment:
    random = np.random.RandomState(seed)
    d_model = 6
    weights = initial_weights(
        "linear", d_model, d_model, heads, seed=seed, kv_heads=kv_heads, d_k=d_k, d_v=d_v, biases=biases
    )
    X = random.standard_normal((4, d_model))
    return Experiment.from_tokens("abcd", X, weights, heads=heads, kv_heads=kv_heads, precision=Precision.FLOAT64)


def tables(e: Experiment) -> Weights:
    assert e.weights is not None
    return e.weights


shapes = st.tuples(
    st.sampled_from([(1, 1), (2, 1), (4, 2), (3, 3)]), st.integers(1, 4), st.integers(1, 4), st.booleans()
)


@given(shapes, st.integers(1, 6), st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_every_head_keeps_the_numbers_that_have_a_place(shape: tuple, d_k: int, d_v: int) -> None:
    (heads, kv_heads), old_k, old_v, biases = shape
    before = experiment(heads, kv_heads, old_k, old_v, biases)
    after = with_head_size(before, d_k, d_v)
    assert (after.d_k, after.d_v) == (d_k, d_v)
    old, new = tables(before), tables(after)
    counts = {"W_Q": (heads, old_k, d_k), "W_K": (kv_heads, old_k, d_k), "W_V": (kv_heads, old_v, d_v)}
    for name, (count, was, now) in counts.items():
        a, b = old.get(name), new.get(name)
        assert a is not None
        assert b is not None
        assert b.shape == (6, count * now)
        for head in range(count):
            for column in range(now):
                got = b.array()[:, head * now + column]
                want = a.array()[:, head * was + column] if column < was else np.zeros(6)
                assert np.array_equal(got, want)
    assert old.W_O is not None
    assert new.W_O is not None
    for head in range(heads):
        for row in range(d_v):
            want = old.W_O.array()[head * old_v + row] if row < old_v else np.zeros(6)
            assert np.array_equal(new.W_O.array()[head * d_v + row], want)
    assert new.has_biases == biases
    if biases:
        assert new.b_O is old.b_O
        assert new.b_V is not None
        assert new.b_V.shape == (1, kv_heads * d_v)


def test_growing_changes_no_product_and_no_output() -> None:
    before = experiment(4, 2, 3, 2, True)
    after = with_head_size(before, 5, 4)
    a, b = trace(before), trace(after)
    np.testing.assert_allclose(b.stage("raw"), a.stage("raw"), rtol=1e-14)
    np.testing.assert_allclose(b.stage("scaled"), a.stage("raw") / np.sqrt(5), rtol=1e-14)
    widened = with_head_size(before, d_v=4)
    np.testing.assert_allclose(trace(widened).stage("output"), a.stage("output"), rtol=1e-13)


def test_what_stays_is_shared_and_not_copied() -> None:
    before = experiment(2, 2, 3, 3, True)
    after = with_head_size(before, d_k=4)
    assert tables(after).W_V is tables(before).W_V
    assert tables(after).W_O is tables(before).W_O
    assert tables(after).b_V is tables(before).b_V


@pytest.mark.parametrize("size", [0, -1, 5000])
def test_a_size_out_of_bounds_is_refused_by_its_name(size: int) -> None:
    with pytest.raises(ExperimentError, match=f"d_k: expected 1 to 4096, received {size}"):
        with_head_size(experiment(1, 1, 2, 2, False), d_k=size)


def test_given_q_k_v_have_no_matrices_to_change() -> None:
    given_qkv = Experiment.from_qkv(np.ones((3, 2)), np.ones((3, 2)), np.ones((3, 2)))
    with pytest.raises(ExperimentError, match="given Q, K and V"):
        with_head_size(given_qkv, d_k=3)


def test_appended_keys_and_gains_follow() -> None:
    key = AppendedKey("bias", Table.of([[1.0, 2, 3, 4, 5, 6]]), Table.of([[1.0, 2, 3, 4]]))
    norm = RMSNorm(gain_q=np.array([2.0, 3, 4]))
    before = replace(experiment(4, 2, 3, 2, True), appended=(key,), scoring=Scoring(qk_norm=norm))
    after = with_head_size(before, 4, 1)
    assert after.appended[0].K.array().tolist() == [[1, 2, 3, 0, 4, 5, 6, 0]]
    assert after.appended[0].V.array().tolist() == [[1, 3]]
    grown = after.scoring.qk_norm
    assert grown is not None
    assert grown.gain_q is not None
    assert (grown.gain_q.tolist(), grown.gain_k) == ([2, 3, 4, 1], None)
    shrunk = with_head_size(before, 2).scoring.qk_norm
    assert shrunk is not None
    assert shrunk.gain_q is not None
    assert shrunk.gain_q.tolist() == [2, 3]


def test_heads_that_rotary_positions_cannot_turn_are_refused_in_words() -> None:
    before = replace(experiment(1, 1, 4, 2, False), scoring=Scoring(rotary=Frequencies()))
    assert with_head_size(before, 6).d_k == 6
    with pytest.raises(ExperimentError, match="an even number of the 3 dimensions of a head"):
        with_head_size(before, 3)
