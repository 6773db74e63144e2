"""Scores and weights that were given, against a formula of numpy alone: whole, streamed, and out of a mapped file."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any
from unittest.mock import patch

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from attn_gui import Causal, Experiment, ExperimentError, Precision, Scoring, Sigmoid, Trace, trace
from attn_gui.compute.stream.grid import Grid
from attn_gui.compute.stream.trace import StreamedTrace
from attn_gui.model.biases.alibi import ALiBi
from attn_gui.model.mapped import is_mapped
from attn_gui.model.stage_shape import stages_of

DTYPES = st.sampled_from([np.float16, np.float32, np.float64, ml_dtypes.bfloat16, ">f4", np.int16])


@st.composite
def cells(draw: st.DrawFn) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """[heads, n_q, n_k] of any type of number, and values or none."""
    kv_heads, group = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    n_q, n_k, d_v = (draw(st.integers(1, 9)) for _ in range(3))
    random = np.random.RandomState(draw(st.integers(0, 1 << 16)))
    array = (random.normal(0, 3, (kv_heads * group, n_q, n_k))).astype(draw(DTYPES))
    values = random.normal(0, 1, (kv_heads, n_k, d_v)).astype(draw(DTYPES)) if draw(st.booleans()) else None
    return array, values


def traces(e: Experiment) -> list[Trace]:
    """Whole, and streamed on tiny tiles."""
    with (
        patch("attn_gui.compute.stream.scores.grid_for", lambda device: Grid(2, 2, 4)),
        patch("attn_gui.compute.stream.trace.SIDE", 2),
    ):
        streamed = StreamedTrace(e, "cpu")
    for _ in streamed.passes():
        pass
    return [trace(e), streamed]


def softmax(A: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore"):
        powers = np.exp(A - A.max(axis=-1, keepdims=True))
        N: NDArray[np.float64] = np.nan_to_num(powers / powers.sum(axis=-1, keepdims=True))
    return N


def gathered(N: NDArray[Any], V: NDArray[Any]) -> NDArray[Any]:
    each = V.astype(np.float64).repeat(len(N) // len(V), axis=0)
    return np.concatenate(list(N @ each), axis=1)


@settings(max_examples=30)
@given(cells())
def test_given_weights_are_shown_as_they_are_and_gather_the_values(made: tuple[NDArray[Any], Any]) -> None:
    N, V = made
    e = Experiment.from_weights(N, V)
    right = N.astype(np.float64)
    assert stages_of(e) == (("N",) if V is None else ("V", "N", "head_output", "concat", "output"))
    for t in traces(e):
        assert np.array_equal(t.stage("N").astype(np.float64), right)
        assert np.array_equal(t.matrix("N", 0).block(slice(0, e.n_q), slice(0, e.n_k)), right[0])
        mean = t.matrix("N", "mean").block(slice(0, e.n_q), slice(0, e.n_k))
        np.testing.assert_allclose(mean, right.mean(axis=0), atol=8 * e.precision.eps * np.abs(right).max())
        np.testing.assert_allclose(t.row_sums(0), right[0].sum(axis=1), rtol=1e-12, atol=1e-12)
        assert not t.empty_rows("mean").any()
        low, high = t.matrix("N", 0).extent()
        assert high >= right[0].max() and low <= right[0].min()
        if V is not None:
            output = gathered(right, V.astype(t.stage("V").dtype))
            bound = 4 * e.precision.eps * (1 + np.abs(right).sum(axis=-1).max() * np.abs(V.astype(np.float64)).max())
            np.testing.assert_allclose(t.stage("output"), output, atol=bound)


@settings(max_examples=30)
@given(cells(), st.booleans(), st.booleans())
def test_given_scores_are_biased_masked_and_normalised(
    made: tuple[NDArray[Any], Any], causal: bool, biased: bool
) -> None:
    given_scores, V = made
    biases = (ALiBi(),) if biased else ()
    fields = {"rule": Causal("top-left")} if causal else {}
    e = Experiment.from_scores(given_scores, V, precision=Precision.FLOAT64, scoring=Scoring(biases=biases), **fields)
    A = given_scores.astype(np.float64)
    i, j = np.arange(e.n_q)[:, None], np.arange(e.n_k)
    whole = traces(e)[0]
    if biased:
        A = A + whole.stage("bias")
        assert (whole.stage("bias") <= 0).all() and (e.n_k == 1 or whole.stage("bias").any())
    masked = np.where(j <= i, A, -np.inf) if causal else A
    for t in traces(e):
        np.testing.assert_allclose(t.stage("A"), A, atol=1e-12)
        np.testing.assert_allclose(t.stage("A_masked"), masked, atol=1e-12)
        np.testing.assert_allclose(t.stage("N"), softmax(masked), atol=1e-12)
        if V is not None:
            np.testing.assert_allclose(t.stage("output"), gathered(softmax(masked), V), atol=1e-11)


def test_what_acts_before_what_was_given_is_refused_in_words() -> None:
    A = np.zeros((2, 3, 3))
    for make, field in (
        (lambda: Experiment.from_weights(A, rule=Causal("top-left")), "mask"),
        (lambda: Experiment.from_weights(A, scoring=Scoring(normaliser=Sigmoid())), "normaliser"),
        (lambda: Experiment.from_weights(A, scoring=Scoring(biases=(ALiBi(),))), "biases"),
        (lambda: Experiment.from_scores(A, scoring=Scoring(softcap=2.0)), "softcap"),
        (lambda: Experiment.from_scores(A, scoring=Scoring(scale=0.0)), "scale"),
        (lambda: Experiment.from_scores(A, np.zeros((2, 4, 1))), "V"),
        (lambda: Experiment.from_scores(np.zeros((2, 3))[:, :, None, None]), "A"),
        (lambda: Experiment.from_weights(np.array([["a"]])), "N"),
        (lambda: Experiment.from_weights(np.zeros((1, 1), complex)), "N"),
    ):
        with pytest.raises(ExperimentError) as caught:
            make()
        assert caught.value.field == field


def test_a_mapped_file_is_looked_at_and_never_copied_whole(tmp_path: Path) -> None:
    heads, n = 32, 1024
    path = tmp_path / "attn.npy"
    written = np.lib.format.open_memmap(path, "w+", np.float16, (heads, n, n))  # 64 MB
    random = np.random.RandomState(3)
    for head in (0, 31):
        written[head] = random.rand(n, n)
    written.flush()
    mapped = np.load(path, mmap_mode="r")
    tracemalloc.start()
    e = Experiment.from_weights(mapped)
    with patch("attn_gui.compute.stream.trace.SIDE", 64):  # what is kept for pictures is not what is asked here
        t = trace(e)
    assert is_mapped(e.source.parts()["N"]) and isinstance(t, StreamedTrace)
    block = t.matrix("N", 31).block(slice(100, 260), slice(7, 19))
    drawn = t.matrix("N", 31).drawn(slice(0, n), slice(0, n), (256, 256), "mean")
    rows = t.row_sums(0, slice(5, 9))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert np.array_equal(block, written[31, 100:260, 7:19])
    assert drawn.values.shape == (256, 256)
    np.testing.assert_allclose(rows, written[0, 5:9].astype(np.float64).sum(axis=1))
    assert peak < written.nbytes // 2
    assert not list(e.arrays()) or max(array.nbytes for array in e.arrays()) < 1 << 20


def test_a_head_of_131072_tokens_is_read_block_by_block(tmp_path: Path) -> None:
    n = 131_072
    path = tmp_path / "long.npy"
    written = np.lib.format.open_memmap(path, "w+", np.float16, (1, n, n))  # 32 GiB, of which a few pages are there
    written[0, 77_000:77_256, 5] = 0.25
    written[0, 77_000:77_256, 90_000] = 0.5
    names = [str(k) for k in range(n)]
    e = Experiment.from_scores(np.load(path, mmap_mode="r"), tokens=names)
    t = trace(e)
    N = t.matrix("N", 0).block(slice(77_010, 77_012), slice(89_999, 90_002))
    right = np.exp(np.array([0, 0.5, 0])) / (n - 2 + np.exp(0.25) + np.exp(0.5))
    np.testing.assert_allclose(N, np.broadcast_to(right, (2, 3)), rtol=2e-3)
    weights = trace(Experiment.from_weights(np.load(path, mmap_mode="r"), tokens=names))
    assert weights.matrix("N", 0).block(slice(77_255, 77_257), slice(5, 6)).tolist() == [[0.25], [0.0]]
    assert weights.row_sums(0, slice(77_255, 77_257)).tolist() == [0.75, 0.0]
