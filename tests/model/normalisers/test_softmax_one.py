"""Softmax with an extra 1 in the denominator."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given

from attn_gui.model.normalisers.softmax import Softmax
from attn_gui.model.normalisers.softmax_one import SoftmaxOne
from tests.model.normalisers.checking import Array, check_libraries_agree, jacobian, masked, scores, weights


@given(scores)
def test_it_is_the_definition(row: Array) -> None:
    total = 1 + math.fsum(math.exp(a) for a in row)
    found = weights(SoftmaxOne(), [row])[0]
    np.testing.assert_allclose(found, [math.exp(a) / total for a in row], rtol=1e-13)
    np.testing.assert_allclose(found.sum(), 1 - 1 / total, rtol=1e-12)


@given(scores)
def test_it_is_a_softmax_with_a_key_of_score_0_that_gathers_nothing(row: Array) -> None:
    with_key = weights(Softmax(), [np.append(row, 0.0)])[0, :-1]
    np.testing.assert_allclose(weights(SoftmaxOne(), [row])[0], with_key, rtol=1e-13)


@given(masked())
def test_numpy_and_torch_agree(A: Array) -> None:
    check_libraries_agree(SoftmaxOne(), A)


@given(scores)
def test_its_jacobian(row: Array) -> None:
    p = weights(SoftmaxOne(), [row])[0]
    np.testing.assert_allclose(jacobian(SoftmaxOne(), row), np.diag(p) - np.outer(p, p), atol=1e-8)


def test_large_scores_do_not_overflow() -> None:
    found = weights(SoftmaxOne(), [[1e300, 0.0], [-1e300, -1e300], [-800.0, -1e300]])
    assert found.tolist() == [[1, 0], [0, 0], [0, 0]]


def test_a_constant_matters() -> None:
    assert not SoftmaxOne().sums_to_one
    found = weights(SoftmaxOne(), [[0.0], [3.0]])[:, 0].tolist()
    assert found == pytest.approx([0.5, math.exp(3) / (1 + math.exp(3))], rel=1e-15)
