"""The streamed trace against the reference and against the dense one, on tiny tiles, so that every edge is met."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attn_gui.compute.stream.grid import Grid
from attn_gui.compute.stream.overview import pool_by
from attn_gui.compute.stream.trace import StreamedTrace
from attn_gui.model.errors import TooLarge
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal, MaskRule, Padding, SlidingWindow
from attn_gui.model.precision import Precision
from attn_gui.model.stage_shape import stages_of
from attn_gui.model.trace import Head
from tests.reference import reference
from tests.strategies import experiments

GRIDS = st.sampled_from([Grid(1, 1, 1), Grid(2, 1, 4), Grid(4, 2, 2), Grid(2, 4, 8), Grid(128, 256, 1024)])
# at every place in a tile, across tiles, in the last ones, and of one row or key
WINDOWS = [
    (slice(top, top + tall), slice(left, left + wide))
    for top, tall, left, wide in (
        (0, 1280, 0, 1024),
        (37, 1024, 130, 700),
        (255, 2, 511, 2),
        (700, 1, 0, 1024),
        (701, 60, 3, 61),
        (0, 1280, 1023, 1),
        (1200, 300, 900, 600),
    )
]
SIDES = st.sampled_from([1, 2, 3, 1024])


@contextmanager
def small(grid: Grid, side: int, cells: int = 5, *, fine: bool = False) -> Iterator[None]:
    """Tiles of ``grid``, overviews of ``side`` cells, and few rows at a time.

    fine: windows are cut as finely as can be. By themselves they would not be, for products of so few cells differ in
    their last bit.
    """
    with (
        patch("attn_gui.compute.stream.scores.grid_for", lambda device: grid),
        patch("attn_gui.compute.stream.scores.FINE", Grid(1, 1, grid.segment)),
        patch("attn_gui.compute.stream.scores.alike", lambda *of: fine and grid.rows > 1),
        patch("attn_gui.compute.stream.matrix.PART_ROWS", 3),
        patch("attn_gui.compute.stream.trace.SIDE", side),
        patch("attn_gui.compute.stream.whole_rows.CELLS", cells),
        patch("attn_gui.compute.stream.matrix.CELLS", cells),
        np.errstate(all="raise", under="ignore"),
    ):
        yield


def close(found: np.ndarray, expected: np.ndarray, tolerance: float) -> bool:
    assert found.shape == expected.shape
    finite = np.isfinite(expected)
    return np.array_equal(found[~finite], expected[~finite], equal_nan=True) and bool(
        np.all(np.abs(found[finite].astype(np.float64) - expected[finite]) <= tolerance)
    )


@pytest.mark.parametrize("precision", Precision)
@given(data=st.data(), grid=GRIDS, side=SIDES)
@settings(max_examples=30)
def test_every_stage_is_what_the_formula_gives(
    precision: Precision, data: st.DataObject, grid: Grid, side: int
) -> None:
    e = data.draw(experiments(precision))
    right = reference(e)
    with small(grid, side, fine=True):
        t = StreamedTrace(e, "cpu")
        for name in stages_of(e):
            assert close(t.stage(name), right.stages[name], right.tolerance(e, name)), name
        for head in range(e.heads):
            assert np.array_equal(t.empty_rows(head), ~right.allowed[head].any(axis=1))


@given(experiments(), GRIDS, SIDES)
@settings(max_examples=40)
def test_the_overview_is_the_whole_brought_down(e: Experiment, grid: Grid, side: int) -> None:
    with small(grid, side):
        t = StreamedTrace(e, "cpu")
        heads: list[Head] = [*range(e.heads), "mean"]
        for head in heads:
            for _ in t.passes([head]):
                pass
            assert t.part(head) == 1.0
            every = slice(0, e.n_q), slice(0, e.n_k)
            for name, how in (("A_masked", "max"), ("N", "max"), ("N", "mean")):
                matrix = t.matrix(name, head)
                assert matrix.has_overview(how)
                values, allowed, exact = matrix.overview(how)
                assert exact.all()
                expected, some = pool_by(matrix.block(*every), matrix.allowed(*every), matrix.factors, how)
                assert np.array_equal(allowed, some)
                if name == "A_masked":
                    assert np.array_equal(values, expected)
                else:
                    assert close(values, expected, 4 * max(e.precision.eps, 2.0**-23))


@pytest.mark.parametrize("rule", [MaskRule(), Causal(), SlidingWindow(300), Padding()])
@pytest.mark.parametrize("d_k", [37, 64])
def test_the_pass_meets_the_very_cells_that_windows_show(rule: MaskRule, d_k: int) -> None:
    # at sizes where a product of a part of a tile may be added up in another order
    random = np.random.default_rng(3)
    n = 1500
    Q, K, V = (random.normal(size=(1, n, d_k)) for _ in range(3))
    e = Experiment.from_qkv(Q, K, V, rule=rule)
    t = StreamedTrace(e, "cpu")
    for _ in t.passes():
        pass
    matrix, every = t.matrix("A_masked", 0), (slice(0, n), slice(0, n))
    values, allowed, exact = matrix.overview("max")
    expected, some = pool_by(matrix.block(*every), matrix.allowed(*every), matrix.factors, "max")
    assert exact.all()
    assert np.array_equal(allowed, some)
    assert np.array_equal(values, expected)
    for stage in ("A_masked", "N"):
        matrix = t.matrix(stage, 0)
        whole = matrix.block(*every)
        for rows, keys in WINDOWS:
            assert np.array_equal(matrix.block(rows, keys), whole[rows, keys]), (stage, rows, keys)


def test_a_stage_as_one_array_is_refused_only_for_want_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    e = Experiment.from_tokens([f"t{k}" for k in range(300)], np.random.default_rng(0).normal(size=(300, 4)))
    t = StreamedTrace(e, "cpu")
    assert t.stage("N").shape == (1, 300, 300)
    assert not t.stage("N", 0).flags.writeable
    monkeypatch.setattr("attn_gui.compute.budget.available", lambda device: 4 * 300 * 300 - 1)
    with pytest.raises(TooLarge, match=r"N of 1 x 300 x 300 cells as one array needs 360 kB"):
        t.stage("N")
