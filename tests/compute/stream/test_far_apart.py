"""Scores so far apart that many weights are subnormal or 0, and masked scores that are far above the others."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import torch

from attn_gui.compute.numbers import filled, without_subnormals
from attn_gui.compute.stream.trace import StreamedTrace
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal, MaskRule

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
