"""Scores so far apart that many weights are subnormal or 0, and masked scores that are far above the others."""

from __future__ import annotations

import threading
from unittest.mock import patch

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attn_gui.compute.numbers import filled, without_subnormals
from attn_gui.compute.stream.grid import Grid
from attn_gui.compute.stream.trace import StreamedTrace
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal, Imported, MaskRule
from attn_gui.model.normalisers import Normaliser
from attn_gui.model.normalisers.softmax import Softmax
from attn_gui.model.normalisers.softmax_one import SoftmaxOne
from attn_gui.model.scoring import Scoring

N, SIZE = 1100, 8
SUBNORMAL = 1e-40


def parts(by: float) -> list[np.ndarray]:
    """Q, K and V, [n, SIZE] each, float32."""
    random = np.random.default_rng(0)
    Q, K, V = (random.standard_normal((N, SIZE)).astype(np.float32) for _ in range(3))
    return [Q * np.float32(by), K, V]


def exact(rule: MaskRule, by: float) -> tuple[np.ndarray, np.ndarray]:
    """Weights and output in float64, [n, n] and [n, SIZE]."""
    Q, K, V = (part.astype(np.float64) for part in parts(by))
    A = Q @ K.T / np.sqrt(SIZE)
    if isinstance(rule, Causal):
        A[~np.tri(N, dtype=bool)] = -np.inf
    P = np.exp(A - A.max(axis=1, keepdims=True))
    weights = P / P.sum(axis=1, keepdims=True)
    return weights, weights @ V


@pytest.mark.parametrize("rule", [MaskRule(), Causal()])
def test_a_pass_over_scores_far_apart_is_right_and_its_windows_keep_the_smallest_weights(rule: MaskRule) -> None:
    trace = StreamedTrace(Experiment.from_qkv(*(part[None] for part in parts(30.0)), rule=rule), "cpu")
    for _ in trace.passes():
        pass
    weights, output = exact(rule, 30.0)
    assert ((weights > 0) & (weights < np.finfo(np.float32).tiny)).mean() > 0.02
    found = trace.matrix("N", 0).block(slice(0, N), slice(0, N))
    np.testing.assert_allclose(found, weights, rtol=2e-4, atol=2e-7)
    subnormal = (weights > SUBNORMAL) & (weights < 1e-38)
    np.testing.assert_allclose(found[subnormal], weights[subnormal], rtol=1e-2)
    np.testing.assert_allclose(trace.stage("head_output", 0), output, atol=1e-4)  # scores of 300 are right to 2e-5


@given(
    at=st.sampled_from([-2000.0, -205.0, -95.0, -60.0, 0.0, 60.0, 300.0]),
    step=st.sampled_from([-150.0, -50.0, 0.0, 30.0, 90.0]),
    masked=st.sampled_from(["nothing", "causal", "documents", "late"]),
    normaliser=st.sampled_from([Softmax(), SoftmaxOne()]),
    segment=st.sampled_from([16, 64]),
)
@settings(max_examples=60)
def test_wherever_the_scores_lie_and_whenever_a_row_begins(
    at: float, step: float, masked: str, normaliser: Normaliser, segment: int
) -> None:
    """Scores about ``at``, and ``step`` higher from document to document of the keys."""
    n = 96
    random = np.random.default_rng(0)
    document = np.arange(n) // 24
    Q, K, V = (random.standard_normal((1, n, 4)).astype(np.float32) for _ in range(3))
    Q[..., 0], K[0, :, 0] = 2.0, at + step * document  # over a root of 4
    allowed = {
        "nothing": np.ones((n, n), bool),
        "causal": np.tri(n, dtype=bool),
        "documents": document[:, None] == document,
        "late": np.arange(n) >= np.arange(n)[:, None],
    }[masked]
    scoring = Scoring(normaliser=normaliser)
    with patch("attn_gui.compute.stream.scores.grid_for", lambda device: Grid(16, 16, segment)):
        trace = StreamedTrace(Experiment.from_qkv(Q, K, V, rule=Imported(allowed), scoring=scoring), "cpu")
        for _ in trace.passes():
            pass
        weights, output = trace.matrix("N", 0).block(slice(0, n), slice(0, n)), trace.stage("head_output", 0)
    A = np.where(allowed, Q[0].astype(np.float64) @ K[0].T.astype(np.float64) / 2, -np.inf)
    beside = [0.0] if isinstance(normaliser, SoftmaxOne) else []
    top = np.max(np.stack([A.max(axis=1), *(np.full(n, each) for each in beside)]), axis=0)[:, None]
    P = np.exp(A - top)
    expected = P / (P.sum(axis=1, keepdims=True) + sum(np.exp(each - top) for each in beside))
    tolerance = 1e-6 * max(4.0, float(np.abs(A[allowed]).max()))
    np.testing.assert_allclose(weights, expected, atol=tolerance)
    np.testing.assert_allclose(output, expected @ V[0], atol=4 * tolerance)
    np.testing.assert_allclose(trace.row_sums(0), expected.sum(axis=1), atol=tolerance)


@pytest.mark.parametrize("high", [3e38, 200.0])
def test_masked_scores_far_above_the_others_weigh_nothing(high: float) -> None:
    Q, K, V = parts(1.0)
    K[-1] = np.sign(Q[5]) * high  # a key that only the last query may attend to
    e = Experiment.from_qkv(Q[None], K[None], V[None], rule=Causal())
    found = StreamedTrace(e, "cpu").matrix("N", 0).block(slice(0, 64), slice(0, N))
    assert not found[~np.tri(64, N, dtype=bool)].any()
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-5)


def test_subnormal_numbers_are_0_only_within_and_only_in_this_thread() -> None:
    def product() -> float:
        return float(torch.tensor(SUBNORMAL) * 0.5)

    elsewhere: list[float] = []
    begun, go = threading.Event(), threading.Event()

    def beside() -> None:
        begun.set()
        go.wait()
        elsewhere.append(product())

    thread = threading.Thread(target=beside)
    thread.start()
    begun.wait()
    with without_subnormals():
        assert product() == 0.0
        go.set()
        thread.join()
    assert product() > 0.0
    assert elsewhere[0] > 0.0


def test_after_an_error_subnormal_numbers_are_there_again() -> None:
    with pytest.raises(ValueError, match="on the way"), without_subnormals():
        raise ValueError("on the way")
    assert float(torch.tensor(SUBNORMAL) * 0.5) > 0.0


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("turned", [False, True])
def test_filled(dtype: torch.dtype, turned: bool) -> None:
    block = torch.full((3, 5), torch.nan, dtype=dtype)
    where = torch.arange(15).view(3, 5) % 2 == 0
    if turned:
        block, where = block.t(), where.t()
    assert filled(block, where, 0.0) is block
    assert torch.equal(block.isnan(), ~where)
    assert torch.equal(block == 0, where)
