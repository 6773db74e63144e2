"""trace against the independent reference, on random experiments."""

from __future__ import annotations

import math
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attn_gui.compute.trace import DenseTrace, trace, trace_steps
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal
from attn_gui.model.painted import Painted, Rectangle
from attn_gui.model.precision import Precision
from attn_gui.model.scoring import Scoring
from attn_gui.model.stage_shape import stages_of
from attn_gui.model.stages import STAGES
from attn_gui.model.weights import Weights
from tests.reference import reference, rounded
from tests.strategies import experiments

BLOCKS = st.sampled_from([1, 7, 20, 1 << 19])


def square(e: Experiment) -> list[str]:
    return [name for name in stages_of(e) if STAGES[name].square]


def traced(e: Experiment, block_cells: int) -> DenseTrace:
    with patch("attn_gui.compute.dense.BLOCK_CELLS", block_cells):
        return trace(e)


def close(found: np.ndarray, expected: np.ndarray, tolerance: float) -> bool:
    """Whether two arrays agree, infinities exactly."""
    assert found.shape == expected.shape
    finite = np.isfinite(expected)
    same_elsewhere = np.array_equal(found[~finite], expected[~finite])
    return same_elsewhere and bool(np.all(np.abs(found[finite] - expected[finite]) <= tolerance))


@pytest.mark.parametrize("precision", Precision)
@given(data=st.data(), block_cells=BLOCKS)
@settings(max_examples=60)
def test_every_stage_is_what_the_formula_gives(precision: Precision, data: st.DataObject, block_cells: int) -> None:
    e = data.draw(experiments(precision))
    t = traced(e, block_cells)
    right = reference(e)
    for name in stages_of(e):
        stage = STAGES[name]
        expected, tolerance = right.stages[name], right.tolerance(e, name)
        assert close(t.stage(name).astype(np.float64), expected, tolerance), name
        if stage.per_head:
            for head in range(e.heads):
                assert close(t.stage(name, head).astype(np.float64), expected[head], tolerance), (name, head)


@given(experiments(Precision.FLOAT32))
def test_float32_weights_keep_to_the_bound_against_a_wholly_float64_computation(e: Experiment) -> None:
    # a norm stretches what small vectors were rounded by, which the bound by lengths does not know of
    e = replace(e, scoring=replace(e.scoring, qk_norm=None))
    narrow = trace(e).stage("N").astype(np.float64)
    right = reference(replace(e, precision=Precision.FLOAT64))
    size = right.magnitudes
    bound = 4 * 2.0**-23 * max(4.0, abs(e.scale) * size["norms"], size["bias"])
    assert np.abs(narrow - right.stages["N"]).max() <= bound


@given(experiments(), BLOCKS)
def test_rows_sum_to_one_or_to_zero(e: Experiment, block_cells: int) -> None:
    t = traced(e, block_cells)
    empty = ~reference(e).allowed.any(axis=2)  # [heads, n_q]
    bound = e.precision.eps * (2 + math.log2(e.n_k))
    for head in range(e.heads):
        sums = t.row_sums(head)
        exact = np.array([math.fsum(row) for row in t.stage("N", head).astype(np.float64)])
        assert (np.abs(sums - exact) <= 2**-52 * math.log2(2 * e.n_k) * np.maximum(exact, 1)).all()
        assert (sums[empty[head]] == 0).all()
        if e.scoring.sums_to_one:
            assert (np.abs(sums[~empty[head]] - 1) <= bound).all()
    assert np.allclose(t.row_sums("mean"), np.mean([t.row_sums(h) for h in range(e.heads)], axis=0), rtol=1e-15)


@given(experiments())
def test_masked_cells_get_nothing(e: Experiment) -> None:
    t = trace(e)
    allowed = reference(e).allowed
    for head in range(e.heads):
        shut, open_ = ~allowed[head], allowed[head]
        assert (t.stage("N", head)[shut] == 0).all()
        assert np.isneginf(t.stage("A_masked", head)[shut]).all()
        assert np.array_equal(t.stage("A_masked", head)[open_], t.stage("A", head)[open_])
        assert np.isfinite(t.stage("A", head)).all()
        assert np.array_equal(t.matrix("A", head).allowed(slice(0, e.n_q), slice(0, e.n_k)), open_)
    assert np.array_equal(t.matrix("A", "mean").allowed(slice(0, e.n_q), slice(0, e.n_k)), allowed.any(axis=0))


