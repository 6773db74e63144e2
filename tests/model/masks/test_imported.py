"""Imported: cells as they were given, for all heads or for each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from attn_gui.model.errors import ExperimentError
from attn_gui.model.masks import Imported
from tests.model.masks.checking import Setting, check_rule, drawn, settings_of_masks

CELLS = np.array([[True, False, True], [False, False, True]])


@given(settings_of_masks(heads=3), st.booleans(), st.data())
def test_it_is_the_definition(at: Setting, per_head: bool, data: st.DataObject) -> None:
    shape = (at.heads, at.n_q, at.n_k) if per_head else (at.n_q, at.n_k)
    rule = Imported(data.draw(hnp.arrays(bool, shape)))
    assert rule.per_head == per_head
    check_rule(rule, at)


def test_cells_are_kept_and_cannot_be_changed() -> None:
    given_cells = CELLS.copy()
    rule = Imported(given_cells)
    given_cells[0, 0] = False
    assert drawn(rule, 2, 3) == "#.# ..#"
    assert [array is rule.cells for array in rule.arrays()] == [True]
    with pytest.raises(ValueError, match="read-only"):
        rule.cells[0, 0] = False


def test_each_head_has_its_own() -> None:
    rule = Imported(np.stack([CELLS, ~CELLS]))
    assert (drawn(rule, 2, 3, head=0), drawn(rule, 2, 3, head=1)) == ("#.# ..#", ".#. ##.")


def test_cells_follow_their_tokens_and_new_ones_are_open() -> None:
    moved = Imported(CELLS).rearranged([1, None, 0], [2, 0, None, 1])
    assert drawn(moved, 3, 4) == "#.#. #### ###."
    by_head = Imported(np.stack([CELLS, ~CELLS])).rearranged([1], [0, 1])
    assert (drawn(by_head, 1, 2, head=0), drawn(by_head, 1, 2, head=1)) == ("..", "##")


@pytest.mark.parametrize("cells", [np.ones(3, bool), np.ones((0, 3), bool), np.ones((1, 2, 3, 4), bool)])
def test_what_is_no_mask_is_refused(cells: Any) -> None:
    with pytest.raises(ExperimentError) as caught:
        Imported(cells)
    assert str(caught.value) == (
        f"mask imported cells: expected an array of 2 or 3 axes, not empty, received shape {cells.shape}"
    )


def test_it_must_fit_the_matrix() -> None:
    for fitting in (Imported(CELLS), Imported(np.stack([CELLS] * 4))):
        fitting.check_fits(2, 3, 4)
    with pytest.raises(ExperimentError, match=r"cells: expected shape \(2, 4\) or \(1, 2, 4\), received \(2, 3\)"):
        Imported(CELLS).check_fits(2, 4, 1)
