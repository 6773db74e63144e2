"""Dilated window: keys so far apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.model.errors import ExperimentError
from attn_gui.model.masks import Columns, SlidingWindow
from attn_gui.model.masks.dilated import Dilated
from tests.model.masks.checking import Setting, check_rule, drawn, settings_of_masks


@given(st.builds(Dilated, st.integers(0, 5), st.integers(1, 4), st.booleans()), settings_of_masks())
def test_it_is_the_definition(rule: Dilated, at: Setting) -> None:
    check_rule(rule, at)


def test_a_window_with_gaps() -> None:
    assert drawn(Dilated(2, 2), 5, 5) == "#.... .#... #.#.. .#.#. #.#.#"
    assert drawn(Dilated(1, 2, two_sided=True), 4, 4) == "#.#. .#.# #.#. .#.#"
    assert drawn(Dilated(1, 3), 1, 5, offset=4) == ".#..#"


@given(st.integers(0, 4), st.booleans(), settings_of_masks())
def test_without_gaps_it_is_a_sliding_window(window: int, two_sided: bool, at: Setting) -> None:
    sizes = at.n_q, at.n_k, at.offset
    assert drawn(Dilated(window, 1, two_sided), *sizes) == drawn(SlidingWindow(window, two_sided), *sizes)


def test_its_range_and_what_is_refused() -> None:
    assert Dilated(2, 3).key_range(7, 8, Columns(20, 20)) == (1, 9)
    with pytest.raises(ExperimentError, match="mask dilated dilation: expected a whole number, 1 or more, received 0"):
        Dilated(2, 0)
