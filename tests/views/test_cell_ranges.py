"""Ranges of cells against sets of them."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from attn_gui.views.cell_ranges import CellRange, around, column_runs, row_runs

ranges = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 3), st.integers(0, 3)).map(
        lambda t: CellRange(t[0], t[1], t[0] + t[2], t[1] + t[3])
    ),
    min_size=1,
    max_size=5,
)


@given(ranges)
def test_runs_hold_every_row_and_column_once(selected: list[CellRange]) -> None:
    for runs, of in ((row_runs(selected), "rows"), (column_runs(selected), "columns")):
        listed = [k for run in runs for k in run]
        assert listed == sorted({k for r in selected for k in getattr(r, of)})
        assert all(b.start > a.stop for a, b in pairwise(runs))


@given(ranges)
def test_around_is_the_smallest_range_that_holds_them(selected: list[CellRange]) -> None:
    whole = around(selected)
    rows, columns = ({k for r in selected for k in getattr(r, of)} for of in ("rows", "columns"))
    assert (whole.top, whole.bottom) == (min(rows), max(rows))
    assert (whole.left, whole.right) == (min(columns), max(columns))


def test_single() -> None:
    assert CellRange(2, 3, 2, 3).single
    assert not CellRange(2, 3, 3, 3).single
