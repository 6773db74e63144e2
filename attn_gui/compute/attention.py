"""Attention stage by stage: the readable reference.

Rows are queries and columns keys. Each stage rounds its result to the experiment's precision; sums inside a stage run
in float32 or better (:func:`attn_gui.compute.numbers.summed`). The order is that of Vaswani et al. 2017, section
3.2.1: norm and rotary positions on queries and keys, raw, scale, softcap, bias, mask, normaliser, values.

``out`` is where a result is put, as in torch: memory that a stage is kept in and need not be found twice.
"""

from __future__ import annotations

import array_api_compat.torch as xp
import torch

from attn_gui.model.normalisers import Normaliser
from attn_gui.model.qk_norm import QKNorm
from attn_gui.model.scoring import Scoring

Out = torch.Tensor | None


def project(X: torch.Tensor, W: torch.Tensor, b: torch.Tensor | None, heads: int, working: torch.dtype) -> torch.Tensor:
    """``X W + b``, X [n, d], W [d, heads * size], b [1, heads * size] -> [heads, n, size]."""
    projected = X.to(working) @ W.to(working)  # [n, heads * size]
    if b is not None:
        projected += b.to(working)
    return projected.to(X.dtype).reshape(len(X), heads, -1).transpose(0, 1).contiguous()


def normed(rows: torch.Tensor, norm: QKNorm, gain: torch.Tensor | None, working: torch.dtype) -> torch.Tensor:
    """Queries or keys, [heads, n, d_k], each normalised and multiplied by ``gain``, [d_k]."""
    result: torch.Tensor = norm.normalised(rows.to(working), xp)
    return (result if gain is None else result * gain).to(rows.dtype)


def turned(rows: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, layout: str, working: torch.dtype) -> torch.Tensor:
    """Queries or keys, [heads, n, d_k], with pairs (x, y) of their first dimensions turned; cos, sin [n, pairs].

    ``(x cos - y sin, x sin + y cos)`` (Su et al. 2021, equation 34); the dimensions after the pairs stay.
    """
    pairs = cos.shape[1]
    moved, rest = rows[..., : 2 * pairs].to(working), rows[..., 2 * pairs :]
    shape = (*moved.shape[:-1], 2, pairs) if layout == "halves" else (*moved.shape[:-1], pairs, 2)
    axis = -2 if layout == "halves" else -1
    x, y = moved.reshape(shape).unbind(dim=axis)  # [heads, n, pairs]
    result = torch.stack([x * cos - y * sin, x * sin + y * cos], dim=axis).reshape(moved.shape)
    return torch.cat([result.to(rows.dtype), rest], dim=-1)


def raw_scores(Q: torch.Tensor, K: torch.Tensor, working: torch.dtype, out: Out = None) -> torch.Tensor:
    """``Q K^T``, Q [.., n_q, d_k], K [.., n_k, d_k] -> [.., n_q, n_k]."""
    raw = torch.matmul(Q.to(working), K.to(working).transpose(-2, -1), out=_in_place(out, working))
    return _rounded(raw, Q.dtype, out)


def scaled_scores(raw: torch.Tensor, scale: float, working: torch.dtype, out: Out = None) -> torch.Tensor:
    """``scale * raw``; ``out`` may be ``raw`` itself."""
    return _rounded(torch.mul(raw.to(working), scale, out=_in_place(out, working)), raw.dtype, out)


def capped_scores(scaled: torch.Tensor, softcap: float | None, working: torch.dtype, out: Out = None) -> torch.Tensor:
    """``softcap * tanh(scaled / softcap)``; the scaled scores themselves without a softcap."""
    if softcap is None:
        return scaled
    return _rounded(softcap * torch.tanh(scaled.to(working) / softcap), scaled.dtype, out)


def scores(Q: torch.Tensor, K: torch.Tensor, scoring: Scoring, working: torch.dtype, out: Out = None) -> torch.Tensor:
    """The scores before bias and mask: raw, scaled, capped, [.., n_q, n_k]."""
    raw = raw_scores(Q, K, working, out)
    scaled = scaled_scores(raw, scoring.scale_for(Q.shape[-1]), working, out)
    return capped_scores(scaled, scoring.softcap, working, out)


