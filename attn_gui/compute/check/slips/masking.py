"""Slips of the mask."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from attn_gui.compute import attention
from attn_gui.compute.check.chain import Chain, empty, weights
from attn_gui.compute.check.setting import Setting
from attn_gui.compute.check.slips.slip import Slip
from attn_gui.model.masks import Causal

T = torch.Tensor


def masking_slips(setting: Setting) -> Iterator[Slip]:
    """None where there is no mask."""
    e, allowed = setting.e, setting.allowed
    if allowed is None:
        return
    if not bool(allowed.any(dim=-1).all()):
        words = "no number where every key is masked: such a row is 0 here"
        yield Slip("empty_rows_nan", words, {"N": lambda c: c.usual("N").masked_fill(empty(c["A_masked"]), torch.nan)})
    yield Slip("mask_forgotten", "the mask forgotten", {"A_masked": lambda c: c["A"]})
    yield Slip(
        "mask_after_softmax",
        "the mask put on after the softmax, so that rows do not sum to 1",
        {"N": lambda c: weights(c, c["A"]).masked_fill(~allowed, 0.0)},
    )
    yield Slip(
        "masked_as_zero",
        "masked scores set to 0 in place of −∞",
        {"A_masked": lambda c: c["A"].masked_fill(~allowed, 0.0)},
    )
    yield _masked("mask_inverted", "the mask the wrong way round: what it allows masked", ~allowed)
    if e.n_q == e.n_k:
        swapped = allowed.transpose(-2, -1)
        yield _masked("mask_transposed", "the mask transposed, queries for keys", swapped)
        itself = torch.eye(e.n_q, dtype=torch.bool)
        yield _masked("mask_and_itself", "each token masked from itself too", allowed & ~itself)
    if isinstance(e.rule, Causal) and e.n_q != e.n_k:
        for offset, words in ((0, "top left"), (e.n_k - e.n_q, "bottom right")):
            aligned = torch.ones(1, e.n_q, e.n_k, dtype=torch.bool).tril(offset)
            if not torch.equal(aligned, allowed):
                yield _masked("causal_alignment", f"the causal mask aligned at the {words}", aligned)


def _masked(name: str, words: str, allowed: T) -> Slip:
    def step(chain: Chain) -> T:
        return attention.masked_scores(chain["A"], allowed)

    return Slip(name, words, {"A_masked": step})
