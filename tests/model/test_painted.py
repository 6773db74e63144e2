"""Cells painted by hand against a dense array, under random strokes and moved tokens."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attn_gui.model import painted as painted_module
from attn_gui.model.errors import ExperimentError
from attn_gui.model.painted import MAX_RECTANGLES, Painted, Rectangle

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


@given(strokes, cells, st.integers(1, 4))
def test_rows_with_a_step_are_painted_as_those_of_the_whole(made: list, corner: tuple[int, int], step: int) -> None:
    painted, _ = drawn(made)
    top, left = corner
    rows = range(top, SIZE, step)
    block = torch.zeros(len(rows), SIZE - left, dtype=torch.bool)
    painted.apply(block, top, left, step)
    assert np.array_equal(block.numpy(), shown(painted, False)[top::step, left:])
    assert painted.touches(top, SIZE - 1) == any(r.bottom > top for r in painted.rectangles)


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


SIDE = 12


def many(seed: int, scale: int, down: int, across: int) -> Painted:
    """Rectangles one over another, of any size, on a matrix that may be far larger than what is painted."""
    random = np.random.RandomState(seed)
    sides = np.sort(random.randint(0, SIDE + 1, (painted_module.FEW + 50, 2, 2)))
    sides = scale * sides + np.array([[down], [across]])
    flags = random.randint(0, 2, len(sides)).astype(bool).tolist()
    rows = sides.reshape(-1, 4).tolist()
    return Painted(tuple(Rectangle(*row, flag) for row, flag in zip(rows, flags, strict=True)))


@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 1000]), st.integers(0, 5), st.integers(0, 10**6))
@settings(max_examples=50, deadline=None)
def test_many_are_put_together_and_mean_the_same(seed: int, scale: int, down: int, across: int) -> None:
    """Cell by cell, what is painted and what is left to the rule."""
    painted = many(seed, scale, down, across)
    few = painted.in_few
    assert len(few.rectangles) <= SIDE * SIDE
    tops, bottoms, lefts, rights, _ = zip(*painted.rectangles, strict=True)
    for i in sorted({*tops, *bottoms}):
        for j in sorted({*lefts, *rights}):
            assert few.at(i, j) is painted.at(i, j)
    corner = min(tops), min(lefts)
    height, width = min(max(bottoms) - corner[0], 40), min(max(rights) - corner[1], 40)
    for under in (False, True):
        blocks = np.full((2, height, width), under)
        painted.apply(blocks[0], *corner)
        few.apply(blocks[1], *corner)
        assert np.array_equal(*blocks)
    assert few.in_few is few
    # those that do not overlap lie in any order
    shuffled = Painted(few.rectangles[::-1])
    assert [shuffled.at(i, j) for i in tops for j in lefts[:9]] == [few.at(i, j) for i in tops for j in lefts[:9]]


@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.booleans())
@settings(max_examples=25, deadline=None)
def test_many_strokes_on_one_matrix(seed: int, step: int, under: bool) -> None:
    """Cells painted as allowed and as not, over a rule that masks and one that does not, torch and numpy alike."""
    random = np.random.RandomState(seed)
    painted, dense = Painted(), np.full((64, 64), -1)
    for _ in range(12):
        where = random.randint(0, 64, (random.randint(1, 300), 2))
        allowed = bool(random.randint(2))
        painted = painted.with_cells([(i, j) for i, j in where.tolist()], allowed)
        dense[where[:, 0], where[:, 1]] = allowed
    expected = np.where(dense < 0, under, dense == 1)
    block = np.full((2, 64, 64), under)
    painted.apply(block, 0, 0)
    assert np.array_equal(block, [expected, expected])
    rows = range(5, 64, step)
    part = torch.full((len(rows), 40), under)
    painted.apply(part, 5, 11, step)
    assert np.array_equal(part.numpy(), expected[5::step, 11:51])
    assert len(painted.rectangles) <= 64 * 64


def test_a_list_does_not_grow_with_the_strokes() -> None:
    random = np.random.RandomState(0)
    painted = Painted()
    for stroke in range(120):
        i, j = random.randint(0, 32, (2, 60)).tolist()
        painted = painted.with_cells(zip(i, j, strict=True), stroke % 2 == 0)
    in_few = Painted(painted.rectangles).in_few
    assert len(painted.rectangles) < 2 * len(in_few.rectangles) < 32 * 32 * 2


def test_what_is_painted_over_leaves_nothing() -> None:
    painted = Painted()
    board = [(i, j) for i in range(40) for j in range(40) if (i + j) % 2]
    painted = painted.with_cells(board, False)
    assert len(painted.rectangles) == len(board)
    everything = [(i, j) for i in range(40) for j in range(40)]
    assert painted.with_cells(everything, True).rectangles == (Rectangle(0, 40, 0, 40, True),)


def test_rectangles_too_far_apart_to_be_put_together_stay() -> None:
    at = np.random.RandomState(0).permutation(10**6)[:6000].reshape(2, -1).tolist()
    painted = Painted(tuple(Rectangle(i, i + 1, j, j + 1, True) for i, j in zip(*at, strict=True)))
    assert painted.in_few.rectangles is painted.rectangles
    again = painted.with_cells([(10**6 + 1, 0)], False)
    assert again.rectangles == (*painted.rectangles, Rectangle(10**6 + 1, 10**6 + 2, 0, 1, False))


@pytest.mark.parametrize(
    "odd",
    [
        Rectangle(1, 0, 0, 1, False),
        Rectangle(0, 1, 2, 1, False),
        Rectangle(-1, 1, 0, 1, False),
        Rectangle(0, 1, -1, 1, False),
        Rectangle(0, 2**63, 0, 1, False),
        Rectangle(0, 1.0, 0, 1, False),  # type: ignore[arg-type]
        Rectangle(0, True, 0, 1, False),
        Rectangle(0, 1, 0, np.int64(1), False),
        Rectangle(0, 1, 0, 1, 1),  # type: ignore[arg-type]
        (0, 1, 0, 1, True),
        (0, 1),
        None,
    ],
)
def test_what_is_no_rectangle_is_refused_by_its_place(odd: Any) -> None:
    good = Rectangle(0, 0, 5, 5, True)
    with pytest.raises(ExperimentError) as caught:
        Painted((good, odd, good))
    assert caught.value.field == "painted rectangle 2"
    assert "0 <= top <= bottom and 0 <= left <= right" in caught.value.expected


def test_cells_that_are_not_there_are_refused() -> None:
    for cell in ((-1, 0), (0, -1)):
        with pytest.raises(ExperimentError, match="painted rectangle 1"):
            Painted().with_cells([cell], True)


def test_as_many_as_there_may_be() -> None:
    most = tuple(Rectangle(i, i + 1, i, i + 1, True) for i in range(MAX_RECTANGLES))
    assert Painted(most).at(MAX_RECTANGLES - 1, MAX_RECTANGLES - 1) is True
    with pytest.raises(ExperimentError, match="at most 100,000 rectangles, received 100,001"):
        Painted((*most, most[0]))


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


@given(strokes, cells, cells, st.booleans(), st.booleans())
def test_what_the_rule_says_anyway_needs_no_paint(
    made: list, one: tuple[int, int], other: tuple[int, int], allowed: bool, causal: bool
) -> None:
    painted, dense = drawn(made)
    rule = np.tril(np.ones((SIZE, SIZE), bool)) if causal else np.ones((SIZE, SIZE), bool)
    places = {one, other}
    plain = painted.with_cells(places, allowed)
    spared = painted.with_cells(places, allowed, lambda i, j: rule[i, j] == allowed)
    for each in (plain, spared):
        block = rule.copy()
        each.apply(block, 0, 0)
        expected = np.where(dense < 0, rule, dense == 1)
        for place in places:
            expected[place] = allowed
        assert np.array_equal(block, expected)
    if not made:
        assert bool(spared) == any(rule[place] != allowed for place in places)
