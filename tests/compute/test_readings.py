"""Readings and answers: the numbers behind a cell, rows, sums and stages, as the trace has them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.compute.trace import trace
from attn_gui.model.answers import Block, Reading, Row, RowSums, StageValues, Sum
from attn_gui.model.asks import BlockAsk, CellAsk, PictureAsk, RowAsk, RowSumsAsk, StageAsk, SumAsk
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal, Combined, MaskRule, Term
from attn_gui.model.normalisers import Normaliser
from attn_gui.model.normalisers.entmax15 import Entmax15
from attn_gui.model.normalisers.sigmoid import Sigmoid
from attn_gui.model.normalisers.softmax import Softmax
from attn_gui.model.normalisers.softmax_one import SoftmaxOne
from attn_gui.model.normalisers.sparsemax import Sparsemax
from attn_gui.model.painted import Painted, Rectangle
from attn_gui.model.picture import Picture
from attn_gui.model.precision import Precision
from attn_gui.model.scoring import Scoring
from attn_gui.model.stage_shape import stages_of
from attn_gui.model.stages import STAGES
from tests.answering import answered
from tests.reference import allowed_cells, reference
from tests.strategies import experiments


def heads(e: Experiment) -> st.SearchStrategy[int | str]:
    return st.sampled_from([*range(e.heads), "mean"])


def allowed_by(e: Experiment, head: int | str) -> np.ndarray:
    """The mask of a head, or where any head may look: [n_q, n_k]."""
    cells = allowed_cells(e)
    return cells.any(axis=0) if head == "mean" else cells[head]


@given(experiments(), st.data())
def test_a_cell_is_read_as_it_was_computed(e: Experiment, data: st.DataObject) -> None:
    t, head = trace(e), data.draw(heads(e))
    i, j = data.draw(st.integers(0, e.n_q - 1)), data.draw(st.integers(0, e.n_k - 1))
    reading = answered(t, CellAsk(head, i, j))
    assert isinstance(reading, Reading)
    assert (reading.head, reading.i, reading.j) == (head, i, j)
    allowed = allowed_by(e, head)[i]
    assert reading.allowed == allowed[j]
    cell = slice(i, i + 1), slice(j, j + 1)
    for name in ("raw", "scaled", "capped", "A", "N"):
        assert getattr(reading, name) == float(t.matrix(name, head).block(*cell)[0, 0]), name
    assert reading.bias == (float(t.matrix("bias", head).block(*cell)[0, 0]) if e.scoring.biases else 0)
    assert reading.normaliser == e.scoring.normaliser.kind
    assert reading.sink == (None if e.scoring.sinks is None or head == "mean" else e.scoring.sinks[head])
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
    assert reading.row_maximum == (scores.max() if allowed.any() else -np.inf)
    if reading.normaliser not in ("softmax", "softmax_one"):
        assert math.isnan(reading.exponential) and math.isnan(reading.total)
        return
    beside = [] if reading.sink is None else [reading.sink]
    beside += [0.0] if reading.normaliser == "softmax_one" else []
    assert reading.total == pytest.approx(math.fsum(np.exp(np.append(scores, beside) - reading.shift)))
    if allowed.any():
        # exponential over total is the weight, as the line of why says
        weight = reading.exponential / reading.total
        assert weight == pytest.approx(reading.N, abs=max(1e-12, 2 * e.precision.eps))
    if not reading.allowed:
        assert reading.exponential == 0.0


@pytest.mark.parametrize("score", [500.0, -500.0, 5000.0])
def test_exponentials_that_leave_the_range_are_shifted(score: float) -> None:
    e = Experiment.from_qkv([[1.0]], [[score], [score - 1]], [[1.0], [2.0]], precision=Precision.FLOAT64)
    reading = answered(trace(e), CellAsk(0, 0, 1))
    assert isinstance(reading, Reading)
    assert reading.shift == score
    assert reading.exponential / reading.total == pytest.approx(reading.N, rel=1e-12)


@given(experiments(), st.data())
def test_rows_and_their_sums(e: Experiment, data: st.DataObject) -> None:
    t, head = trace(e), data.draw(heads(e))
    i = data.draw(st.integers(0, e.n_q - 1))
    allowed = allowed_by(e, head)
    row, sums = answered(t, RowAsk(head, i)), answered(t, RowSumsAsk(head))
    assert isinstance(row, Row)
    assert isinstance(sums, RowSums)
    every = slice(0, e.n_q), slice(0, e.n_k)
    assert np.array_equal(row.N, t.matrix("N", head).block(*every)[i])
    assert np.array_equal(row.allowed, allowed[i])
    assert row.total == sums.sums[i] == t.row_sums(head)[i]
    assert np.array_equal(sums.empty, ~allowed.any(axis=1))
    assert not sums.off.any()
    in_each = allowed_cells(e).any(axis=2)  # [heads, n_q]
    assert sums.judged == (e.scoring.sums_to_one and (head != "mean" or bool((in_each == in_each.any(axis=0)).all())))
    if sums.judged:
        assert sums.sums[~sums.empty] == pytest.approx(1, abs=max(1e-12, 8 * e.precision.eps))


@pytest.mark.parametrize("normaliser", [Softmax(), Sparsemax(), Entmax15()])
def test_rows_that_do_not_sum_to_one_are_named(normaliser: Normaliser) -> None:
    e = not_a_number(Scoring(normaliser=normaliser))
    sums = answered(trace(e), RowSumsAsk(0))
    assert isinstance(sums, RowSums)
    assert sums.judged
    assert sums.off.tolist() == [True, True, False]
    assert sums.empty.tolist() == [False, False, True]


@pytest.mark.parametrize(
    "scoring", [Scoring(normaliser=Sigmoid()), Scoring(normaliser=SoftmaxOne()), Scoring(sinks=(1.0,))]
)
def test_rows_that_need_not_sum_to_one_are_not_judged(scoring: Scoring) -> None:
    for e in (
        not_a_number(scoring),
        Experiment.from_qkv(np.ones((3, 1)), np.ones((2, 1)), np.ones((2, 1)), scoring=scoring),
    ):
        sums = answered(trace(e), RowSumsAsk(0))
        assert isinstance(sums, RowSums)
        assert not sums.judged
        assert not sums.off.any()


def not_a_number(scoring: Scoring) -> Experiment:
    """Three queries: two look at a key that is not a number, the last at nothing."""
    K = np.array([[np.nan], [1.0]])
    painted = Painted((Rectangle(2, 3, 0, 2, False),))
    return Experiment.from_qkv(np.ones((3, 1)), K, K, painted=painted, rule=Causal(), scoring=scoring)


def test_a_mean_over_heads_some_of_which_see_nothing_is_not_judged() -> None:
    blind = Combined((Term(MaskRule(), negated=True, heads=(1,)),))
    t = trace(Experiment.from_tokens("ab", np.ones((2, 2)), heads=2, rule=blind))
    mean, second = answered(t, RowSumsAsk("mean")), answered(t, RowSumsAsk(1))
    assert isinstance(mean, RowSums) and isinstance(second, RowSums)
    assert mean.sums.tolist() == [0.5, 0.5]
    assert not (mean.judged or mean.empty.any() or mean.off.any())
    assert second.empty.all() and second.judged


@pytest.mark.parametrize(
    ("scoring", "shift", "total"),
    [
        (Scoring(scale=1.0, sinks=(2.0,)), 0, math.e + 1 + math.exp(2)),
        (Scoring(scale=1.0, normaliser=SoftmaxOne()), 0, math.e + 1 + 1),
        (Scoring(scale=1.0, normaliser=SoftmaxOne(), sinks=(2.0,)), 0, math.e + 1 + 1 + math.exp(2)),
        (Scoring(scale=1.0, sinks=(700.0,)), 700, 1.0),
        (Scoring(scale=-500.0), 0, 1.0),
        (Scoring(scale=-500.0, normaliser=SoftmaxOne()), 0, 2.0),
    ],
)
def test_what_takes_part_in_the_sum_beside_the_keys(scoring: Scoring, shift: float, total: float) -> None:
    e = Experiment.from_qkv([[1.0]], [[1.0], [0.0]], [[1.0], [1.0]], scoring=scoring, precision=Precision.FLOAT64)
    reading = answered(trace(e), CellAsk(0, 0, 1))
    assert isinstance(reading, Reading)
    assert (reading.shift, reading.total) == (shift, pytest.approx(total, rel=1e-15))
    assert pytest.approx(reading.exponential / reading.total, rel=1e-14) == reading.N


@given(experiments(), st.sampled_from(["N", "A_masked", "raw"]), st.data())
def test_sums_over_picked_queries_and_keys(e: Experiment, stage: str, data: st.DataObject) -> None:
    t, head = trace(e), data.draw(heads(e))
    queries = data.draw(st.lists(st.integers(0, 9), unique=True))
    keys = data.draw(st.lists(st.integers(0, 9), unique=True))
    found = answered(t, SumAsk(stage, head, tuple(queries), tuple(keys)))
    assert isinstance(found, Sum)
    allowed = allowed_by(e, head)
    values = t.matrix(stage, head).block(slice(0, e.n_q), slice(0, e.n_k)).astype(np.float64)
    cells = [(i, j) for i in queries for j in keys if i < e.n_q and j < e.n_k]
    assert found.cells == len(cells)
    assert found.masked == sum(not allowed[cell] for cell in cells)
    assert found.total == pytest.approx(math.fsum(values[cell] for cell in cells if allowed[cell]), abs=1e-12)


@given(experiments(), st.integers(0, 9), st.integers(0, 20), st.integers(0, 20))
def test_asks_are_brought_within_the_bounds(e: Experiment, head: int, i: int, j: int) -> None:
    t = trace(e)
    cell, row = answered(t, CellAsk(head, i, j)), answered(t, RowAsk(head, i))
    assert isinstance(cell, Reading)
    assert isinstance(row, Row)
    assert (cell.head, cell.i, cell.j) == (min(head, e.heads - 1), min(i, e.n_q - 1), min(j, e.n_k - 1))
    assert (row.head, row.i) == (cell.head, cell.i)
    assert isinstance(answered(t, PictureAsk("N", head, (i, i + 9, j, j + 9))), Picture)


@given(experiments(), st.sampled_from(sorted(name for name in STAGES if not STAGES[name].square)), st.data())
def test_stages_as_numbers(e: Experiment, name: str, data: st.DataObject) -> None:
    t, head = trace(e), data.draw(heads(e))
    ask = StageAsk(name, head)
    found = answered(t, ask)
    if name not in stages_of(e):
        assert found is None
        return
    assert isinstance(found, StageValues)
    assert found.ask == ask
    assert np.array_equal(found.values, t.stage(name, head if isinstance(head, int) else 0))


@given(experiments(), st.sampled_from(["N", "A_masked", "raw"]), st.data())
def test_blocks_of_numbers_come_within_bounds_and_with_the_mask(e: Experiment, name: str, data: st.DataObject) -> None:
    t, head = trace(e), data.draw(heads(e))
    top, left = data.draw(st.integers(0, e.n_q - 1)), data.draw(st.integers(0, e.n_k - 1))
    ask = BlockAsk(name, head, (top, data.draw(st.integers(top + 1, 99))), (left, data.draw(st.integers(left + 1, 99))))
    found = answered(t, ask)
    assert isinstance(found, Block)
    rows, columns = slice(top, min(ask.rows[1], e.n_q)), slice(left, min(ask.columns[1], e.n_k))
    assert (found.rows, found.columns) == ((rows.start, rows.stop), (columns.start, columns.stop))
    assert np.array_equal(found.values, t.matrix(name, head).block(rows, columns))
    assert np.array_equal(found.allowed, allowed_by(e, head)[rows, columns])
