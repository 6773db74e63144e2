"""Cells painted by hand against a dense array, under random strokes and moved tokens."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.model.painted import Painted, Rectangle

SIZE = 8
cells = st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1))
scattered = st.lists(cells, max_size=12)


@st.composite
def boxes(draw: st.DrawFn) -> list[tuple[int, int]]:
    (top, left), (bottom, right) = draw(cells), draw(cells)
    rows, columns = sorted((top, bottom)), sorted((left, right))
    return [(i, j) for i in range(rows[0], rows[1] + 1) for j in range(columns[0], columns[1] + 1)]


strokes = st.lists(st.tuples(st.one_of(scattered, boxes()), st.booleans()), max_size=8)


def drawn(made: list[tuple[list[tuple[int, int]], bool]]) -> tuple[Painted, np.ndarray]:
    """The strokes as Painted and as a dense array: 1 allowed, 0 not, -1 left alone."""
    painted, dense = Painted(), np.full((SIZE, SIZE), -1)
    for where, allowed in made:
        painted = painted.with_cells(where, allowed)
        for i, j in where:
            dense[i, j] = allowed
    return painted, dense


def shown(painted: Painted, under: bool) -> np.ndarray:
    block = np.full((SIZE, SIZE), under)
    painted.apply(block, 0, 0)
    return block


@given(strokes)
def test_strokes_lie_one_on_another(made: list) -> None:
    painted, dense = drawn(made)
    for under in (False, True):
        assert np.array_equal(shown(painted, under), np.where(dense < 0, under, dense == 1))
    meaning = {-1: None, 0: False, 1: True}
    assert [[painted.at(i, j) for j in range(SIZE)] for i in range(SIZE)] == [
        [meaning[v] for v in row] for row in dense
    ]
    assert bool(painted) == bool((dense >= 0).any())


@given(strokes, cells, st.integers(1, SIZE), st.integers(1, SIZE))
def test_a_window_is_painted_as_the_whole(made: list, corner: tuple[int, int], height: int, width: int) -> None:
    painted, _ = drawn(made)
    top, left = corner
    height, width = min(height, SIZE - top), min(width, SIZE - left)
    block = torch.zeros(height, width, dtype=torch.bool)
    painted.apply(block, top, left)
    assert np.array_equal(block.numpy(), shown(painted, False)[top : top + height, left : left + width])


@given(strokes, cells)
def test_no_cell_painted_as_allowed_lies_outside_the_range(made: list, rows: tuple[int, int]) -> None:
    painted, dense = drawn(made)
    first, last = sorted(rows)
    given_keys = painted.key_range(first, last)
    allowed = np.argwhere(dense[first : last + 1] == 1)[:, 1]
    if given_keys is None:
        assert not allowed.size
    else:
        assert all(given_keys[0] <= j < given_keys[1] for j in allowed)


@given(strokes, st.permutations(range(SIZE)), st.permutations(range(SIZE)), st.integers(0, 3), st.integers(0, 3))
def test_cells_follow_their_tokens(made: list, queries: list[int], keys: list[int], fewer_q: int, fewer_k: int) -> None:
    """Tokens are reordered, and those that would come last are deleted."""
    painted, dense = drawn(made)
    n_q, n_k = SIZE - fewer_q, SIZE - fewer_k
    places_q = [place if place < n_q else None for place in queries]
    places_k = [place if place < n_k else None for place in keys]
    moved = painted.rearranged(places_q, places_k)
    expected = np.full((n_q, n_k), -1)
    for i, now_i in enumerate(places_q):
        for j, now_j in enumerate(places_k):
            if now_i is not None and now_j is not None:
                expected[now_i, now_j] = dense[i, j]
    for under in (False, True):
        block = np.full((n_q, n_k), under)
        moved.apply(block, 0, 0)
        assert np.array_equal(block, np.where(expected < 0, under, expected == 1))


def test_a_box_is_one_rectangle_however_it_was_dragged() -> None:
    box = [(i, j) for j in range(3, 6) for i in range(2, 9)]
    assert Painted().with_cells(box, False).rectangles == (Rectangle(2, 9, 3, 6, False),)
    assert Painted().with_cells(box + box, True).rectangles == (Rectangle(2, 9, 3, 6, True),)


def test_what_is_covered_is_forgotten() -> None:
    painted = Painted()
    for k in range(100):
        painted = painted.with_cells([(1, 1)], k % 2 == 0)
    assert painted.rectangles == (Rectangle(1, 2, 1, 2, False),)


def test_many_scattered_cells() -> None:
    board = [(i, j) for i in range(150) for j in range(150) if (i + j) % 2]
    assert len(Painted().with_cells(board, False).rectangles) == len(board)
