"""The block that an undo shows is the one that differs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.model.table import Table
from attn_gui.model.tokens import TokenSequence
from attn_gui.views.cell_ranges import CellRange
from attn_gui.views.changed_block import changed_numbers, changed_tokens


def tokens(names: str, width: int = 3) -> TokenSequence:
    return TokenSequence.of(list(names), np.array([[ord(name) + c for c in range(width)] for name in names], float))


@given(st.data())
def test_the_smallest_block_round_the_cells_that_differ(data: st.DataObject) -> None:
    before = np.zeros((4, 5))
    cells = data.draw(st.sets(st.tuples(st.integers(0, 3), st.integers(0, 4)), max_size=5))
    after = before.copy()
    for cell in cells:
        after[cell] = 1
    block = changed_numbers(Table.of(before), Table.of(after))
    rows, columns = [r for r, _ in cells], [c for _, c in cells]
    assert block == (CellRange(min(rows), min(columns), max(rows), max(columns)) if cells else None)


@pytest.mark.parametrize(
    ("before", "after", "block"),
    [
        ("abc", "axbc", CellRange(1, 0, 1, 3)),
        ("abc", "abcxy", CellRange(3, 0, 4, 3)),
        ("axbc", "abc", None),
        ("abc", "abc", None),
        ("abc", "wxyz", None),
    ],
)
def test_tokens_that_came_and_went(before: str, after: str, block: CellRange | None) -> None:
    assert changed_tokens(tokens(before), tokens(after), ()) == block


def test_dimensions_that_came_and_went() -> None:
    assert changed_tokens(tokens("ab", 2), tokens("ab", 3), ()) == CellRange(0, 3, 1, 3)
    assert changed_tokens(tokens("ab", 3), tokens("ab", 2), ()) is None


def test_another_shape_of_a_matrix_is_no_block() -> None:
    assert changed_numbers(Table.of(np.zeros((2, 2))), Table.of(np.zeros((2, 3)))) is None
    assert changed_numbers(None, Table.of(np.zeros((2, 3)))) is None
