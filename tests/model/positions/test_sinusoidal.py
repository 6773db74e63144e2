"""Sinusoidal positions against their definition."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.model.positions.sinusoidal import Sinusoidal


@given(st.lists(st.integers(0, 5000), min_size=1, max_size=4), st.integers(1, 9), st.sampled_from([10.0, 1e4, 1e6]))
def test_it_is_the_definition(positions: list[int], d: int, base: float) -> None:
    found = Sinusoidal(base).vectors(np.array(positions), d)
    assert found.shape == (len(positions), d)
    for row, p in zip(found, positions, strict=True):
        for k, value in enumerate(row):
            turn = math.sin if k % 2 == 0 else math.cos
            assert math.isclose(value, turn(p / base ** ((k - k % 2) / d)), abs_tol=1e-11)


def test_the_published_beginning() -> None:
    found = Sinusoidal().vectors(np.arange(2), 4)
    expected = [[0, 1, 0, 1], [math.sin(1), math.cos(1), math.sin(0.01), math.cos(0.01)]]
    np.testing.assert_allclose(found, expected, rtol=1e-15)


@given(st.integers(0, 100), st.integers(0, 100), st.integers(0, 50), st.sampled_from([2, 4, 8]))
def test_dot_products_depend_on_distance_alone(p: int, q: int, step: int, d: int) -> None:
    vectors = Sinusoidal().vectors(np.array([p, q, p + step, q + step]), d)
    assert math.isclose(vectors[0] @ vectors[1], vectors[2] @ vectors[3], abs_tol=1e-11)
