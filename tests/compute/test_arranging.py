"""Pictures without special tokens and with whole words, against sums and means taken cell by cell."""

from __future__ import annotations

import gc
import math
from collections.abc import Generator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attn_gui.compute import arranging
from attn_gui.compute.answers import answer
from attn_gui.compute.trace import trace
from attn_gui.model.answers import ArrangedCell, Block, RowSums, Sum
from attn_gui.model.arranging import PLAIN, Arrangement, arranged
from attn_gui.model.asks import ArrangedCellAsk, Ask, BlockAsk, PictureAsk, RowSumsAsk, SumAsk
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal, Imported
from attn_gui.model.picture import MASKED, Picture
from attn_gui.model.precision import Precision
from attn_gui.model.tokens import TokenSequence
from attn_gui.model.trace import Head, Trace

BOTH = Arrangement(True, True)
BERT = ["[CLS]", "un", "##believ", "##able", "play", "##ers", "won", "[SEP]"]


def result(steps: Generator[float, None, Any]) -> Any:
    while True:
        try:
            next(steps)
        except StopIteration as done:
            return done.value


def asked(t: Trace, ask: Ask) -> Any:
    return result(answer(t, ask))


def experiment(seed: int = 0, heads: int = 2, **fields: Any) -> Experiment:
    rng = np.random.default_rng(seed)
    Q, K, V = (rng.standard_normal((heads, len(BERT), 4)) * 2 for _ in range(3))
    return Experiment.from_qkv(Q, K, V, tokens=BERT, **fields)


def with_columns(e: Experiment, special: list[bool], word: list[int]) -> Experiment:
    columns = {"special": np.array(special), "word": np.array(word)}
    return replace(e, tokens=TokenSequence(e.tokens.tokens, e.tokens.embeddings, (), columns))


def cell_by_cell(t: Trace, stage: str, head: Head, arrangement: Arrangement) -> tuple[list[list[float]], list[Any]]:
    """What each place should be, and whether any of its cells is allowed."""
    found = arranged(t.experiment, arrangement)
    assert found is not None
    matrix = t.matrix(stage, head)
    n_q, n_k = matrix.shape
    values = matrix.block(slice(0, n_q), slice(0, n_k)).astype(np.float64)
    allowed = matrix.allowed(slice(0, n_q), slice(0, n_k))
    numbers, flags = [], []
    for qa, qb in zip(found.queries.starts, found.queries.stops, strict=True):
        row, row_flags = [], []
        for ka, kb in zip(found.keys.starts, found.keys.stops, strict=True):
            cells = [(i, j) for i in range(qa, qb) for j in range(ka, kb)]
            if stage == "N":
                per_query = [math.fsum(values[i, j] for j in range(ka, kb)) for i in range(qa, qb)]
                row.append(math.fsum(per_query) / len(per_query))
            else:
                used = [cell for cell in cells if allowed[cell]] or cells
                row.append(float(np.mean([values[cell] for cell in used])))
            row_flags.append(any(allowed[cell] for cell in cells))
        numbers.append(row)
        flags.append(row_flags)
    return numbers, flags