def biased_scores(capped: torch.Tensor, bias: torch.Tensor, out: Out = None) -> torch.Tensor:
    """``capped + bias``, bias in the working type; ``out`` may be ``capped`` itself."""
    return _rounded(capped.to(bias.dtype) + bias, capped.dtype, out)


def masked_scores(A: torch.Tensor, allowed: torch.Tensor | None) -> torch.Tensor:
    """A with -inf where ``allowed``, [.., n_q, n_k] bool, is False; None allows everything."""
    return A if allowed is None else torch.where(allowed, A, -torch.inf)


def empty_rows(allowed: torch.Tensor | None) -> torch.Tensor | None:
    """Which queries may attend to nothing, [.., n_q, 1] bool; None where every query may attend to every key."""
    return None if allowed is None else ~allowed.any(dim=-1, keepdim=True)


def softmax(A_masked: torch.Tensor, empty: torch.Tensor | None, working: torch.dtype, out: Out = None) -> torch.Tensor:
    """``exp(A - m) / l`` with m the row's maximum and l the sum; a fully masked row, one of ``empty``, gives 0.

    (As ONNX, SDPA and FlexAttention have it; the bare formula gives NaN there.)
    """
    N = torch.softmax(A_masked.to(working), dim=-1, out=_in_place(out, working))
    if empty is not None:
        N.masked_fill_(empty, 0.0)
    return _rounded(N, A_masked.dtype, out)


def weights(
    A_masked: torch.Tensor,
    normaliser: Normaliser,
    sinks: torch.Tensor | None,
    empty: torch.Tensor | None,
    working: torch.dtype,
    out: Out = None,
) -> torch.Tensor:
    """``normaliser(A)``, 0 in a fully masked row.

    sinks: [heads, 1, 1], of each head the score of one more key, which takes part in its rows and gathers nothing.
    """
    A = A_masked.to(working)
    if sinks is None:
        N = normaliser.weights(A, xp)
    else:
        N = normaliser.weights(torch.cat([A, sinks.expand(*A.shape[:-1], 1)], dim=-1), xp)[..., :-1]
    if empty is not None:
        N = N.masked_fill(empty, 0.0)
    return _rounded(N, A_masked.dtype, out)


def head_output(
    N: torch.Tensor, V: torch.Tensor, empty: torch.Tensor | None, working: torch.dtype, out: Out = None
) -> torch.Tensor:
    """``N V``, N [.., n_q, n_k], V [.., n_k, d_v] -> [.., n_q, d_v]; 0 for a fully masked row, whatever V holds."""
    gathered = torch.matmul(N.to(working), V.to(working), out=_in_place(out, working))
    if empty is not None:
        gathered.masked_fill_(empty, 0.0)  # 0 times NaN or infinity would be NaN
    return _rounded(gathered, V.dtype, out)


def concat(heads: torch.Tensor) -> torch.Tensor:
    """The heads' outputs side by side: [heads, n_q, d_v] -> [n_q, heads * d_v]."""
    return heads.transpose(0, 1).flatten(1)


def output(
    joined: torch.Tensor, W_O: torch.Tensor | None, b_O: torch.Tensor | None, working: torch.dtype
) -> torch.Tensor:
    """``concat W_O + b_O``, [n_q, d_out]; the concatenation itself without W_O."""
    if W_O is None:
        return joined
    result = joined.to(working) @ W_O.to(working)
    if b_O is not None:
        result += b_O.to(working)
    return result.to(joined.dtype)


def _in_place(out: Out, working: torch.dtype) -> Out:
    """Where torch may compute right away: ``out``, unless it is of a lower precision than the computation."""
    return out if out is not None and out.dtype is working else None


def _rounded(result: torch.Tensor, dtype: torch.dtype, out: Out) -> torch.Tensor:
    """``result`` rounded to ``dtype``, in ``out`` where that is given."""
    if out is None:
        return result.to(dtype)
    return out if result is out else out.copy_(result)
