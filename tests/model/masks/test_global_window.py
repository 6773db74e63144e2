"""Global tokens see all and are seen by all; the others see their neighbours."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from attn_gui.model.masks import Causal, Combined, SlidingWindow, Term
from attn_gui.model.masks.global_window import GlobalWindow
from tests.model.masks.checking import Setting, check_rule, drawn, settings_of_masks


@given(st.builds(GlobalWindow, st.integers(0, 4), st.integers(0, 4)), settings_of_masks())
def test_it_is_the_definition(rule: GlobalWindow, at: Setting) -> None:
    check_rule(rule, at)


def test_a_cross_and_a_band() -> None:
    assert drawn(GlobalWindow(1, 0), 4, 4) == "#### ##.. #.#. #..#"
    assert drawn(GlobalWindow(1, 1), 4, 4) == "#### ###. #### #.##"
    assert drawn(GlobalWindow(0, 1), 4, 4) == drawn(SlidingWindow(1, two_sided=True), 4, 4)


def test_with_a_causal_mask_it_has_attention_sinks() -> None:
    sinks = Combined((Term(GlobalWindow(1, 1)), Term(Causal())))
    assert drawn(sinks, 5, 5) == "#.... ##... ###.. #.##. #..##"


def test_queries_after_the_cache_are_not_global() -> None:
    assert drawn(GlobalWindow(1, 0), 2, 4, offset=2) == "#.#. #..#"
