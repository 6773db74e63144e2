"""How much of token j reaches position i, against differences of the numpy reference."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attn_gui.compute.tours.influence import influence, refusal
from attn_gui.files import examples
from attn_gui.model.biases.alibi import ALiBi
from attn_gui.model.cache import with_past
from attn_gui.model.experiment import Experiment
from attn_gui.model.initialise import initial_weights
from attn_gui.model.instruments import Influence
from attn_gui.model.masks import Causal
from attn_gui.model.masks.sliding_window import SlidingWindow
from attn_gui.model.normalisers.sigmoid import Sigmoid
from attn_gui.model.positions.sinusoidal import Sinusoidal
from attn_gui.model.rotary.frequencies import Frequencies
from attn_gui.model.scoring import Scoring
from tests.tour_claims import shares


def measured(e: Experiment) -> Influence:
    steps = influence(e)
    parts = []
    while True:
        try:
            parts.append(next(steps))
        except StopIteration as finished:
            assert parts == sorted(parts) and parts[-1] == 1
            result: Influence = finished.value
            return result


def made(seed: int, n: int, heads: int, **fields: Any) -> Experiment:
    X = np.random.RandomState(seed).standard_normal((n, 4)).round(2)
    weights = initial_weights("normal", 4, 4, heads, multi_head=True, seed=seed)
    return Experiment.from_tokens([f"t{i}" for i in range(n)], X, weights, heads=heads, **fields)


def check(e: Experiment) -> None:
    expected, got = shares(e), measured(e)
    np.testing.assert_allclose(got.attention, expected["attention"], atol=1e-5)
    np.testing.assert_allclose(got.recurrent, expected["recurrent"], atol=1e-5)


@settings(max_examples=6)
@given(st.integers(0, 99), st.integers(1, 4), st.sampled_from([1, 2]), st.booleans())
def test_any_self_attention(seed: int, n: int, heads: int, causal: bool) -> None:
    check(made(seed, n, heads, rule=Causal()) if causal else made(seed, n, heads))


@pytest.mark.parametrize(
    "scoring",
    [
        Scoring(biases=(ALiBi(),), softcap=2.0),
        Scoring(position=Sinusoidal(), rotary=Frequencies()),
        Scoring(sinks=(0.5, -1.0)),
        Scoring(normaliser=Sigmoid()),
    ],
)
def test_any_scoring(scoring: Scoring) -> None:
    check(made(3, 3, 2, rule=SlidingWindow(1), scoring=scoring))


def test_a_state_hands_on_less_with_each_step_and_attention_need_not() -> None:
    e = replace(examples.load("cat_one_head").experiment, rule=Causal())
    got = measured(e)
    was, cat, mouse = (e.tokens.tokens.index(word) for word in ("was", "cat", "mouse"))
    assert (np.diff(got.recurrent[was, : was + 1]) > 0).all()
    assert got.attention[was, cat] > got.attention[was, mouse]
    np.testing.assert_allclose(got.recurrent[~np.tri(8, dtype=bool)], 0)


def test_what_has_no_such_derivatives_says_why() -> None:
    karina = examples.load("karina").experiment
    assert refusal(karina) is None
    assert "given" in (refusal(Experiment.from_qkv(np.eye(2), np.eye(2), np.eye(2))) or "")
    assert "self-attention" in (refusal(examples.load("translation").experiment) or "")
    assert "cache" in (refusal(with_past(karina, 2)) or "")
    assert "short" in (refusal(examples.load("random_5x512").experiment) or "")
