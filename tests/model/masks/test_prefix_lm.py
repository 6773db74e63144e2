"""Prefix-LM: a prefix that all may see, causal from there on."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from attn_gui.model.masks import Columns
from attn_gui.model.masks.prefix_lm import PrefixLM
from tests.model.masks.checking import Setting, check_rule, drawn, settings_of_masks


@given(st.builds(PrefixLM, st.integers(0, 10)), settings_of_masks())
def test_it_is_the_definition(rule: PrefixLM, at: Setting) -> None:
    check_rule(rule, at)


def test_the_prefix_is_open_and_the_rest_causal() -> None:
    assert drawn(PrefixLM(2), 4, 4) == "##.. ##.. ###. ####"
    assert drawn(PrefixLM(0), 3, 3) == "#.. ##. ###"
    assert drawn(PrefixLM(2), 2, 4, offset=2) == "###. ####"


def test_its_range_reaches_the_prefix() -> None:
    assert PrefixLM(3).key_range(0, 1, Columns(9, 9)) == (0, 3)
    assert PrefixLM(3).key_range(0, 5, Columns(9, 9)) == (0, 6)
