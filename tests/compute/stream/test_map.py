"""A streamed matrix as a map: what is drawn at any zoom, before, while and after the pass goes over the rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attn_gui.compute.picture import picture, refined
from attn_gui.compute.pooling import pool
from attn_gui.compute.stream.grid import Grid
from attn_gui.compute.stream.overview import pool_by
from attn_gui.compute.stream.trace import StreamedTrace
from attn_gui.compute.trace import DenseTrace, trace
from attn_gui.model.asks import PictureAsk
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal
from attn_gui.model.picture import LAST_COLOUR, Picture
from attn_gui.model.sources import GivenQKV
from attn_gui.model.trace import Drawn, Pooling
from tests.compute.stream.test_against_dense import GRIDS, SIDES, small
from tests.strategies import experiments

N = 600
SMALL = Grid(16, 8, 32)


def spiked(rows: list[tuple[int, int]]) -> Experiment:
    """Keys of no interest to anybody but for single weights of 1 at ``rows`` (query, key)."""
    Q, K = np.zeros((1, N, 8)), np.zeros((1, N, 8))
    for k, (i, j) in enumerate(rows):
        Q[0, i, k] = K[0, j, k] = 40.0
    return Experiment.from_qkv(Q, K, np.ones((1, N, 1)))


def stepped(trace: StreamedTrace) -> StreamedTrace:
    for _ in trace.passes():
        pass
    return trace


def whole(drawn: Drawn, n: int) -> bool:
    return drawn.rows[0] == 0 and drawn.rows[1] >= n


@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("size", [1, 3, 10, 64, 150, 299, 600])
def test_a_single_weight_of_one_is_seen_at_every_zoom(size: int, pooled: bool) -> None:
    places = [(17, 423), (599, 0), (311, 599)]
    with small(SMALL, 64, 4096):
        t = stepped(StreamedTrace(spiked(places), "cpu"))
        for i, j in places:
            for window in ((0, N, 0, N), (max(0, i - 200), i + 1, max(0, j - 90), j + 30)):
                ask = PictureAsk("N", window=window, size=(size, size))
                *_, found = [picture(t, ask.request(t.experiment)), *_pictures(t, ask)]
                assert not found.finer
                top, left = found.request.rows[0], found.request.columns[0]
                height = (found.request.rows[1] - top) / found.index.shape[0]
                width = (found.request.columns[1] - left) / found.index.shape[1]
                row, column = int((i - top) / height), int((j - left) / width)
                # blocks that are brought down unevenly may lie a block to the side
                near = found.values[max(0, row - 1) : row + 2, max(0, column - 1) : column + 2]
                assert near.max() == pytest.approx(1.0, abs=1e-6)


def _pictures(t: StreamedTrace, ask: PictureAsk) -> list[Picture]:
    steps = refined(t, ask.request(t.experiment))
    while True:
        try:
            next(steps)
        except StopIteration as stopped:
            return [stopped.value]


@given(data=st.data(), grid=GRIDS, side=SIDES, how=st.sampled_from(["max", "mean", "min"]))
@settings(max_examples=40)
def test_what_is_refined_is_the_window_brought_down(data: st.DataObject, grid: Grid, side: int, how: Pooling) -> None:
    e = data.draw(experiments())
    top, left = data.draw(st.integers(0, e.n_q - 1)), data.draw(st.integers(0, e.n_k - 1))
    rows = slice(top, data.draw(st.integers(top + 1, e.n_q)))
    columns = slice(left, data.draw(st.integers(left + 1, e.n_k)))
    out = data.draw(st.integers(1, 8)), data.draw(st.integers(1, 8))
    head = data.draw(st.sampled_from([*range(e.heads), "mean"]))
    stage = data.draw(st.sampled_from(["N", "A_masked", "raw", "scaled"]))
    with small(grid, side), _tiles(data.draw(st.sampled_from([2, 4])), data.draw(st.sampled_from([0, 1 << 20]))):
        t = stepped(StreamedTrace(e, "cpu"))
        for _ in t.passes([head]):
            pass
        matrix = t.matrix(stage, head)
        for _ in matrix.refined(rows, columns, out, how):
            pass
        drawn = matrix.drawn(rows, columns, out, how)
        assert not drawn.finer
        inside = slice(drawn.rows[0], min(drawn.rows[1], e.n_q)), slice(drawn.columns[0], min(drawn.columns[1], e.n_k))
        assert inside[0].start <= rows.start
        assert rows.stop <= inside[0].stop
        assert inside[1].start <= columns.start
        assert columns.stop <= inside[1].stop
        values, allowed = matrix.block(*inside), matrix.allowed(*inside)
    heights = (drawn.rows[1] - drawn.rows[0]) / len(drawn.values)
    widths = (drawn.columns[1] - drawn.columns[0]) / drawn.values.shape[1]
    if drawn.exact:
        assert np.array_equal(drawn.values, values, equal_nan=True)
        assert np.array_equal(drawn.allowed, allowed)
    elif heights == int(heights) and widths == int(widths) and not drawn.sampled:
        expected, some = pool_by(values, allowed, (int(heights), int(widths)), how)
        assert np.array_equal(drawn.allowed, some)
        tolerance = (
            4 * max(e.precision.eps, 2.0**-23) * max(1.0, float(np.abs(expected[np.isfinite(expected)]).max(initial=0)))
        )
        assert np.allclose(drawn.values, expected, rtol=0, atol=tolerance, equal_nan=True)


def _tiles(cells: int, direct: int):
    from contextlib import ExitStack
    from unittest.mock import patch

    stack = ExitStack()
    stack.enter_context(patch("attn_gui.compute.stream.map.CELLS", cells))
    stack.enter_context(patch("attn_gui.compute.stream.map.DIRECT_CELLS", direct))
    return stack


@given(experiments(), GRIDS, st.data())
@settings(max_examples=30)
def test_a_cell_has_one_value_whoever_asks(e: Experiment, grid: Grid, data: st.DataObject) -> None:
    with small(grid, 1024):
        t = StreamedTrace(e, "cpu")
        for name in ("raw", "A_masked", "N"):
            head = data.draw(st.sampled_from([*range(e.heads), "mean"]))
            matrix = t.matrix(name, head)
            i, j = data.draw(st.integers(0, e.n_q - 1)), data.draw(st.integers(0, e.n_k - 1))
            alone = matrix.block(slice(i, i + 1), slice(j, j + 1))
            row = matrix.block(slice(i, i + 1), slice(0, e.n_k))
            every = matrix.block(slice(0, e.n_q), slice(0, e.n_k))
            assert alone.tobytes() == row[:, j : j + 1].tobytes() == every[i : i + 1, j : j + 1].tobytes()


@given(experiments(), GRIDS, SIDES, st.data())
@settings(max_examples=30)
def test_before_the_pass_there_is_a_picture_and_rows_can_be_asked_for(
    e: Experiment, grid: Grid, side: int, data: st.DataObject
) -> None:
    right = trace(e)
    assert isinstance(right, DenseTrace)
    with small(grid, side):
        t = StreamedTrace(e, "cpu")
        assert t.part() == 0
        first = picture(t, PictureAsk("N", size=(2, 2)).request(e))
        # of sampled rows, unless so few cells are to be drawn that all of them were computed for it
        assert first.sampled == (t.part() < 1)
        i = data.draw(st.integers(0, e.n_q - 1))
        row = slice(i, i + 1), slice(0, e.n_k)
        tolerance = 4 * max(e.precision.eps, 2.0**-23)
        for head in range(e.heads):
            assert np.allclose(
                t.matrix("N", head).block(*row), right.matrix("N", head).block(*row), rtol=0, atol=tolerance
            )
            assert np.allclose(t.row_sums(head, row[0]), right.row_sums(head, row[0]), rtol=0, atol=tolerance)
        steps = t.passes()
        for _ in range(data.draw(st.integers(0, 3))):
            next(steps, None)
        steps.close()  # cancelled at some moment, and gone on with later
        for name in ("output", "N"):
            for head in range(e.heads) if name == "N" else [None]:
                expected = right.stage(name, head)
                assert np.allclose(
                    t.stage(name, head), expected, rtol=1e-5, atol=2 * tolerance * max(1, np.abs(expected).max())
                )


def test_colours_run_between_the_ends_of_the_whole() -> None:
    e = spiked([(5, 7)])
    with small(SMALL, 64, 4096):
        t = stepped(StreamedTrace(e, "cpu"))
        d = trace(e)
        for stage, diverging in (("N", False), ("A_masked", True)):
            for mapping in ("linear", "row maximum", "without first key", "log"):
                ask = PictureAsk(stage, size=(600, 600), mapping=mapping, diverging=diverging)
                ours, right = picture(t, ask.request(e)), picture(d, ask.request(e))
                assert (ours.low, ours.high) == pytest.approx((right.low, right.high))
                assert np.abs(ours.index.astype(int) - right.index).max() <= 1
                assert ours.index.max() <= LAST_COLOUR


def test_masked_blocks_are_masked() -> None:
    e = Experiment.from_tokens(
        [f"t{k}" for k in range(200)], np.random.default_rng(0).normal(size=(200, 4)), rule=Causal()
    )
    with small(SMALL, 32, 4096):
        t = stepped(StreamedTrace(e, "cpu"))
        drawn = t.matrix("A_masked", 0).drawn(slice(0, 200), slice(0, 200), (25, 25), "max")
        values, allowed = pool(*_block(t), (25, 25), "max")
    assert np.array_equal(drawn.allowed, allowed)
    assert np.array_equal(drawn.values, values)


def _block(t: StreamedTrace) -> tuple[np.ndarray, np.ndarray]:
    every = slice(0, 200), slice(0, 200)
    return t.matrix("A_masked", 0).block(*every), t.matrix("A_masked", 0).allowed(*every)


def test_a_source_of_queries_keys_and_values_is_streamed_alike() -> None:
    random = np.random.default_rng(1)
    Q, K, V = random.normal(size=(2, 50, 4)), random.normal(size=(2, 70, 4)), random.normal(size=(2, 70, 3))
    e = Experiment.from_qkv(Q, K, V)
    assert isinstance(e.source, GivenQKV)
    with small(SMALL, 16, 4096):
        t = StreamedTrace(e, "cpu")
        assert np.allclose(t.stage("output"), trace(e).stage("output"), atol=1e-6)
