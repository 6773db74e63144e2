"""QK-norms against torch's own, and what a norm is for."""

from __future__ import annotations

import array_api_compat.numpy as xnp
import array_api_compat.torch as xt
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from attn_gui.model.errors import ExperimentError
from attn_gui.model.qk_norm import QKNorm
from attn_gui.model.qk_norm.l2_norm import L2Norm
from attn_gui.model.qk_norm.layer_norm import LayerNorm
from attn_gui.model.qk_norm.rms_norm import RMSNorm


@given(st.integers(0, 1000), st.integers(1, 8), st.sampled_from([1e-6, 1e-3, 0.5]), st.sampled_from([1e-4, 1.0, 1e3]))
def test_each_is_what_torch_has(seed: int, d: int, eps: float, size: float) -> None:
    rows = np.random.RandomState(seed).standard_normal((2, 3, d)) * size
    there = torch.tensor(rows)
    pairs: list[tuple[QKNorm, torch.Tensor]] = [
        (RMSNorm(eps), functional.rms_norm(there, (d,), eps=eps)),
        (LayerNorm(eps), functional.layer_norm(there, (d,), eps=eps)),
        (L2Norm(eps), functional.normalize(there, dim=-1, eps=eps)),
    ]
    for norm, expected in pairs:
        np.testing.assert_allclose(norm.normalised(rows, xnp), expected, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(norm.normalised(there, xt), expected, rtol=1e-10, atol=1e-12)


def test_known_values() -> None:
    row = np.array([[3.0, 4.0]])
    np.testing.assert_allclose(L2Norm(0.0).normalised(row, xnp), [[0.6, 0.8]])
    np.testing.assert_allclose(RMSNorm(0.0).normalised(row, xnp), row / np.sqrt(12.5))
    np.testing.assert_allclose(LayerNorm(0.0).normalised(row, xnp), [[-1, 1]])
    assert L2Norm().normalised(np.zeros((1, 2)), xnp).tolist() == [[0, 0]]


def test_gains_are_those_of_the_head() -> None:
    RMSNorm(gain_q=np.ones(3)).check_fits(3)
    with pytest.raises(ExperimentError, match=r"qk_norm rms gain_k: expected shape \(4,\), received \(3,\)"):
        RMSNorm(gain_q=np.ones(4), gain_k=np.ones(3)).check_fits(4)
