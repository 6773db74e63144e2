"""Sliding window: the W previous keys and the query's own, after the cache."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.model.errors import ExperimentError
from attn_gui.model.masks import Columns, SlidingWindow
from tests.model.masks.checking import Setting, check_rule, drawn, settings_of_masks


@given(st.builds(SlidingWindow, st.integers(0, 6), st.booleans()), settings_of_masks())
def test_it_is_the_definition(rule: SlidingWindow, at: Setting) -> None:
    check_rule(rule, at)


def test_a_window_of_w_is_w_and_one_keys() -> None:
    assert drawn(SlidingWindow(1), 4, 4) == "#... ##.. .##. ..##"
    assert drawn(SlidingWindow(0), 3, 3) == "#.. .#. ..#"
    assert drawn(SlidingWindow(1, two_sided=True), 4, 4) == "##.. ###. .### ..##"


def test_it_counts_from_the_cache() -> None:
    assert drawn(SlidingWindow(1), 2, 5, offset=3) == "..##. ...##"


def test_ranges_are_no_wider_than_they_need_be() -> None:
    columns = Columns(10, 10)
    assert SlidingWindow(2).key_range(5, 6, columns) == (3, 7)
    assert SlidingWindow(2, two_sided=True).key_range(5, 6, columns) == (3, 9)


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        (2**31, "a whole number of at most 2147483647"),
        (10**30, "a whole number of at most 2147483647"),
        (-1, "a whole number, 0 or more"),
        (2.0, "a whole number, 0 or more"),
        (True, "a whole number, 0 or more"),
    ],
)
def test_what_is_no_window_is_refused(window: Any, expected: str) -> None:
    SlidingWindow(2**31 - 1)
    with pytest.raises(ExperimentError) as caught:
        SlidingWindow(window)
    assert (caught.value.field, caught.value.expected) == ("mask sliding_window window", expected)
