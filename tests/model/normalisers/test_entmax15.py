"""Entmax with alpha 1.5 against closed forms, bisection and finite differences."""

from __future__ import annotations

import math

import array_api_compat.torch as xt
import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from attn_gui.model.normalisers.entmax15 import Entmax15
from tests.model.normalisers.checking import Array, check_libraries_agree, jacobian, masked, scores, weights
from tests.reference import weights_of


def entmax(*row: float) -> list[float]:
    return weights(Entmax15(), [row])[0].tolist()


@given(st.floats(-20, 20), st.floats(-20, 20))
def test_of_two_scores(a: float, b: float) -> None:
    # (x + d/4)**2 + (x - d/4)**2 = 1 for x, the mean of the halved scores less tau; from a difference of 2 on it is
    # all or nothing
    d = a - b
    first = float(d > 0) if abs(d) >= 2 else 0.5 + d * math.sqrt(8 - d * d) / 8
    assert entmax(a, b) == pytest.approx([first, 1 - first], abs=1e-7 if abs(abs(d) - 2) < 1e-6 else 1e-12)


def test_closed_forms() -> None:
    for n in (1, 2, 3, 7):
        assert entmax(*[4.25] * n) == pytest.approx([1 / n] * n, rel=1e-14)
    assert entmax(0.0, 2.0) == pytest.approx([0, 1], abs=1e-15)
    assert entmax(5.0, 1.0, -2.0) == [1, 0, 0]
    # with tau = -1/3: (2/3)**2 twice and (1/3)**2, from scores 2/3, 2/3 and 0
    assert entmax(2 / 3, 2 / 3, 0.0, -2.0) == pytest.approx([4 / 9, 4 / 9, 1 / 9, 0], abs=1e-14)


class Kind:
    """What :func:`tests.reference.weights_of` looks at."""

    sinks = None
    normaliser = Entmax15()


@given(scores)
def test_against_bisection(row: Array) -> None:
    expected = weights_of(row, Kind, 0)  # type: ignore[arg-type]
    np.testing.assert_allclose(weights(Entmax15(), [row])[0], expected, atol=1e-13)


@given(scores)
def test_it_sums_to_one_with_one_threshold(row: Array) -> None:
    p = weights(Entmax15(), [row])[0]
    assert p.sum() == pytest.approx(1, abs=1e-13)
    thresholds = row / 2 - np.sqrt(p)
    tau = thresholds[p > 0].mean()
    assert thresholds[p > 0] == pytest.approx(tau, abs=1e-7)
    assert (row[p == 0] / 2 <= tau + 1e-7).all()


@given(masked())
def test_numpy_and_torch_agree(A: Array) -> None:
    check_libraries_agree(Entmax15(), A)


@given(scores, st.integers(-1000, 1000))
def test_a_constant_changes_nothing(row: Array, constant: int) -> None:
    np.testing.assert_allclose(weights(Entmax15(), [row + constant]), weights(Entmax15(), [row]), atol=1e-12)


@given(scores)
def test_its_jacobian(row: Array) -> None:
    p = weights(Entmax15(), [row])[0]
    tau = row.max() / 2 - math.sqrt(p.max())
    assume(np.abs(row / 2 - tau).min() > 1e-4)  # on the edge of the support the second derivative jumps
    s = np.sqrt(p)  # p**(2 - alpha) (Peters et al. 2019, proposition 2)
    np.testing.assert_allclose(jacobian(Entmax15(), row), np.diag(s) - np.outer(s, s) / s.sum(), atol=1e-7)


@pytest.mark.parametrize("n", [2000, 20_000])
def test_many_weights_sum_to_one_in_float32(n: int) -> None:
    rows = np.full((4, n), -1.8, np.float32)
    rows[:, 0] = 0.0
    rows[1] += np.float32(3.0)
    rows[2] = np.random.RandomState(0).uniform(-1e-4, 1e-4, n)
    rows[3] = np.random.RandomState(1).standard_normal(n)
    sums = Entmax15().weights(torch.tensor(rows), xt).double().sum(dim=-1).numpy()
    assert np.abs(sums - 1).max() <= 2.0**-23 * (2 + np.log2(n))


@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_what_is_not_finite_shows(odd: float) -> None:
    A = torch.tensor([[odd, 1.0, -torch.inf], [0.0, 2.0, -torch.inf]])
    found = Entmax15().weights(A, xt)
    assert found[0].isnan().all()
    assert found[1].tolist() == pytest.approx([0, 1, 0], abs=1e-7)