@settings(max_examples=30)
@given(
    st.integers(0, 5),
    st.lists(st.tuples(st.booleans(), st.integers(-1, 2)), min_size=8, max_size=8),
    st.sampled_from([Arrangement(True, False), Arrangement(False, True), BOTH]),
    st.sampled_from(["none", "causal", "cells"]),
    st.sampled_from(["N", "A", "A_masked", "raw"]),
    st.sampled_from([0, 1, "mean"]),
    st.sampled_from([Precision.FLOAT64, Precision.FLOAT32, Precision.BFLOAT16]),
    st.booleans(),
)
def test_every_place_is_the_sum_and_the_mean_of_its_cells(
    seed: int,
    columns: list[tuple[bool, int]],
    arrangement: Arrangement,
    mask: str,
    stage: str,
    head: Head,
    precision: Precision,
    streamed: bool,
) -> None:
    cells = np.random.default_rng(seed).random((8, 8)) < 0.5
    rules = {"none": {}, "causal": {"rule": Causal()}, "cells": {"rule": Imported(cells)}}
    e = with_columns(
        experiment(seed, precision=precision, **rules[mask]), [c[0] for c in columns], [c[1] for c in columns]
    )
    t = trace(e, memory=0 if streamed else None)
    before = t.matrix(stage, head).block(slice(0, 8), slice(0, 8)).copy()
    found = arranged(e, arrangement)
    whole = (0, 8)
    block = asked(t, BlockAsk(stage, head, whole, whole, arrangement))
    assert isinstance(block, Block)
    if found is None:
        np.testing.assert_array_equal(block.values, before)
        return
    numbers, flags = cell_by_cell(t, stage, head, arrangement)
    tolerance = 1e-12 if precision == Precision.FLOAT64 else 1e-6
    np.testing.assert_allclose(block.values, numbers, rtol=tolerance, atol=tolerance)
    np.testing.assert_array_equal(block.allowed, flags)
    assert block.ask == BlockAsk(stage, head, whole, whole)
    if not found.merges:
        rows, keys = ~found.queries.hidden, ~found.keys.hidden
        np.testing.assert_array_equal(block.values, before[np.ix_(rows, keys)])
    picture = asked(t, PictureAsk(stage, head, arranged=arrangement))
    assert isinstance(picture, Picture) and picture.exact
    np.testing.assert_array_equal(picture.values, block.values)
    np.testing.assert_array_equal(picture.index == MASKED, ~block.allowed)
    places = range(len(numbers)), range(len(numbers[0]))
    total = asked(t, SumAsk(stage, head, tuple(places[0]), tuple(places[1]), arrangement))
    assert isinstance(total, Sum)
    assert total.cells == len(numbers) * len(numbers[0]) and total.masked == int(np.sum(~np.array(flags)))
    assert total.total == pytest.approx(float(block.values[block.allowed].astype(float).sum()), abs=1e-5)
    for i in places[0]:
        for j in places[1]:
            cell = asked(t, ArrangedCellAsk(stage, head, i, j, arrangement))
            assert isinstance(cell, ArrangedCell)
            assert cell.value == pytest.approx(numbers[i][j], rel=tolerance, abs=tolerance, nan_ok=True)
            assert (cell.queries, cell.keys) == (found.queries.counts[i], found.keys.counts[j])
            assert cell.allowed == flags[i][j]
    np.testing.assert_array_equal(t.matrix(stage, head).block(slice(0, 8), slice(0, 8)), before)


@pytest.mark.parametrize("rule", [{}, {"rule": Causal()}])
def test_the_share_that_is_hidden(rule: dict[str, Any]) -> None:
    t = trace(experiment(3, **rule))
    N = t.stage("N", 1).astype(np.float64)
    hidden = [0, 7]
    for place, queries in enumerate(([1, 2, 3], [4, 5], [6])):
        cell = asked(t, ArrangedCellAsk("A_masked", 1, place, 0, BOTH))
        assert cell.hidden_keys == 2
        assert cell.hidden == pytest.approx(N[queries][:, hidden].sum() / N[queries].sum(), rel=1e-6)
    merged_only = asked(t, ArrangedCellAsk("N", 1, 0, 0, Arrangement(False, True)))
    assert (merged_only.hidden, merged_only.hidden_keys) == (0, 0)


def test_what_is_drawn_and_what_is_hidden_add_up_to_the_rows() -> None:
    t = trace(experiment(4, precision=Precision.FLOAT64))
    block = asked(t, BlockAsk("N", 0, (0, 8), (0, 8), BOTH))
    for place in range(3):
        cell = asked(t, ArrangedCellAsk("N", 0, place, 0, BOTH))
        assert float(block.values[place].sum()) + cell.hidden == pytest.approx(1, abs=1e-12)


def test_a_row_that_may_attend_to_nothing_has_no_share() -> None:
    cells = np.ones((8, 8), bool)
    cells[6] = False
    t = trace(experiment(rule=Imported(cells)))
    cell = asked(t, ArrangedCellAsk("N", 0, 2, 0, BOTH))
    assert (cell.value, cell.allowed, cell.hidden) == (0, False, None)


