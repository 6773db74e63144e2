"""How a softmax saturates with d_k and the scale: why scores are divided by sqrt(d_k)."""

from __future__ import annotations

import math

import numpy as np
import torch

from attn_gui.model.instruments import KEYS, Saturation

QUERIES = 256
SEED = 0
# of the curves: from 2^-10 to 1, eight to each halving
SCALES = 2.0 ** (np.arange(-80, 1) / 8)


def saturation(d_k: int, scale: float | None) -> Saturation:
    """Entropy and gradient of softmax(scale q . k) for random q and k of ``d_k`` numbers; None for 1/sqrt(d_k).

    A sum of d_k products of standard normal numbers has variance d_k (Vaswani et al. 2017, section 3.2.1, note 4).
    """
    used = 1 / math.sqrt(d_k) if scale is None else scale
    random = np.random.RandomState(SEED)
    q = torch.from_numpy(random.standard_normal((QUERIES, 1, d_k)))
    k = torch.from_numpy(random.standard_normal((QUERIES, KEYS, d_k)))
    raw = (q * k).sum(dim=-1)  # [QUERIES, KEYS]
    scales = torch.from_numpy(np.append(SCALES, used))
    N = torch.softmax(scales[:, None, None] * raw, dim=-1)  # [scales, QUERIES, KEYS]
    entropy = -torch.xlogy(N, N).sum(dim=-1).mean(dim=-1) / math.log(2)  # [scales]
    gradient = jacobian_norm(N).mean(dim=-1)  # [scales]
    return Saturation(
        d_k,
        used,
        float(raw.std(correction=0)),
        SCALES,
        entropy[:-1].numpy(),
        gradient[:-1].numpy(),
        float(entropy[-1]),
        float(gradient[-1]),
        N[-1, 0].numpy(),
    )


def jacobian_norm(N: torch.Tensor) -> torch.Tensor:
    """The Frobenius norm of diag(N) - N N^T, the Jacobian of a softmax that gives rows N: [.., n] -> [..]."""
    squares = (N**2).sum(dim=-1)
    # squares of the diagonal's n_i - n_i^2 and of the other cells' n_i n_j, added up
    return (squares - 2 * (N**3).sum(dim=-1) + squares**2).clamp_min(0).sqrt()
