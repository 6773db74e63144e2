"""Additive: a number for each cell, for all heads or for each."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.model.biases.additive import Additive
from attn_gui.model.errors import ExperimentError
from tests.model.biases.checking import check_libraries_agree, values

CELLS = np.arange(6.0).reshape(2, 3)


@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 3), st.booleans())
def test_it_is_what_was_given(n_q: int, n_k: int, heads: int, per_head: bool) -> None:
    shape = (heads, n_q, n_k) if per_head else (n_q, n_k)
    cells = np.random.RandomState(0).standard_normal(shape)
    assert np.array_equal(values(Additive(cells), n_q, n_k, heads=heads), np.broadcast_to(cells, (heads, n_q, n_k)))
    check_libraries_agree(Additive(cells), n_q, n_k, 0, heads)


def test_cells_follow_their_tokens_and_new_ones_are_0() -> None:
    moved = Additive(CELLS).rearranged([1, None], [2, 0, None])
    assert moved.cells.tolist() == [[5, 3, 0], [0, 0, 0]]
    by_head = Additive(np.stack([CELLS, -CELLS])).rearranged([0], [1])
    assert by_head.cells.tolist() == [[[1]], [[-1]]]


def test_it_must_fit_the_matrix() -> None:
    Additive(CELLS).check_fits(2, 3, 7)
    with pytest.raises(ExperimentError, match=r"cells: expected shape \(3, 3\) or \(2, 3, 3\), received \(2, 3\)"):
        Additive(CELLS).check_fits(3, 3, 2)


@pytest.mark.parametrize(("odd", "said"), [(np.nan, "nan"), (np.inf, "inf"), (-np.inf, "-inf")])
def test_numbers_that_are_not_finite_are_refused_with_their_cell(odd: float, said: str) -> None:
    cells = CELLS.copy()
    cells[1, 2] = odd
    with pytest.raises(ExperimentError, match=f"bias additive cell 2, 3: expected a finite number, received {said}"):
        Additive(cells)
