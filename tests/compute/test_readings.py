"""Readings and answers: the numbers behind a cell, rows, sums and stages, as the trace has them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.compute.answers import answer
from attn_gui.compute.trace import trace
from attn_gui.model.answers import Reading, Row, RowSums, StageValues, Sum
from attn_gui.model.asks import CellAsk, PictureAsk, RowAsk, RowSumsAsk, StageAsk, SumAsk
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal
from attn_gui.model.painted import Painted, Rectangle
from attn_gui.model.picture import Picture
from attn_gui.model.precision import Precision
from attn_gui.model.stages import STAGES
from tests.reference import allowed_cells, reference
from tests.strategies import experiments


def heads(e: Experiment) -> st.SearchStrategy[int | str]:
    return st.sampled_from([*range(e.heads), "mean"])


@given(experiments(), st.data())
def test_a_cell_is_read_as_it_was_computed(e: Experiment, data: st.DataObject) -> None:
    t, head = trace(e), data.draw(heads(e))
    i, j = data.draw(st.integers(0, e.n_q - 1)), data.draw(st.integers(0, e.n_k - 1))
    reading = answer(t, CellAsk(head, i, j))
    assert isinstance(reading, Reading)
    assert (reading.head, reading.i, reading.j) == (head, i, j)
    allowed = allowed_cells(e)[i]
    assert reading.allowed == allowed[j]
    cell = slice(i, i + 1), slice(j, j + 1)
    for name in ("raw", "scaled", "A", "N"):
        assert getattr(reading, name) == float(t.matrix(name, head).block(*cell)[0, 0]), name
    assert reading.each_head.tolist() == [float(t.stage("N", h)[i, j]) for h in range(e.heads)]
    assert reading.scale == e.scale
    if head == "mean":
        assert reading.q.size == reading.k.size == reading.products.size == 0
        return
    assert np.array_equal(reading.q, t.stage("Q", head)[i])
    assert np.array_equal(reading.k, t.stage("K", head)[j])
    right = reference(e)
    assert reading.products.sum() == pytest.approx(reading.raw, abs=max(1e-12, right.tolerance(e, "raw")))
    scores = t.stage("A", head)[i].astype(np.float64)[allowed]
    if allowed.any():
        assert reading.row_maximum == scores.max()
        assert reading.total == pytest.approx(math.fsum(np.exp(scores - reading.shift)))
        # exponential over total is the weight, as the line of why says
        weight = reading.exponential / reading.total
        assert weight == pytest.approx(reading.N, abs=max(1e-12, 2 * e.precision.eps))
    else:
        assert (reading.row_maximum, reading.total, reading.N) == (-np.inf, 0.0, 0.0)
    if not reading.allowed:
        assert reading.exponential == 0.0


@pytest.mark.parametrize("score", [500.0, -500.0, 5000.0])
def test_exponentials_that_leave_the_range_are_shifted(score: float) -> None:
    e = Experiment.from_qkv([[1.0]], [[score], [score - 1]], [[1.0], [2.0]], precision=Precision.FLOAT64)
    reading = answer(trace(e), CellAsk(0, 0, 1))
    assert isinstance(reading, Reading)
    assert reading.shift == score
    assert reading.exponential / reading.total == pytest.approx(reading.N, rel=1e-12)


@given(experiments(), st.data())
def test_rows_and_their_sums(e: Experiment, data: st.DataObject) -> None:
    t, head = trace(e), data.draw(heads(e))
    i = data.draw(st.integers(0, e.n_q - 1))
    allowed = allowed_cells(e)
    row, sums = answer(t, RowAsk(head, i)), answer(t, RowSumsAsk(head))
    assert isinstance(row, Row)
    assert isinstance(sums, RowSums)
    every = slice(0, e.n_q), slice(0, e.n_k)
    assert np.array_equal(row.N, t.matrix("N", head).block(*every)[i])
    assert np.array_equal(row.allowed, allowed[i])
    assert row.total == sums.sums[i] == t.row_sums(head)[i]
    assert np.array_equal(sums.empty, ~allowed.any(axis=1))
    assert not sums.off.any()


def test_rows_that_do_not_sum_to_one_are_named() -> None:
    K = np.array([[np.nan], [1.0]])
    e = Experiment.from_qkv(np.ones((3, 1)), K, K, painted=Painted((Rectangle(2, 3, 0, 2, False),)), rule=Causal())
    sums = answer(trace(e), RowSumsAsk(0))
    assert isinstance(sums, RowSums)
    assert sums.off.tolist() == [True, True, False]
    assert sums.empty.tolist() == [False, False, True]


@given(experiments(), st.sampled_from(["N", "A_masked", "raw"]), st.data())
def test_sums_over_picked_queries_and_keys(e: Experiment, stage: str, data: st.DataObject) -> None:
    t, head = trace(e), data.draw(heads(e))
    queries = data.draw(st.lists(st.integers(0, 9), unique=True))
    keys = data.draw(st.lists(st.integers(0, 9), unique=True))
    found = answer(t, SumAsk(stage, head, tuple(queries), tuple(keys)))
    assert isinstance(found, Sum)
    allowed = allowed_cells(e)
    values = t.matrix(stage, head).block(slice(0, e.n_q), slice(0, e.n_k)).astype(np.float64)
    cells = [(i, j) for i in queries for j in keys if i < e.n_q and j < e.n_k]
    assert found.cells == len(cells)
    assert found.masked == sum(not allowed[cell] for cell in cells)
    assert found.total == pytest.approx(math.fsum(values[cell] for cell in cells if allowed[cell]), abs=1e-12)


@given(experiments(), st.integers(0, 9), st.integers(0, 20), st.integers(0, 20))
def test_asks_are_brought_within_the_bounds(e: Experiment, head: int, i: int, j: int) -> None:
    t = trace(e)
    cell, row = answer(t, CellAsk(head, i, j)), answer(t, RowAsk(head, i))
    assert isinstance(cell, Reading)
    assert isinstance(row, Row)
    assert (cell.head, cell.i, cell.j) == (min(head, e.heads - 1), min(i, e.n_q - 1), min(j, e.n_k - 1))
    assert (row.head, row.i) == (cell.head, cell.i)
    assert isinstance(answer(t, PictureAsk("N", head, (i, i + 9, j, j + 9))), Picture)


@given(experiments(), st.sampled_from(sorted(STAGES)), st.data())
def test_stages_as_numbers(e: Experiment, name: str, data: st.DataObject) -> None:
    t, head = trace(e), data.draw(heads(e))
    ask = StageAsk(name, head)
    found = answer(t, ask)
    if name == "context" and not e.variant.is_cross:
        assert found is None
        return
    assert isinstance(found, StageValues)
    assert found.ask == ask
    if STAGES[name].square:
        assert np.array_equal(found.values, t.matrix(name, head).block(slice(0, e.n_q), slice(0, e.n_k)))
    else:
        assert np.array_equal(found.values, t.stage(name, head if isinstance(head, int) else 0))