@given(experiments(sources=("tokens",)), st.integers(0, 6))
def test_a_fully_masked_row_is_the_output_bias(e: Experiment, row: int) -> None:
    row %= e.n_q
    painted = Painted((*e.painted.rectangles, Rectangle(row, row + 1, 0, e.n_k, False)))
    e = replace(e, painted=painted)
    t = trace(e)
    bias = None if e.weights is None else e.weights.b_O
    expected = np.zeros(t.stage("output").shape[1]) if bias is None else rounded(bias.array()[0], e.precision)
    assert np.array_equal(t.stage("output")[row].astype(np.float64), expected)
    assert (t.stage("N")[:, row] == 0).all()
    assert (t.stage("head_output")[:, row] == 0).all()


@given(experiments(), st.data())
def test_a_cell_has_one_value_whoever_asks(e: Experiment, data: st.DataObject) -> None:
    t = traced(e, 7)
    i, j = data.draw(st.integers(0, e.n_q - 1)), data.draw(st.integers(0, e.n_k - 1))
    for name in square(e):
        for head in (*range(e.heads), "mean"):
            matrix = t.matrix(name, head)
            whole = matrix.block(slice(0, e.n_q), slice(0, e.n_k))
            assert np.array_equal(matrix.block(slice(i, e.n_q), slice(j, e.n_k)), whole[i:, j:])
            assert np.array_equal(matrix.block(slice(i, i + 1), slice(j, j + 1)), whole[i : i + 1, j : j + 1])
            if head != "mean":
                assert np.array_equal(t.stage(name, head), whole)


def test_the_scaled_scores_shown_are_those_that_A_is_made_of() -> None:
    random = np.random.RandomState(0)
    Q, K, V = (random.standard_normal((2, 70, 24)) for _ in range(3))
    t = traced(Experiment.from_qkv(Q, K, V), 500)
    scale = np.float32(1 / math.sqrt(24))
    for head in range(2):
        rows = [t.matrix("raw", head).block(slice(i, i + 1), slice(0, 70)) for i in range(70)]
        assert np.array_equal(np.concatenate(rows) * scale, t.stage("A", head))


@given(experiments())
def test_the_mean_over_heads(e: Experiment) -> None:
    t = trace(e)
    right = reference(e)
    every = slice(0, e.n_q), slice(0, e.n_k)
    anywhere = right.allowed.any(axis=0)
    for name in square(e):
        expected = right.stages[name].mean(axis=0)
        if name == "A_masked":
            # a cell that some head may look at shows the mean of the scores, whichever head may
            expected = np.where(anywhere, right.stages["A"].mean(axis=0), -np.inf)
        largest = np.abs(expected[np.isfinite(expected)]).max(initial=1)
        tolerance = right.tolerance(e, name) + 2 * e.precision.eps * largest
        assert close(t.matrix(name, "mean").block(*every).astype(np.float64), expected, tolerance), name


def test_stages_are_one_array_without_softcap() -> None:
    t = trace(Experiment.from_tokens("abc", np.eye(3)))
    assert np.shares_memory(t.stage("A", 0), t.stage("capped", 0))
    assert np.shares_memory(t.stage("A", 0), t.stage("scaled", 0))


def test_what_a_trace_shows_cannot_be_changed() -> None:
    t = trace(Experiment.from_tokens("abc", np.eye(3)))
    for name in ("N", "A", "output", "Q"):
        with pytest.raises(ValueError, match="read-only"):
            t.stage(name, 0)[0, 0] = 5
    with pytest.raises(ValueError, match="read-only"):
        t.row_sums(0)[0] = 5


def test_names_and_heads_that_are_not_there() -> None:
    t = trace(Experiment.from_tokens("abc", np.eye(3)))
    for name in ("M", "context"):
        with pytest.raises(KeyError, match=f"'{name}' is no stage .* has X, Q, K, V, raw, .*, output"):
            t.stage(name)
    for name in ("Q", "M"):
        with pytest.raises(KeyError, match=f"'{name}' is no stage of queries x keys; these are raw, .*, N"):
            t.matrix(name, 0)
    given = trace(Experiment.from_qkv(np.eye(2), np.eye(2), np.eye(2)))
    with pytest.raises(KeyError, match="'X' is no stage"):
        given.stage("X")
    for name in ("N", "Q", "raw"):
        with pytest.raises(IndexError):
            t.stage(name, 1)
    with pytest.raises(IndexError):
        t.matrix("N", 1)


