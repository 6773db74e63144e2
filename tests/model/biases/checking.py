"""The values of a bias for every head, query and key, by numpy and by torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from attn_gui.model.biases import Bias
from attn_gui.model.masks import Columns

Array = np.ndarray[Any, Any]


def values(bias: Bias, n_q: int, n_k: int, offset: int = 0, heads: int = 1) -> Array:
    """[heads, n_q, n_k]"""
    i, j = np.arange(n_q)[:, np.newaxis], np.arange(n_k)[np.newaxis, :]
    columns = Columns(n_q, n_k, offset, heads=np.arange(heads)[:, np.newaxis, np.newaxis])
    return np.broadcast_to(bias.values(i, j, columns, heads), (heads, n_q, n_k))


def check_libraries_agree(bias: Bias, n_q: int, n_k: int, offset: int, heads: int) -> None:
    """numpy and torch, all heads at once and each by itself, and any block of cells give the same values."""
    expected = values(bias, n_q, n_k, offset, heads)
    i, j = torch.arange(n_q)[:, None], torch.arange(n_k)[None, :]
    columns = Columns(n_q, n_k, offset, heads=torch.arange(heads)[:, None, None], here=torch.tensor)
    there = bias.values(i, j, columns, heads)
    assert np.array_equal(there.expand(heads, n_q, n_k).numpy(), expected)
    for head in range(heads):
        alone = bias.values(i.numpy(), j.numpy(), Columns(n_q, n_k, offset, heads=head), heads)
        assert np.array_equal(np.broadcast_to(alone, (n_q, n_k)), expected[head])
    block = bias.values(i.numpy()[n_q // 2 :], j.numpy()[:, n_k // 2 :], Columns(n_q, n_k, offset, heads=0), heads)
    shape = (n_q - n_q // 2, n_k - n_k // 2)
    assert np.array_equal(np.broadcast_to(block, shape), expected[0, n_q // 2 :, n_k // 2 :])
