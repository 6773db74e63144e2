"""Softmax."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.model.normalisers.softmax import Softmax
from tests.model.normalisers.checking import Array, check_libraries_agree, jacobian, masked, scores, weights


@given(scores)
def test_it_is_the_definition(row: Array) -> None:
    total = math.fsum(math.exp(a) for a in row)
    np.testing.assert_allclose(weights(Softmax(), [row])[0], [math.exp(a) / total for a in row], rtol=1e-13)


@given(masked())
def test_numpy_and_torch_agree(A: Array) -> None:
    check_libraries_agree(Softmax(), A)
    np.testing.assert_allclose(weights(Softmax(), A).sum(axis=-1), 1, rtol=1e-14)


@given(scores, st.floats(-500, 500))
def test_a_constant_changes_nothing(row: Array, constant: float) -> None:
    np.testing.assert_allclose(weights(Softmax(), [row + constant]), weights(Softmax(), [row]), rtol=1e-11)


@given(scores)
def test_its_jacobian(row: Array) -> None:
    p = weights(Softmax(), [row])[0]
    np.testing.assert_allclose(jacobian(Softmax(), row), np.diag(p) - np.outer(p, p), atol=1e-8)


def test_large_scores_do_not_overflow() -> None:
    assert weights(Softmax(), [[1e300, 0.0], [-1e300, -1e300]]).tolist() == [[1, 0], [0.5, 0.5]]
