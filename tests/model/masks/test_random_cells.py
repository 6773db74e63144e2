"""Random: drawn by place and seed alone, as often as it says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.model.errors import ExperimentError
from attn_gui.model.masks import Columns
from attn_gui.model.masks.random_cells import RandomCells
from tests.model.masks.checking import Setting, check_rule, drawn, settings_of_masks


def cells(rule: RandomCells, n: int, top: int = 0, left: int = 0) -> np.ndarray:
    i, j = np.arange(top, top + n)[:, np.newaxis], np.arange(left, left + n)[np.newaxis, :]
    return np.broadcast_to(rule.allowed(i, j, Columns(n, n)), (n, n))


@given(st.builds(RandomCells, st.floats(0, 1), st.integers(0, 2**31 - 1), st.booleans()), settings_of_masks())
def test_it_is_the_definition(rule: RandomCells, at: Setting) -> None:
    check_rule(rule, at)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("seed", [0, 1, 2, 12345, 2**31 - 1])
def test_as_many_cells_are_open_as_it_says(share: float, seed: int) -> None:
    drawn_cells = cells(RandomCells(share, seed, own_place=False), 400)
    spread = (share * (1 - share) / drawn_cells.size) ** 0.5
    assert abs(drawn_cells.mean() - share) <= 5 * spread
    # in every row and column too: 400 draws each
    for axis in (0, 1):
        assert np.abs(drawn_cells.mean(axis=axis) - share).max() <= 5 * (share * (1 - share) / 400) ** 0.5


def test_neighbours_are_independent() -> None:
    a = cells(RandomCells(0.5, 3, own_place=False), 600)
    for other in (a[1:, 1:] == a[:-1, :-1], a[1:] == a[:-1], a[:, 1:] == a[:, :-1], a == a.T):
        assert abs(other.mean() - 0.5) < 0.01


def test_a_seed_draws_the_same_and_another_seed_others() -> None:
    assert np.array_equal(cells(RandomCells(0.5, 7), 50), cells(RandomCells(0.5, 7), 50))
    same = (cells(RandomCells(0.5, 7, own_place=False), 300) == cells(RandomCells(0.5, 8, own_place=False), 300)).mean()
    assert abs(same - 0.5) < 0.02


def test_a_larger_share_keeps_the_cells_of_a_smaller_one() -> None:
    assert (cells(RandomCells(0.7, 5), 60) >= cells(RandomCells(0.2, 5), 60)).all()


def test_far_cells_do_not_overflow() -> None:
    share = cells(RandomCells(0.5, 0, own_place=False), 300, top=2**31 - 400, left=2**31 - 400).mean()
    assert abs(share - 0.5) < 0.02


def test_the_own_place_is_always_open() -> None:
    assert drawn(RandomCells(0.0), 3, 3) == "#.. .#. ..#"
    assert drawn(RandomCells(0.0), 2, 4, offset=2) == "..#. ...#"
    assert drawn(RandomCells(0.0, own_place=False), 2, 2) == ".. .."
    assert drawn(RandomCells(1.0, own_place=False), 2, 2) == "## ##"


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan"), "0.5"])
def test_a_share_is_from_0_to_1(share: object) -> None:
    with pytest.raises(ExperimentError, match="mask random share: expected a finite number from 0 to 1, received"):
        RandomCells(share)  # type: ignore[arg-type]
