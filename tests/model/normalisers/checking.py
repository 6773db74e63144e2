"""Ways to hold a normaliser against its definition."""

from __future__ import annotations

from typing import Any

import array_api_compat.numpy as xnp
import array_api_compat.torch as xt
import numpy as np
import torch
from hypothesis import strategies as st

from attn_gui.model.normalisers import Normaliser

Array = np.ndarray[Any, Any]

scores = st.lists(st.floats(-6, 6), min_size=1, max_size=9).map(np.array)


def weights(normaliser: Normaliser, A: Any) -> Array:
    """The weights of ``A`` by numpy, in float64."""
    return normaliser.weights(np.asarray(A, dtype=np.float64), xnp)


def jacobian(normaliser: Normaliser, row: Array, step: float = 1e-6) -> Array:
    """How each weight changes with each score, by central differences: [weights, scores]."""
    columns = []
    for k in range(len(row)):
        nudge = np.zeros(len(row))
        nudge[k] = step
        columns.append((weights(normaliser, [row + nudge])[0] - weights(normaliser, [row - nudge])[0]) / (2 * step))
    return np.stack(columns, axis=1)


def check_libraries_agree(normaliser: Normaliser, A: Array) -> None:
    """numpy and torch give the same weights, in float64 and in float32, with several axes and with masked cells."""
    for dtype, tolerance in ((np.float64, 1e-14), (np.float32, 1e-6)):
        given = A.astype(dtype)
        found = normaliser.weights(given, xnp)
        there = normaliser.weights(torch.tensor(given), xt)
        assert found.dtype == dtype
        assert there.dtype is (torch.float64 if dtype is np.float64 else torch.float32)
        np.testing.assert_allclose(there.numpy(), found, atol=tolerance)
        assert (found[np.isneginf(A)] == 0).all()
        assert (found >= 0).all()


@st.composite
def masked(draw: st.DrawFn) -> Array:
    """Scores [heads, n_q, n_k] with -inf in some places, never in all of a row."""
    shape = draw(st.tuples(st.integers(1, 2), st.integers(1, 3), st.integers(1, 7)))
    random = np.random.RandomState(draw(st.integers(0, 2**32 - 1)))
    A = random.standard_normal(shape) * draw(st.sampled_from([0.01, 1.0, 5.0]))
    allowed = random.uniform(size=shape) < draw(st.sampled_from([0.5, 1.0]))
    allowed[..., random.randint(shape[-1])] = True
    return np.where(allowed, A, -np.inf)
