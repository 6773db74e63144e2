"""Differences between two token tables, against comparing every row."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.model.table import Table
from attn_gui.model.tokens import TokenSequence
from attn_gui.views import token_changes
from attn_gui.views.token_changes import Cells, Splice, changed_cells, changed_columns, changed_entries, changed_rows

rows = st.tuples(st.sampled_from("ab"), st.sampled_from([0.0, 1.0]), st.booleans())
tables = st.lists(rows, min_size=1, max_size=6)


def sequence(of: list[tuple[str, float, bool]]) -> TokenSequence:
    return TokenSequence.of([name for name, _, _ in of], [[x] for _, x, _ in of], pad=[pad for _, _, pad in of])


@given(tables, tables)
def test_rows_before_and_after_the_splice_are_alike(
    before: list[tuple[str, float, bool]], after: list[tuple[str, float, bool]]
) -> None:
    change = changed_rows(sequence(before), sequence(after))
    end = len(before) - change.first - change.removed
    assert end == len(after) - change.first - change.inserted
    assert before[: change.first] == after[: change.first]
    assert end == 0 or before[-end:] == after[-end:]
    if change.removed and change.inserted:  # as small as can be
        assert before[change.first] != after[change.first]
        assert before[change.first + change.removed - 1] != after[change.first + change.inserted - 1]


def test_insertion_in_a_long_table(monkeypatch: Any) -> None:
    monkeypatch.setattr(token_changes, "BLOCK_ROWS", 16)
    X = np.arange(200.0).reshape(100, 2)
    before = TokenSequence.of(["t"] * 100, X)
    after = TokenSequence.of(["t"] * 103, np.insert(X, 37, [[-1.0, -1.0]] * 3, axis=0))
    assert changed_rows(before, after) == Splice(37, 0, 3)
    assert changed_rows(after, before) == Splice(37, 3, 0)


def test_columns_by_their_numbers_and_names() -> None:
    X = np.arange(12.0).reshape(3, 4)
    before = TokenSequence.of("abc", X, ["p", None, "q", None])
    after = TokenSequence.of("abc", np.insert(X, 2, 0.0, axis=1), ["p", None, None, "q", None])
    assert changed_columns(before, after) == Splice(2, 0, 1)
    assert changed_columns(after, before) == Splice(2, 1, 0)


@given(st.data())
def test_the_rectangle_round_changed_cells(data: st.DataObject) -> None:
    n, d = data.draw(st.integers(1, 40)), data.draw(st.integers(1, 4))
    before = Table([c for c in np.split(np.zeros((n, d)), [n // 2]) if len(c)], d)
    cells = data.draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, d - 1)), min_size=1, max_size=5))
    r, c = [cell[0] for cell in cells], [cell[1] for cell in cells]
    after = before.with_cells(r, c, 1.0)
    expected = Cells(min(r), min(c), max(r), max(c))
    assert changed_cells(before, after) == expected
    assert changed_cells(before, Table.of(after.array())) == expected  # chunks cut elsewhere
    assert changed_cells(before, before.with_cells(r, c, 0.0)) is None


def test_entries() -> None:
    names = ("a", "b", "c")
    assert changed_entries(names, names) is None
    assert changed_entries(names, ("a", "b", "c")) is None
    assert changed_entries(names, ("a", "x", "y")) == (1, 2)
