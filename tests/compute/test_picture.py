"""Pictures: index images against an independent mapping, true ends, what is set apart, windows and pooling."""

from __future__ import annotations

import math
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.compute.picture import picture
from attn_gui.compute.trace import trace
from attn_gui.model.asks import PictureAsk
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal
from attn_gui.model.picture import LAST_COLOUR, LOG_FLOOR, MASKED, NON_FINITE, ColourMapping, Picture, PictureRequest
from attn_gui.model.precision import Precision
from tests.strategies import experiments

MAPPINGS: tuple[ColourMapping, ...] = get_args(ColourMapping)


def taken(e: Experiment, **ask: Any) -> Picture:
    return picture(trace(e), PictureAsk(**ask).request(e))


def right_ends(values: np.ndarray, allowed: np.ndarray, request: PictureRequest) -> tuple[float, float]:
    """The ends of the colour scale, of the whole matrix."""
    if request.mapping in ("fixed 0..1", "row maximum"):
        return 0.0, 1.0
    if request.mapping == "without first key":
        values, allowed = values[:, 1:], allowed[:, 1:]
    counted = [float(v) for v in values[allowed] if math.isfinite(v)] or [0.0]
    low, high = min(counted), max(counted)
    if request.diverging:
        bound = max(-low, high) or 1.0
        return -bound, bound
    if request.mapping == "log":
        return LOG_FLOOR, max(high, 10 * LOG_FLOOR)
    low = min(low, 0.0)
    return low, high if high > low else low + 1


def right_place(value: float, row_top: float, low: float, high: float, request: PictureRequest) -> float:
    """Where on the scale a value lies, 0 to 1."""
    if request.mapping == "row maximum":
        place = value / row_top if row_top > 0 else 0.0
    elif request.mapping == "log" and not request.diverging:
        place = math.log(max(value, LOG_FLOOR) / low) / math.log(high / low)
    else:
        place = (value - low) / (high - low)
    return min(1.0, max(0.0, place))


