"""Slips of the scale, the softcap and the bias on the scores."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch

from attn_gui.compute.check.chain import Chain
from attn_gui.compute.check.slips.slip import Slip
from attn_gui.model.experiment import Experiment

# so many decimals people keep of a square root
MOST_DECIMALS = 3


def scaling_slips(e: Experiment) -> Iterator[Slip]:
    for name, words, factor in _factors(e):
        if not math.isclose(factor, e.scale, rel_tol=1e-12):
            yield _scaled(name, words, factor)
    if e.scoring.softcap is not None:
        yield Slip("softcap_forgotten", "the softcap forgotten", {"capped": lambda c: c["scaled"]})
    if e.scoring.biases:
        yield Slip("bias_forgotten", "the bias B forgotten", {"A": lambda c: c["capped"]})
        yield Slip("bias_subtracted", "the bias B subtracted, not added", {"A": lambda c: c["capped"] - c["bias"]})


def _scaled(name: str, words: str, factor: float) -> Slip:
    return Slip(name, words, {"scaled": lambda c: c["raw"] * factor})


def _factors(e: Experiment) -> Iterator[tuple[str, str, float]]:
    """Name, words and the number that the dot products were multiplied by."""
    d_k, d_model, temperature = e.d_k, e.d_model, e.scoring.temperature
    yield "scale_forgotten", "the scale forgotten", 1.0 / temperature
    if temperature != 1:
        yield "temperature_forgotten", "the temperature forgotten", e.scale * temperature
        yield "temperature_multiplied", "the temperature multiplied, not divided by", e.scale * temperature**2
    if e.scoring.scale is not None:
        yield "scale_default", f"1/√d_k = 1/√{d_k} in place of the scale set here", 1 / math.sqrt(d_k) / temperature
        return
    root = f"√{d_k}"
    yield "scale_d_k", f"division by d_k = {d_k} in place of {root}", 1 / d_k / temperature
    if d_model and d_model != d_k:
        yield "scale_d_model", f"division by d_model = {d_model} in place of {root}", 1 / d_model / temperature
        words = f"division by √d_model = √{d_model} in place of {root}"
        yield "scale_sqrt_d_model", words, 1 / math.sqrt(d_model) / temperature
    yield "scale_times", f"multiplication by {root} in place of division", math.sqrt(d_k) / temperature
    for decimals in range(MOST_DECIMALS, -1, -1):
        for taken in (_rounded(math.sqrt(d_k), decimals), _cut(math.sqrt(d_k), decimals)):
            if taken:
                yield "sqrt_rounded", f"{root} taken as {taken:.{decimals}f}", 1 / taken / temperature
    for decimals in range(MOST_DECIMALS, 0, -1):
        for taken in (_rounded(1 / math.sqrt(d_k), decimals), _cut(1 / math.sqrt(d_k), decimals)):
            if taken:
                yield "sqrt_rounded", f"1/{root} taken as {taken:.{decimals}f}", taken / temperature


def _rounded(number: float, decimals: int) -> float:
    return math.floor(number * 10**decimals + 0.5) / 10**decimals


def _cut(number: float, decimals: int) -> float:
    return math.floor(number * 10**decimals) / 10**decimals


def score_slips(e: Experiment) -> Iterator[Slip]:
    """Slips of Q Kᵀ."""
    if e.heads > 1:
        words, width = "Q and K not cut into heads", e.heads * e.d_k
        yield Slip("heads_not_cut", words, {"raw": _of_all_heads})
        factor = 1 / math.sqrt(width) / e.scoring.temperature
        changes = {"raw": _of_all_heads, "scaled": lambda c: c["raw"] * factor}
        yield Slip("heads_not_cut", f"{words}, with division by √{width}", changes)
    if e.n_q == e.n_k:
        words = "K Qᵀ in place of Q Kᵀ"
        yield Slip("q_and_k_swapped", words, {"raw": lambda c: c.usual("raw").transpose(-2, -1)})
    if e.n_k == e.d_k:
        yield Slip("k_not_transposed", "Q K in place of Q Kᵀ", {"raw": lambda c: torch.matmul(c["Q"], c["K"])})


def _of_all_heads(chain: Chain) -> torch.Tensor:
    raw = chain.usual("raw")
    return raw.sum(dim=0, keepdim=True).expand_as(raw)
