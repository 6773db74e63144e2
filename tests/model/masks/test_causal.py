"""Causal: no key after the query's own place, counted from the first key or from the last."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.model.errors import ExperimentError
from attn_gui.model.masks import Causal, Columns
from tests.model.masks.checking import Setting, check_rule, drawn, settings_of_masks


@given(st.builds(Causal, st.sampled_from(["top-left", "bottom-right"])), settings_of_masks())
def test_it_is_the_definition(rule: Causal, at: Setting) -> None:
    check_rule(rule, at)


def test_both_alignments_are_one_in_a_square() -> None:
    assert drawn(Causal(), 3, 3) == drawn(Causal("bottom-right"), 3, 3) == "#.. ##. ###"


def test_alignments_differ_where_there_are_more_keys_or_more_queries() -> None:
    assert drawn(Causal(), 2, 4) == "#... ##.."
    assert drawn(Causal("bottom-right"), 2, 4) == "###. ####"
    assert drawn(Causal(), 4, 2) == "#. ## ## ##"
    assert drawn(Causal("bottom-right"), 4, 2) == ".. .. #. ##"


def test_ranges_are_no_wider_than_they_need_be() -> None:
    assert Causal().key_range(2, 4, Columns(10, 10)) == (0, 5)
    assert Causal("bottom-right").key_range(0, 3, Columns(10, 4)) == (0, 0)


def test_another_alignment_is_refused() -> None:
    with pytest.raises(ExperimentError, match="mask causal alignment: expected top-left or bottom-right, received"):
        Causal("diagonal")