def test_sums_of_rows_are_those_of_all_keys() -> None:
    cells = np.ones((8, 8), bool)
    cells[[4, 5]] = False
    t = trace(experiment(rule=Imported(cells)))
    sums = asked(t, RowSumsAsk(0, BOTH))
    assert isinstance(sums, RowSums)
    np.testing.assert_allclose(sums.sums, [1, 0, 1], atol=1e-6)
    assert sums.empty.tolist() == [False, True, False]
    assert not sums.off.any() and sums.judged


def test_a_window_and_a_smaller_picture_are_of_places() -> None:
    t = trace(experiment())
    numbers, _ = cell_by_cell(t, "N", 0, BOTH)
    window = asked(t, BlockAsk("N", 0, (1, 3), (2, 99), BOTH))
    assert (window.rows, window.columns) == ((1, 3), (2, 3))
    np.testing.assert_allclose(window.values, np.array(numbers)[1:3, 2:3], rtol=1e-6)
    small = asked(t, PictureAsk("N", 0, size=(1, 1), arranged=BOTH))
    assert small.values[0, 0] == pytest.approx(np.max(numbers), rel=1e-6)
    assert not small.exact
    assert small.high == pytest.approx(np.max(numbers), rel=1e-6)


def test_what_is_not_finite_stays_so_and_alone() -> None:
    N = np.full((1, 8, 8), 0.125)
    N[0, 2, 6] = np.nan
    N[0, 0, 0] = np.inf
    t = trace(Experiment.from_weights(N, tokens=BERT))
    block = asked(t, BlockAsk("N", 0, (0, 8), (0, 8), BOTH))
    assert np.argwhere(~np.isfinite(block.values)).tolist() == [[0, 2]]


def test_nothing_of_what_an_exercise_hides_is_told() -> None:
    e = experiment()
    hidden = replace(e, hidden=frozenset({"N"}))
    t = trace(hidden)
    assert asked(t, BlockAsk("N", 0, (0, 8), (0, 8), BOTH)) is None
    assert asked(t, ArrangedCellAsk("N", 0, 0, 0, BOTH)) is None
    cell = asked(t, ArrangedCellAsk("A", 0, 0, 0, BOTH))
    assert cell is None or cell.hidden is None


def test_a_cell_of_an_arrangement_that_no_longer_applies_is_no_answer() -> None:
    plain = Experiment.from_tokens(["a", "b"], np.eye(2))
    assert asked(trace(plain), ArrangedCellAsk("N", 0, 0, 0, BOTH)) is None
    assert asked(trace(plain), BlockAsk("N", 0, (0, 2), (0, 2), BOTH)).values.shape == (2, 2)


def test_it_is_worked_out_once_and_goes_with_the_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    merged = arranging.merged

    def counted(*arguments: Any, **options: Any) -> Any:
        calls.append(1)
        return merged(*arguments, **options)

    monkeypatch.setattr(arranging, "merged", counted)
    monkeypatch.setattr(arranging, "STEP_CELLS", 16)
    t = trace(experiment())
    for _ in range(3):
        asked(t, PictureAsk("N", 0, arranged=BOTH))
    assert len(calls) == 2  # the three places of queries, in blocks of two rows
    kept = len(arranging._kept)
    monkeypatch.setattr(arranging, "KEPT_BYTES", 1)
    asked(t, PictureAsk("A", 1, arranged=BOTH))
    assert [key[1:] for key in arranging._kept[t]] == [("A", 1)]
    del t
    gc.collect()
    assert len(arranging._kept) == kept - 1


def test_plain_asks_are_as_before() -> None:
    t = trace(experiment())
    assert asked(t, BlockAsk("N", 0, (0, 8), (0, 8))).ask.arranged == PLAIN
    np.testing.assert_array_equal(asked(t, BlockAsk("N", 0, (0, 8), (0, 8))).values, t.stage("N", 0))
