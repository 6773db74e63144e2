"""Given weights looked up where they lie: as the trace has them, to the last bit."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from attn_gui.compute.given_matrix import GivenMatrix, GivenTrace, looked_up
from attn_gui.compute.layer_traces import LayerTraces
from attn_gui.compute.pooling import pool
from attn_gui.compute.trace import trace
from attn_gui.model.experiment import Experiment
from attn_gui.model.precision import Precision

TYPES = [np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64), np.dtype(ml_dtypes.bfloat16)]
KINDS = [*TYPES, np.dtype(np.float32).newbyteorder(), np.dtype(np.uint8)]


def result_of(steps: Generator[float, None, Any]) -> Any:
    while True:
        try:
            next(steps)
        except StopIteration as finished:
            return finished.value


def odd_numbers() -> st.SearchStrategy[float]:
    return st.floats(0, 1, width=16) | st.sampled_from([-0.5, -0.0, 0.25, np.inf, -np.inf, np.nan])


@settings(max_examples=60)
@given(
    st.data(),
    st.sampled_from(KINDS),
    hnp.array_shapes(min_dims=2, max_dims=2, max_side=9),
    st.booleans(),
    st.sampled_from(["max", "min", "mean"]),
)
def test_pooled_as_any_matrix_is(
    data: st.DataObject, dtype: np.dtype, shape: tuple[int, int], odd: bool, how: str
) -> None:
    plain = hnp.arrays(
        np.float64, shape, elements=odd_numbers() if odd and dtype.kind != "u" else st.sampled_from([0, 0.5, 1])
    )
    with np.errstate(invalid="ignore"):
        values = data.draw(plain).astype(dtype)
    values.flags.writeable = False
    matrix = GivenMatrix(shape, lambda rows, columns: values[rows, columns])
    height, width = data.draw(st.integers(1, shape[0])), data.draw(st.integers(1, shape[1]))
    out = data.draw(st.integers(1, height)), data.draw(st.integers(1, width))
    top, left = data.draw(st.integers(0, shape[0] - height)), data.draw(st.integers(0, shape[1] - width))
    rows, columns = slice(top, top + height), slice(left, left + width)
    wide = values.astype(np.float64)
    found, allowed = matrix.pooled(rows, columns, out, how)  # type: ignore[arg-type]
    expected, _ = pool(wide[rows, columns], None, out, how)  # type: ignore[arg-type]
    assert allowed.all()
    np.testing.assert_allclose(found.astype(np.float64), expected, rtol=1e-2 if how == "mean" else 0)
    assert np.array_equal(matrix.block(rows, columns).astype(np.float64), wide[rows, columns], equal_nan=True)
    for first in (0, 1):
        finite = wide[:, first:][np.isfinite(wide[:, first:])]
        assert matrix.extent(first) == ((finite.min(), finite.max()) if finite.size else (0.0, 0.0))


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_heads_and_mean_are_those_of_the_trace(dtype: np.dtype) -> None:
    N = np.random.default_rng(0).random((3, 130, 70)).astype(dtype)
    e = Experiment.from_weights(N)
    given_trace, whole = result_of(LayerTraces("cpu").of(e)), trace(e)
    assert isinstance(given_trace, GivenTrace)
    everything = slice(0, 130), slice(0, 70)
    for head in (0, 1, 2, "mean"):
        ours, theirs = given_trace.matrix("N", head), whole.matrix("N", head)
        assert ours.shape == theirs.shape
        assert np.array_equal(ours.block(*everything), theirs.block(*everything))
        assert ours.extent() == theirs.extent()
        assert np.array_equal(ours.row_tops(slice(3, 9)), theirs.row_tops(slice(3, 9)))
        assert ours.allowed(*everything).all()
    assert np.array_equal(given_trace.row_sums(1), whole.row_sums(1))
    assert np.array_equal(given_trace.stage("N"), whole.stage("N"))


def test_the_mean_comes_in_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attn_gui.compute.given_matrix.CACHED", 20)
    N = np.random.default_rng(0).random((2, 5, 10))
    matrix = result_of(LayerTraces("cpu").of(Experiment.from_weights(N))).matrix("N", "mean")
    assert list(matrix.begun("max")) == [0.4, 0.8, 1.0]
    assert list(matrix.begun("max")) == []
    np.testing.assert_allclose(matrix.block(slice(0, 5), slice(0, 10)), N.mean(axis=0), rtol=1e-15)


def test_what_is_rounded_or_computed_is_traced(tmp_path: Path) -> None:
    N = np.random.default_rng(0).random((1, 4, 4))
    assert looked_up(Experiment.from_weights(N)) is not None
    assert looked_up(Experiment.from_weights(N, precision=Precision.FLOAT32)) is None
    assert looked_up(Experiment.from_scores(N)) is None
    e = Experiment.from_weights(N, precision=Precision.BFLOAT16)
    assert not isinstance(result_of(LayerTraces("cpu").of(e)), GivenTrace)


def test_a_layer_is_traced_once_and_few_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = (Experiment.from_scores(np.zeros((1, 3, 3))) for _ in range(2))
    shown = trace(one)
    traces = LayerTraces("cpu", shown=shown)
    assert result_of(traces.of(one)) is shown
    first = result_of(traces.of(two))
    assert result_of(traces.of(two)) is first
    traces.shown = None
    monkeypatch.setattr("attn_gui.compute.layer_traces.KEPT", 1)
    result_of(traces.of(one))
    assert result_of(traces.of(two)) is not first