def test_softcap_keeps_scores_within_its_bound() -> None:
    e = Experiment.from_tokens("ab", [[100.0, 0], [0, -100.0]], scoring=Scoring(softcap=5.0))
    t = trace(e)
    assert np.abs(t.stage("A", 0)).max() == 5
    assert t.stage("scaled", 0).max() > 7000


def test_steps_tell_the_part_done_and_end_with_all_of_it() -> None:
    e = Experiment.from_tokens("abcdef", np.eye(6), heads=2)
    with patch("attn_gui.compute.dense.BLOCK_CELLS", 12):
        steps = trace_steps(e)
        parts = []
        while True:
            try:
                parts.append(next(steps))
            except StopIteration as finished:
                t = finished.value
                break
    assert len(parts) == 6
    assert parts == sorted(parts)
    assert parts[-1] == 1.0
    assert np.array_equal(t.stage("output"), trace(e).stage("output"))


def test_values_that_are_not_finite_stay_where_they_arose() -> None:
    K = np.eye(3)
    K[1] = [np.nan, 0, 0]
    e = Experiment.from_qkv(np.eye(3), K, np.arange(6.0).reshape(3, 2), rule=Causal())
    t = trace(e)
    assert np.isnan(t.stage("A", 0)[:, 1]).all()
    assert np.isfinite(t.stage("N", 0)[0]).all()  # the first query may not look at the second key
    assert np.isnan(t.stage("N", 0)[1, :2]).all()
    assert t.stage("N", 0)[0].tolist() == [1, 0, 0]


@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_a_fully_masked_row_is_zero_even_where_values_are_not_finite(odd: float) -> None:
    V = np.full((2, 2), odd)
    e = Experiment.from_qkv(np.eye(2), np.eye(2), V, painted=Painted((Rectangle(0, 1, 0, 2, False),)))
    output = trace(e).stage("output")
    assert output[0].tolist() == [0, 0]
    assert not np.isfinite(output[1]).any()


@pytest.mark.parametrize("precision", [Precision.FLOAT16, Precision.BFLOAT16])
@given(st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=8), st.integers(-300, 300))
def test_typed_numbers_are_rounded_once(precision: Precision, values: list[float], nudge: int) -> None:
    bits = {Precision.FLOAT16: 11, Precision.BFLOAT16: 8}[precision]
    middle = (1 + 2.0**-bits) * (1 + nudge * 2.0**-50)  # beside the middle of two neighbours
    X = np.array([[*values, middle, -middle]])
    e = Experiment.from_tokens("a", X, precision=precision)
    assert np.array_equal(trace(e).stage("X").astype(np.float64), rounded(X, precision))


def test_numbers_beyond_a_precision_become_infinite() -> None:
    for precision in (Precision.FLOAT32, Precision.BFLOAT16, Precision.FLOAT16):
        e = Experiment.from_tokens("a", [[1e300, -1e300, 1.0]], precision=precision)
        assert trace(e).stage("X").tolist() == [[np.inf, -np.inf, 1.0]]


def test_heads_take_the_columns_side_by_side() -> None:
    X = np.arange(8.0).reshape(2, 4)
    eye = np.eye(4)
    t = trace(Experiment.from_tokens("ab", X, Weights.of(eye, eye, eye, eye), heads=2))
    assert np.array_equal(t.stage("Q", 0), X[:, :2])
    assert np.array_equal(t.stage("Q", 1), X[:, 2:])


def test_query_heads_share_kv_heads_in_groups() -> None:
    random = np.random.RandomState(1)
    Q, K, V = random.standard_normal((4, 3, 2)), random.standard_normal((2, 3, 2)), random.standard_normal((2, 3, 2))
    t = trace(Experiment.from_qkv(Q, K, V))
    assert [int(np.argmin(np.abs(K[:, 0, 0] - t.stage("K", h)[0, 0]))) for h in range(4)] == [0, 0, 1, 1]


def test_kv_heads_that_do_not_divide_are_refused() -> None:
    with pytest.raises(ExperimentError, match="kv_heads: expected a divisor of the 3 query heads, received 2"):
        Experiment.from_qkv(np.ones((3, 2, 2)), np.ones((2, 2, 2)), np.ones((2, 2, 2)))
