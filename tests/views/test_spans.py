"""Decimals and widths of many numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from attn_gui.model.table import Table
from attn_gui.views import spans
from attn_gui.views.figures import shown
from attn_gui.views.spans import Span, TableSpans, span_of

arrays = hnp.arrays(
    np.float64,
    hnp.array_shapes(min_dims=2, max_dims=2, max_side=6),
    elements=st.one_of(st.sampled_from([0.0, 0.5, -1.25, 100.0, np.nan, np.inf]), st.floats(-1e6, 1e6)),
)


@given(arrays, st.integers(1, 6))
def test_the_fewest_decimals_that_write_all_as_exactly_as_the_most(values: Any, most: int) -> None:
    finite = [float(v) for v in values.ravel() if np.isfinite(v)]

    def as_exact(decimals: int) -> bool:
        return all(float(f"{np.round(v, most):.{decimals}f}") == np.round(v, most) for v in finite)

    span = span_of(values, most)
    assert as_exact(span.decimals)
    assert span.decimals == 1 or not as_exact(span.decimals - 1)


@given(arrays)
def test_no_number_is_longer_than_the_widest(values: Any) -> None:
    span = span_of(values, 4)
    longest = max(len(text) for text in span.widest)
    assert all(len(shown(float(v), span.decimals)) <= longest for v in values.ravel() if np.isfinite(v))


@given(arrays)
def test_a_table_has_the_span_of_its_array(values: Any) -> None:
    assert TableSpans().of(Table.of(values), 4) == span_of(values, 4)


def test_an_edit_looks_only_at_the_chunk_it_made(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[int] = []
    original = spans._span
    monkeypatch.setattr(spans, "_span", lambda v, most, least: looked_at.append(len(v)) or original(v, most, least))
    table = Table.of(np.zeros((131_072, 2)))
    known = TableSpans()
    assert known.of(table, 4) == Span(1, 0.0, 0.0)
    assert sum(looked_at) == 131_072
    looked_at.clear()
    assert known.of(table.with_cells(70_000, 1, -0.125), 4) == Span(3, -0.125, 0.0)
    assert sum(looked_at) == len(table.chunks[0])
    looked_at.clear()
    assert known.of(table, 2).decimals == 1  # other decimals: everything anew
    assert sum(looked_at) == 131_072


def test_numbers_none_of_which_is_finite() -> None:
    assert span_of(np.array([[np.nan, np.inf]]), 4) == Span()
    assert span_of(np.zeros((3, 0)), 4) == Span()
