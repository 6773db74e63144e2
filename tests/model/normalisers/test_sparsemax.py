"""Sparsemax against closed forms, bisection and finite differences."""

from __future__ import annotations

import array_api_compat.torch as xt
import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from attn_gui.model.normalisers.sparsemax import Sparsemax
from tests.model.normalisers.checking import Array, check_libraries_agree, jacobian, masked, scores, weights
from tests.reference import weights_of


def sparsemax(*row: float) -> list[float]:
    return weights(Sparsemax(), [row])[0].tolist()


@given(st.floats(-20, 20), st.floats(-20, 20))
def test_of_two_scores(a: float, b: float) -> None:
    # half their difference each way from 1/2, up to all or nothing (Martins and Astudillo 2016, figure 1)
    first = min(max((1 + a - b) / 2, 0), 1)
    assert sparsemax(a, b) == pytest.approx([first, 1 - first], abs=1e-13)


def test_closed_forms() -> None:
    for n in (1, 2, 3, 7):
        assert sparsemax(*[4.25] * n) == pytest.approx([1 / n] * n, rel=1e-15)
    assert sparsemax(0.0, 1.0) == [0, 1]  # differences of 1 or more leave nothing
    assert sparsemax(3.0, 1.0, -2.0) == [1, 0, 0]
    # tau = (1.1 + 1.0 + 0.9 - 1) / 3 = 2/3, below all three; 0.1 is out
    assert sparsemax(1.1, 1.0, 0.9, 0.1) == pytest.approx([13 / 30, 1 / 3, 7 / 30, 0], rel=1e-14)
    # what lies in the simplex is left as it is
    assert sparsemax(0.5, 0.25, 0.125, 0.125) == pytest.approx([0.5, 0.25, 0.125, 0.125], rel=1e-15)


class Kind:
    """What :func:`tests.reference.weights_of` looks at."""

    sinks = None
    normaliser = Sparsemax()


@given(scores)
def test_against_bisection(row: Array) -> None:
    expected = weights_of(row, Kind, 0)  # type: ignore[arg-type]
    np.testing.assert_allclose(weights(Sparsemax(), [row])[0], expected, atol=1e-14)


@given(scores)
def test_it_is_the_nearest_point_of_the_simplex(row: Array) -> None:
    p = weights(Sparsemax(), [row])[0]
    assert p.sum() == pytest.approx(1, abs=1e-14)
    # no corner is in an acute direction from p: (z - p) . (corner - p) <= 0
    assert ((row - p) - (row - p) @ p).max() <= 1e-12


@given(masked())
def test_numpy_and_torch_agree(A: Array) -> None:
    check_libraries_agree(Sparsemax(), A)


@given(scores, st.integers(-1000, 1000))
def test_a_constant_changes_nothing(row: Array, constant: int) -> None:
    np.testing.assert_allclose(weights(Sparsemax(), [row + constant]), weights(Sparsemax(), [row]), atol=1e-12)


@given(scores)
def test_its_jacobian(row: Array) -> None:
    p = weights(Sparsemax(), [row])[0]
    support = p > 0
    tau = row.max() - p.max()
    assume(np.abs(row - tau).min() > 1e-4)  # on the edge of the support there is no derivative
    s = support.astype(float)
    np.testing.assert_allclose(jacobian(Sparsemax(), row), np.diag(s) - np.outer(s, s) / s.sum(), atol=1e-8)


@pytest.mark.parametrize("n", [2000, 20_000])
def test_many_weights_sum_to_one_in_float32(n: int) -> None:
    rows = np.full((3, n), -0.9, np.float32)
    rows[:, 0] = 0.0
    rows[1] += np.float32(3.0)
    rows[2] = np.random.RandomState(0).uniform(-1e-4, 1e-4, n)
    sums = Sparsemax().weights(torch.tensor(rows), xt).double().sum(dim=-1).numpy()
    assert np.abs(sums - 1).max() <= 2.0**-23 * (2 + np.log2(n))


@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_what_is_not_finite_shows(odd: float) -> None:
    A = torch.tensor([[odd, 1.0, -torch.inf], [0.0, 1.0, -torch.inf]])
    found = Sparsemax().weights(A, xt)
    assert found[0].isnan().all()
    assert found[1].tolist() == [0, 1, 0]
