"""Whether what an attention gave follows from what was captured of it."""

from __future__ import annotations

import torch

from attn_gui.compute.capture.errors import CaptureError
from attn_gui.compute.capture.interface import Call

# what rounding may do to a head's output, in units of the largest value: NUMERICS' bound on N, doubled for N V
_STEPS = 8
# GPUs multiply float32 with 10 bits of the fraction
_LEAST = 2e-3
# of scores that are compared at once
_CELLS = 1 << 22


def check_follows(call: Call, output: torch.Tensor) -> None:
    """Raise CaptureError unless ``output`` [batch, n_q, heads, d_v] is the softmax of the captured scores times V.

    Other libraries may do in their attention whatever they like; what is shown must be what was used. Queries that
    may attend to nothing are left out: their output is nobody's business, and each library has its own.
    """
    batch, heads, n_q, _ = call.query.shape
    for name, tensor in (("queries", call.query), ("keys", call.key), ("values", call.value)):
        _check_finite(call, name, tensor)
    if output.shape != (batch, n_q, heads, call.value.shape[-1]):
        raise _own_way(call, f"it gives an array of shape {tuple(output.shape)}")
    some = max(1, _CELLS // (n_q * call.key.shape[2]))
    for b in range(batch):
        for first in range(0, heads, some):
            here = slice(first, min(first + some, heads))
            apart = (_expected(call, b, here) - _wide(output[b, :, here]).transpose(0, 1)).abs()  # [some, n_q, d_v]
            allowed = call.allowed()
            if allowed is not None:
                apart = apart.masked_fill(~_of(allowed, b, here).any(dim=-1, keepdim=True), 0.0)
            if not float(apart.max()) <= _bound(call, b):
                head = first + int(apart.amax(dim=(1, 2)).argmax()) + 1
                raise _own_way(call, f"in head {head} it differs by {float(apart.max()):.3g}")


def _expected(call: Call, b: int, heads: slice) -> torch.Tensor:
    """Softmax of the scores times V of some heads of one text, [some, n_q, d_v]."""
    group = call.query.shape[1] // call.key.shape[1]
    own = torch.arange(call.query.shape[1], device=call.query.device)[heads] // group
    A = _wide(call.query[b, heads]) @ _wide(call.key[b, own]).transpose(-2, -1) * call.scale  # [some, n_q, n_k]
    if call.softcap is not None:
        A = call.softcap * torch.tanh(A / call.softcap)
    bias, allowed, sinks = call.bias(), call.allowed(), call.sinks
    if bias is not None:
        A = A + _wide(_of(bias, b, heads))
    if allowed is not None:
        A = A.masked_fill(~_of(allowed, b, heads), -torch.inf)
    if sinks is not None:
        A = torch.cat([A, _wide(sinks.flatten()[heads])[:, None, None].expand(-1, A.shape[1], 1)], dim=-1)
    # a row of -inf has no softmax, and is left out
    N = torch.softmax(A, dim=-1).nan_to_num(0.0)[..., : call.key.shape[2]]
    return N @ _wide(call.value[b, own])


def _bound(call: Call, b: int) -> float:
    """How far rounding may take an output of one text."""
    longest = _wide(call.query[b]).norm(dim=-1).max() * _wide(call.key[b]).norm(dim=-1).max()
    top = abs(call.scale) * float(longest)
    return max(_LEAST, _STEPS * torch.finfo(call.query.dtype).eps * max(4.0, top)) * float(call.value[b].abs().max())


def _check_finite(call: Call, name: str, tensor: torch.Tensor) -> None:
    total = tensor.sum(dtype=torch.float64 if tensor.device.type != "mps" else torch.float32)
    if bool(total.isfinite()):
        return
    if bool(tensor.isnan().any()):
        raise CaptureError(
            f"The {name} of {call.module} hold NaN, so there is no attention to show: a weight of the model is NaN, or "
            "a number on the way became too large"
        )
    if bool(tensor.isinf().any()):
        kind = str(tensor.dtype).removeprefix("torch.")
        raise CaptureError(
            f"The {name} of {call.module} hold infinity, so there is no attention to show: the weights of the model "
            f"are too large for {kind}"
        )


def _own_way(call: Call, how: str) -> CaptureError:
    kind = type(call.of).__name__
    return CaptureError(
        f"{kind} does more than transformers' attention interface tells: what {call.module} gives does not follow "
        f"from its queries, keys, values and mask ({how}), so it cannot be shown"
    )


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    return tensor if tensor.dtype == torch.float64 else tensor.float()


def _of(cells: torch.Tensor, b: int, heads: slice) -> torch.Tensor:
    """[some or 1, n_q or 1, n_k] of [batch or 1, heads or 1, n_q or 1, n_k]."""
    own = cells[b if len(cells) > 1 else 0]
    return own[heads] if len(own) > 1 else own
