"""The numbers of the saturation instrument, by numpy and by torch's own derivatives."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attn_gui.compute.tours.saturation import jacobian_norm, saturation
from tests.tour_claims import entropy, gradient, random_scores, softmax


@pytest.mark.parametrize("d_k", [1, 8, 64, 1024])
@pytest.mark.parametrize("scale", [None, 1.0, 1 / 32])
def test_entropy_gradient_and_spread(d_k: int, scale: float | None) -> None:
    measured = saturation(d_k, scale)
    used = 1 / math.sqrt(d_k) if scale is None else scale
    raw = random_scores(d_k)
    assert measured.scale == used
    assert measured.spread == pytest.approx(raw.std(), rel=1e-9)
    assert measured.entropy == pytest.approx(entropy(used * raw), abs=1e-9)
    assert measured.gradient == pytest.approx(gradient(used * raw), abs=1e-6)
    np.testing.assert_allclose(measured.row, softmax(used * raw)[0], atol=1e-9)
    for k in (0, 40, 80):
        assert measured.entropies[k] == pytest.approx(entropy(measured.scales[k] * raw), abs=1e-9)
        assert measured.gradients[k] == pytest.approx(gradient(measured.scales[k] * raw), abs=1e-6)


@settings(max_examples=25)
@given(st.lists(st.floats(-20, 20), min_size=1, max_size=9))
def test_the_jacobian_s_norm_is_torch_s(scores: list[float]) -> None:
    A = torch.tensor(scores, dtype=torch.float64)
    J = torch.autograd.functional.jacobian(lambda A: torch.softmax(A, dim=-1), A)
    assert float(jacobian_norm(torch.softmax(A, dim=-1))) == pytest.approx(float(torch.linalg.norm(J)), abs=1e-7)
