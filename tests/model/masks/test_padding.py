"""Padding: marked keys are left out; the rows of padding tokens are left alone."""

from __future__ import annotations

from hypothesis import given

from attn_gui.model.masks import Padding
from tests.model.masks.checking import Setting, check_rule, drawn, settings_of_masks


@given(settings_of_masks())
def test_it_is_the_definition(at: Setting) -> None:
    check_rule(Padding(), at)


def test_columns_are_masked_and_rows_are_not() -> None:
    assert drawn(Padding(), 3, 4, pad=[False, True, False, True]) == "#.#. #.#. #.#."
    assert Padding().reads == ("pad",)
