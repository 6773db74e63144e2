"""Slips of N V and of what is done to the heads."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from attn_gui.compute import attention
from attn_gui.compute.check.setting import WORKING, Setting
from attn_gui.compute.check.slips.slip import Slip

T = torch.Tensor


def gathering_slips(setting: Setting) -> Iterator[Slip]:
    e = setting.e
    if e.n_k == e.d_v:
        words = "N Vᵀ in place of N V"
        yield Slip("v_transposed", words, {"head_output": lambda c: torch.matmul(c["N"], c["V"].transpose(-2, -1))})
    if e.n_q == e.n_k:
        words = "Nᵀ V in place of N V"
        yield Slip("n_transposed", words, {"head_output": lambda c: torch.matmul(c["N"].transpose(-2, -1), c["V"])})
        if e.d_k == e.d_v:
            yield Slip("q_for_v", "Q in place of V", {"V": lambda c: c["Q"]})
    if e.d_k == e.d_v:
        yield Slip("k_for_v", "K in place of V", {"V": lambda c: c["K"]})
    words = "the scores A in place of the weights N"
    yield Slip("a_for_n", words, {"N": lambda c: torch.where(c["A_masked"].isneginf(), 0.0, c["A_masked"])})
    if e.heads > 1:
        words = "dimensions of the heads between one another, not head after head"
        yield Slip("heads_interleaved", words, {"concat": lambda c: c["head_output"].permute(1, 2, 0).flatten(1)})
        words = "head outputs put side by side without a transpose"
        yield Slip("concat_reshaped", words, {"concat": lambda c: c["head_output"].reshape(e.n_q, -1)})
    W_O, b_O = setting.weight("W_O"), setting.weight("b_O")
    if W_O is None:
        return
    if W_O.shape[0] == W_O.shape[1]:
        yield Slip(
            "W_O_transposed",
            "W_O transposed",
            {"output": lambda c: attention.output(c["concat"], W_O.T, b_O, WORKING)},
        )
        if b_O is not None:
            yield Slip("W_O_forgotten", "W_O forgotten", {"output": lambda c: c["concat"] + b_O})
        words = "W_O forgotten" if b_O is None else "W_O and b_O forgotten"
        yield Slip("W_O_forgotten", words, {"output": lambda c: c["concat"]})
    if b_O is not None:
        yield Slip(
            "b_O_forgotten", "b_O forgotten", {"output": lambda c: attention.output(c["concat"], W_O, None, WORKING)}
        )
