"""Arrays of rectangles against a dense array: what they cover, and what they come to in few."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.model import rectangles
from attn_gui.model.rectangles import NOTHING, Edges, covered, edges_of_cells, fewest, grid_of

SIZE = 9
sides = st.tuples(st.integers(0, SIZE), st.integers(0, SIZE)).map(sorted)
some = st.lists(st.tuples(sides, sides, st.integers(0, 1)), max_size=30).map(
    lambda made: np.array([(*rows, *columns, a) for rows, columns, a in made], np.int64).reshape(-1, 5)
)
cells = st.lists(st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1)), max_size=40)


def dense(edges: Edges) -> np.ndarray:
    found = np.full((SIZE, SIZE), NOTHING)
    for top, bottom, left, right, allowed in edges:
        for i in range(top, bottom):
            for j in range(left, right):
                found[i, j] = allowed
    return found


@given(some)
def test_few_cover_the_same_cells_and_do_not_overlap(edges: Edges) -> None:
    few = fewest(edges)
    np.testing.assert_array_equal(grid_of(edges, (SIZE, SIZE)), dense(edges))
    np.testing.assert_array_equal(dense(few), dense(edges))
    assert len(few) <= len(edges)
    if few is not edges:
        assert ((few[:, 1] - few[:, 0]) * (few[:, 3] - few[:, 2])).sum() == (dense(edges) != NOTHING).sum()


@given(cells, st.booleans())
def test_cells_become_rectangles_that_do_not_overlap(where: list[tuple[int, int]], allowed: bool) -> None:
    edges = edges_of_cells(np.array(where, np.int64).reshape(-1, 2), allowed)
    expected = np.full((SIZE, SIZE), NOTHING)
    for i, j in where:
        expected[i, j] = allowed
    np.testing.assert_array_equal(dense(edges), expected)
    assert ((edges[:, 1] - edges[:, 0]) * (edges[:, 3] - edges[:, 2])).sum() == len(set(where))


@given(some, some)
def test_what_lies_wholly_under_others(old: Edges, new: Edges) -> None:
    over = dense(new) != NOTHING
    for edges, under in zip(old, covered(old, new), strict=True):
        top, bottom, left, right, _ = edges
        if top < bottom and left < right:
            assert under == over[top:bottom, left:right].all()


def test_far_apart_nothing_is_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    edges = np.array([[i, i + 1, i, i + 1, 1] for i in (0, 0, 5, 5, 9)], np.int64)
    everything = np.array([[0, 10, 0, 10, 1]], np.int64)
    assert len(fewest(edges)) == 3
    assert covered(edges, everything).all()
    monkeypatch.setattr(rectangles, "MOST_CELLS", 24)
    assert fewest(edges) is edges
    monkeypatch.undo()
    monkeypatch.setattr(rectangles, "MOST_PAINTED", 4)
    assert fewest(edges) is edges
    monkeypatch.setattr(rectangles, "MOST_AROUND", 99)
    assert not covered(edges, everything).any()
