"""Attention rollout against a case done by hand and against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attn_gui.compute.head_scores import Rollout, rollout
from attn_gui.compute.trace import trace
from attn_gui.model.errors import TooLarge
from attn_gui.model.experiment import Experiment
from attn_gui.model.table import Floats
from tests import reference_scores


def rolled_out(layers: list[np.ndarray]) -> Floats:
    made = Rollout(layers[0].shape[1])
    for N in layers:
        for part in made.add(trace(Experiment.from_weights(N))):
            assert 0 < part <= 1
    return made.values


def test_a_case_done_by_hand() -> None:
    # layer 1: half of each row stays where it is, half goes as the mean of the two heads
    first = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]])  # mean [[.5, .5], [0, 1]]
    second = np.array([[[1.0, 0.0], [1.0, 0.0]]])
    # Â₁ = [[.75, .25], [0, 1]], Â₂ = [[1, 0], [.5, .5]]
    np.testing.assert_allclose(rolled_out([first, second]), [[0.75, 0.25], [0.375, 0.625]], rtol=1e-12)


def test_a_query_that_attends_to_nothing_keeps_what_it_has() -> None:
    np.testing.assert_array_equal(rolled_out([np.zeros((1, 2, 2))]), np.eye(2))


@settings(max_examples=25)
@given(st.integers(1, 6), st.integers(1, 4), st.integers(1, 3), st.integers(0, 1000))
def test_against_plain_loops(n: int, layers: int, heads: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    weights = [random.random((heads, n, n)) for _ in range(layers)]
    found = rolled_out(weights)
    np.testing.assert_allclose(found, reference_scores.rollout(weights), rtol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)


def test_in_blocks_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollout, "STEP", 2 * 49)  # two rows at a time, of 7
    N = np.random.default_rng(0).random((2, 7, 7))
    np.testing.assert_allclose(rolled_out([N, N]), reference_scores.rollout([N, N]), rtol=1e-12)


def test_what_would_not_fit_is_refused() -> None:
    with pytest.raises(TooLarge, match="rollout over 10000000 tokens"):
        Rollout(10_000_000)
