"""Learned positions: a row of a table for each position."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attn_gui.model.errors import ExperimentError
from attn_gui.model.positions import InputPosition
from attn_gui.model.positions.learned import Learned

TABLE = np.arange(6.0).reshape(3, 2)


def test_each_position_has_its_row() -> None:
    assert Learned(TABLE).vectors(np.array([2, 0, 2]), 2).tolist() == [[4, 5], [0, 1], [4, 5]]


def test_nothing_is_added_where_there_is_no_position() -> None:
    assert InputPosition().vectors(np.array([2, 0]), 3).tolist() == [[0, 0, 0]] * 2


def test_it_can_reach_farther_with_zeros() -> None:
    learned = Learned(TABLE)
    assert learned.reaching(2) is learned
    assert learned.reaching(4).table.tolist() == [[0, 1], [2, 3], [4, 5], [0, 0], [0, 0]]


def test_columns_follow_the_dimensions() -> None:
    assert Learned(TABLE).rearranged([1, None, 0]).table.tolist() == [[1, 0, 0], [3, 0, 2], [5, 0, 4]]


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (
            lambda: Learned(TABLE).check_fits(np.array([0, 3]), 2),
            "position learned table: expected a row for position 3, received 3 rows",
        ),
        (
            lambda: Learned(TABLE).check_fits(np.array([0]), 4),
            "position learned table: expected 4 columns, as the embeddings have, received 2",
        ),
        (
            lambda: Learned(TABLE[0]),
            "position learned table: expected an array of 2 axes, not empty, received shape (2,)",
        ),
    ],
)
def test_what_does_not_fit_is_refused_in_words(check: Any, words: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        check()
    assert str(caught.value) == words
