"""Sigmoid: each weight by itself."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.model.errors import ExperimentError
from attn_gui.model.normalisers.sigmoid import Sigmoid
from attn_gui.model.scoring import Scoring
from tests.model.normalisers.checking import Array, check_libraries_agree, jacobian, masked, scores, weights


@given(scores, st.floats(-5, 5))
def test_it_is_the_definition(row: Array, shift: float) -> None:
    expected = [1 / (1 + math.exp(-(a + shift))) for a in row]
    np.testing.assert_allclose(weights(Sigmoid(shift), [row])[0], expected, rtol=1e-13)


@given(masked(), st.floats(-5, 5))
def test_numpy_and_torch_agree(A: Array, shift: float) -> None:
    check_libraries_agree(Sigmoid(shift), A)


@given(scores)
def test_no_weight_depends_on_another_score(row: Array) -> None:
    p = weights(Sigmoid(-1.0), [row])[0]
    np.testing.assert_allclose(jacobian(Sigmoid(-1.0), row), np.diag(p * (1 - p)), atol=1e-8)


def test_large_scores_do_not_overflow() -> None:
    with np.errstate(all="raise", under="ignore"):
        assert weights(Sigmoid(), [[1e300, -1e300, 800.0, -800.0, -np.inf]]).tolist() == [[1, 0, 1, 0, 0]]


def test_sinks_have_no_part_in_it() -> None:
    assert not Sigmoid().sums_to_one
    with pytest.raises(ExperimentError, match="sinks: expected none with Sigmoid, received 2"):
        Scoring(normaliser=Sigmoid(), sinks=(0.0, 1.0))
