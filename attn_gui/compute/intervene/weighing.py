"""Weights of an attention of a running model, other than those that the model itself would take."""

from __future__ import annotations

import torch

from attn_gui.compute.capture.interface import Call


def of_heads(call: Call, tensor: torch.Tensor, heads: torch.Tensor) -> torch.Tensor:
    """What query ``heads`` see of keys or values: head h uses kv head h // (heads // kv_heads)."""
    return tensor[:, heads // (call.query.shape[1] // tensor.shape[1])]


def allowed(call: Call, heads: torch.Tensor) -> torch.Tensor:
    """Where the model itself lets queries of ``heads`` attend: bool [batch, heads, n_q, n_k]."""
    n_q, n_k = call.query.shape[2], call.key.shape[2]
    shape = (call.query.shape[0], len(heads), n_q, n_k)
    own = call.allowed()
    if own is None:
        return torch.ones((), dtype=torch.bool, device=call.query.device).expand(shape)
    return _among(own, heads, n_k).expand(shape)


def weights(call: Call, heads: torch.Tensor, cells: torch.Tensor, temperature: torch.Tensor) -> torch.Tensor:
    """N of ``heads`` over ``cells`` in float32: softmax(cap(q k^T scale / temperature) + bias).

    [batch, heads, n_q, n_k]; ``temperature`` broadcasts to [batch, heads, 1, 1]. A row without a cell is 0, as the
    program has it everywhere.
    """
    raw = call.query[:, heads].float() @ of_heads(call, call.key, heads).float().mT
    A = raw * (call.scale / temperature)
    if call.softcap is not None:
        A = call.softcap * torch.tanh(A / call.softcap)
    bias = call.bias()
    if bias is not None:
        A = A + _among(bias, heads, A.shape[-1]).float()
    A = A.masked_fill(~cells, -torch.inf)
    if call.sinks is not None:
        column = call.sinks[heads].float()[None, :, None, None].expand(*A.shape[:-1], 1)
        return torch.softmax(torch.cat([A, column], dim=-1), dim=-1)[..., :-1]
    return torch.softmax(A, dim=-1).masked_fill(~cells.any(dim=-1, keepdim=True), 0.0)


def gathered(call: Call, N: torch.Tensor, heads: torch.Tensor) -> torch.Tensor:
    """N V of ``heads`` in the model's precision, [batch, heads, n_q, d_v]."""
    values = of_heads(call, call.value, heads)
    return N.to(values.dtype) @ values


def _among(tensor: torch.Tensor, heads: torch.Tensor, n_k: int) -> torch.Tensor:
    """Of a mask or a bias [batch or 1, heads or 1, n_q, n_k]: its ``heads``, or the one for all of them."""
    return (tensor[:, heads] if tensor.shape[1] > 1 else tensor)[..., :n_k]