@given(
    experiments(),
    st.sampled_from(["A_masked", "N", "raw"]),
    st.sampled_from(MAPPINGS),
    st.booleans(),
    st.data(),
)
def test_every_cell_has_the_colour_of_its_value(
    e: Experiment, stage: str, mapping: ColourMapping, diverging: bool, data: st.DataObject
) -> None:
    head = data.draw(st.sampled_from([*range(e.heads), "mean"]))
    top, left = data.draw(st.integers(0, e.n_q - 1)), data.draw(st.integers(0, e.n_k - 1))
    bottom, right = data.draw(st.integers(top + 1, e.n_q)), data.draw(st.integers(left + 1, e.n_k))
    size = data.draw(st.tuples(st.integers(1, 8), st.integers(1, 8)))
    t = trace(e)
    request = PictureAsk(stage, head, (top, bottom, left, right), size, "max", mapping, diverging).request(e)
    shown = picture(t, request)

    matrix = t.matrix(stage, head)
    every = slice(0, e.n_q), slice(0, e.n_k)
    whole, allowed = matrix.block(*every).astype(np.float64), matrix.allowed(*every)
    low, high = right_ends(whole, allowed, request)
    assert (shown.low, shown.high) == (low, high)

    height, width = bottom - top, right - left
    out = min(height, size[0]), min(width, size[1])
    assert shown.index.shape == shown.values.shape == out
    assert shown.index.dtype == np.uint8
    assert shown.exact == (out == (height, width))
    for r in range(out[0]):
        rows = slice(top + r * height // out[0], top + (r + 1) * height // out[0])
        counted = whole[rows][allowed[rows]]
        row_top = max((v for v in counted if math.isfinite(v)), default=0.0)
        for c in range(out[1]):
            columns = slice(left + c * width // out[1], left + (c + 1) * width // out[1])
            cells = whole[rows, columns][allowed[rows, columns]]
            if not cells.size:
                assert shown.index[r, c] == MASKED
                continue
            value = float(cells.max())
            assert shown.values[r, c] == value
            place = right_place(value, row_top, low, high, request) * LAST_COLOUR
            assert abs(int(shown.index[r, c]) - place) <= 0.5 + 1e-3 * LAST_COLOUR


@pytest.mark.parametrize("precision", Precision)
@pytest.mark.parametrize("stage", ["A_masked", "N"])
def test_the_ends_of_the_scale_are_the_true_ends(precision: Precision, stage: str) -> None:
    random = np.random.RandomState(5)
    e = Experiment.from_tokens("abcdefgh", random.standard_normal((8, 3)), rule=Causal(), precision=precision)
    values = trace(e).stage(stage, 0).astype(np.float64)
    values = values[np.tril(np.ones((8, 8), bool))]
    shown = taken(e, stage=stage, diverging=stage == "A_masked")
    assert shown.high == (max(values.max(), -values.min()) if stage == "A_masked" else values.max())
    assert shown.low == (-shown.high if stage == "A_masked" else 0.0)
    assert shown.index[shown.index <= LAST_COLOUR].max() == LAST_COLOUR or -values.min() > values.max()


def test_zero_lies_in_the_middle_of_a_diverging_scale() -> None:
    e = Experiment.from_qkv([[1.0], [-3.0], [0.0]], [[1.0]], [[1.0]])
    shown = taken(e, stage="A_masked", diverging=True)
    assert shown.index[:, 0].tolist() == [169, 0, 127]


def test_masked_cells_and_odd_numbers_are_set_apart() -> None:
    K = np.array([[1.0], [np.nan], [np.inf], [2.0]])
    e = Experiment.from_qkv(np.ones((4, 1)), K, K, rule=Causal())
    shown = taken(e, stage="A_masked", diverging=True)
    M, F = MASKED, NON_FINITE
    special = np.where(shown.index > LAST_COLOUR, shown.index, 0)
    assert special.tolist() == [[0, M, M, M], [0, F, M, M], [0, F, F, M], [0, F, F, 0]]
    assert (shown.low, shown.high) == (-2.0, 2.0)


def test_an_odd_number_is_seen_in_a_pooled_picture() -> None:
    V = np.ones((40, 2))
    K = np.ones((40, 1))
    K[17] = -np.inf  # less than any other, and still seen where the largest value is shown
    shown = taken(Experiment.from_qkv(np.ones((40, 1)), K, V), stage="A", size=(5, 5))
    assert not shown.exact
    assert (shown.index == NON_FINITE).tolist() == [[c == 17 // 8 for c in range(5)]] * 5


@pytest.mark.parametrize("mapping", MAPPINGS)
def test_a_matrix_without_numbers_has_a_picture(mapping: ColourMapping) -> None:
    nothing = Experiment.from_qkv(np.full((2, 1), np.nan), np.ones((2, 1)), np.ones((2, 1)))
    assert (taken(nothing, stage="N", mapping=mapping).index == NON_FINITE).all()
    one = Experiment.from_qkv([[1.0]], [[1.0]], [[1.0]])
    assert taken(one, stage="N", mapping=mapping).index.shape == (1, 1)


@pytest.mark.parametrize("size", [1e-300, 1e-40, 1e-20, 1e20, 1e40, 1e300, 1.7e308])
def test_scales_of_any_size(size: float) -> None:
    Q = np.array([[-1.0], [0.0], [0.5], [1.0]]) * size
    e = Experiment.from_qkv(Q, [[1.0]], [[1.0]], precision=Precision.FLOAT64)
    shown = taken(e, stage="A_masked", diverging=True)
    assert shown.index[:, 0].tolist() == [0, 127, 190, 253]


def test_the_scale_stays_while_one_moves_about() -> None:
    random = np.random.RandomState(0)
    e = Experiment.from_tokens([f"t{i}" for i in range(30)], random.standard_normal((30, 4)))
    for mapping in MAPPINGS:
        whole = taken(e, stage="N", mapping=mapping)
        part = taken(e, stage="N", mapping=mapping, window=(10, 20, 5, 9))
        assert (part.low, part.high) == (whole.low, whole.high)
        assert np.array_equal(part.index, whole.index[10:20, 5:9])


@pytest.mark.parametrize("pooling", ["max", "min", "mean"])
def test_pooled_windows(pooling: Any) -> None:
    random = np.random.RandomState(2)
    e = Experiment.from_tokens([f"t{i}" for i in range(37)], random.standard_normal((37, 4)))
    t = trace(e)
    shown = taken(e, stage="N", window=(3, 30, 0, 37), size=(9, 100), pooling=pooling)
    values = t.stage("N", 0)[3:30].reshape(9, 3, 37)
    np.testing.assert_allclose(shown.values, getattr(values, pooling)(axis=1), rtol=1e-6)
    assert (shown.low, shown.high) == (0.0, float(t.stage("N", 0).max()))


def test_a_picture_of_no_size_has_one_cell() -> None:
    e = Experiment.from_tokens("abc", np.eye(3))
    assert taken(e, stage="N", size=(0, 0)).index.shape == (1, 1)


def test_windows_are_brought_within_the_matrix() -> None:
    e = Experiment.from_tokens("abc", np.eye(3))
    request = PictureAsk("N", 7, (-4, 99, 5, 2)).request(e)
    assert (request.head, request.rows, request.columns) == (0, (0, 3), (2, 3))
