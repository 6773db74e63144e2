from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.model.arranging import Axis
from attn_gui.views.bands import HIGHEST_ROW, LOWEST_ROW, TABLE_ROW, TALLEST_ROW, Bands


def bands(count: int, height: int) -> Bands:
    made = Bands()
    made.set_height(height)
    made.set_count(count)
    return made


def test_few_rows_are_tall_and_of_whole_pixels() -> None:
    few = bands(5, 451)
    assert few.aligned
    assert few.pitch == HIGHEST_ROW == few.row_height


def test_rows_grow_with_wide_cells_within_limits() -> None:
    few = bands(5, 800)
    few.set_cell_width(90)
    assert few.pitch == 90
    few.set_cell_width(10)
    assert few.pitch == HIGHEST_ROW
    few.set_cell_width(5000)
    assert few.pitch == TALLEST_ROW
    assert few.natural_height == 5 * TALLEST_ROW


def test_few_rows_too_many_for_the_height_are_scrolled_not_squeezed() -> None:
    few = bands(11, 75)
    assert few.aligned and few.pitch == LOWEST_ROW
    few.keep_in_sight(6)
    few.scroll(5)
    assert few.top == 5
    few.set_height(75 + 8)
    assert few.top == 5, "a little more height does not lose the place"
    few.set_height(11 * 40)
    assert few.visible[0] == 0


def test_the_selected_row_stays_in_sight_when_a_drawer_opens() -> None:
    few = bands(11, 11 * 40)
    few.keep_in_sight(9)
    assert few.top == 0
    few.set_height(100)
    first, last = few.visible
    assert first <= 9 and last >= 10
    few.keep_in_sight(0)
    assert few.top == 0


def test_many_rows_fill_the_height_exactly() -> None:
    many = bands(1000, 400)
    assert not many.aligned
    assert many.visible == (0.0, 1000.0)
    assert many.row_height == TABLE_ROW


@given(st.integers(1, 5000), st.integers(50, 3000), st.floats(0, 5000), st.floats(0.1, 5000))
def test_whatever_is_asked_for_rows_stay_in_range(count: int, height: int, top: float, rows: float) -> None:
    made = bands(count, height)
    made.show_rows(top, top + rows)
    first, last = made.visible
    assert 0 <= first < count
    assert last > first
    assert made.aligned == (made.pitch >= LOWEST_ROW)
    if made.aligned:
        assert made.pitch == int(made.pitch), "tables need whole pixels"
    assert first == 0 or last <= count + 1e-6, "no empty space below while there are rows above"


def test_what_was_fitted_stays_fitted_when_the_panel_grows() -> None:
    made = bands(100, 400)
    made.set_height(800)
    assert made.visible == (0.0, 100.0)
    made.show_rows(10, 20)
    assert not made.fitted
    made.set_height(1200)
    assert made.pitch == 80.0, "a zoomed row stays as tall"
    made.fit()
    assert made.visible == (0.0, 100.0)


def test_rows_that_stand_for_other_than_one_token_each() -> None:
    """Of eight tokens the first and the last are not drawn, and the others in rows of three, two and one."""
    axis = Axis(("a", "b", "c"), np.array([1, 4, 6]), np.array([4, 6, 7]), np.array([True, *[False] * 6, True], bool))
    made = bands(8, 300)
    assert made.aligned and made.tokens == made.visible
    told: list[None] = []
    made.changed.connect(lambda: told.append(None))
    made.set_count(3, axis)
    assert told and not made.aligned and made.pitch >= LOWEST_ROW
    assert made.row_height == TABLE_ROW
    assert made.tokens == (0, 8)  # what is not drawn belongs to the ends
    made.show_rows(1, 2)
    assert made.tokens == (4, 6)
    made.scroll_to_token(6)
    assert made.top > 1 and made.tokens[1] == 8
    made.keep_in_sight(2)
    assert made.top == 0
    made.keep_in_sight(7)
    assert made.top > 1
    made.set_count(8)
    assert made.tokens == made.visible
