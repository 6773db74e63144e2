"""Attention as other programs compute it, right or wrong, in plain numpy: what the diagnosis has to recognise."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attn_gui.model.diagnosis import Convention
from tests.reference import rounded

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Planted:
    """A way of computing attention; the defaults are the standard one.

    scale: by its formula. rotary: layout, base, and where queries begin. mask: what is made of the given one. nothing:
    the weights where a softmax has nothing but -inf.
    """

    tiled: bool = False
    rotary: tuple[str, float, int] | None = None
    reshaped_K: bool = False
    scale: str = "1/sqrt(d_k)"
    cap: float | None = None
    cap_last: bool = False
    mask: str = "given"
    late: bool = False
    normaliser: str = "softmax"
    axis: int = -1
    nothing: float | str = 0.0
    reshaped_output: bool = False


@dataclass(frozen=True, eq=False)
class Case:
    """What both sides are given: Q [heads, n_q, d_k], K [kv_heads, n_k, d_k], V, and the mask [n_q, n_k] or None."""

    Q: Array
    K: Array
    V: Array
    mask: Array | None

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        return (*self.Q.shape[:2], self.K.shape[1], self.Q.shape[2])


def scale_of(name: str, heads: int, d_k: int) -> float:
    return {"1/sqrt(d_k)": d_k**-0.5, "1/sqrt(d_model)": (heads * d_k) ** -0.5, "1": 1.0, "1/d_k": 1 / d_k}[name]


def turned(rows: Array, layout: str, base: float, start: int) -> Array:
    """Each pair as a complex number times exp(i angle)."""
    result = rows.copy()
    width = rows.shape[-1]
    for row in range(rows.shape[1]):
        for pair in range(width // 2):
            x, y = (pair, pair + width // 2) if layout == "halves" else (2 * pair, 2 * pair + 1)
            number = (rows[:, row, x] + 1j * rows[:, row, y]) * np.exp(1j * (row + start) * base ** (-2 * pair / width))
            result[:, row, x], result[:, row, y] = number.real, number.imag
    return result


def allowed_by(name: str, mask: Array | None, n_q: int, n_k: int) -> Array:
    """Where a mask lets a query attend, [n_q, n_k] or with heads before it."""
    given = np.ones((n_q, n_k), bool) if mask is None else mask
    i, j = np.arange(n_q)[:, None], np.arange(n_k)[None, :]
    named = {
        "given": lambda: given,
        "inverted": lambda: ~given,
        "absent": lambda: np.ones((n_q, n_k), bool),
        "causal": lambda: j <= i,
        "causal top-left": lambda: j <= i,
        "causal bottom-right": lambda: j <= i + n_k - n_q,
        "strictly causal": lambda: j < i,
        "causal and given": lambda: given & (j <= i),
        "causal top-left and given": lambda: given & (j <= i),
        "causal bottom-right and given": lambda: given & (j <= i + n_k - n_q),
    }
    return named[name]()


def normalised(A: Array, axis: int, kind: str) -> Array:
    """Weights along ``axis``; NaN where there is nothing but -inf."""
    if kind == "sigmoid":
        return 1 / (1 + np.exp(-A))
    with np.errstate(invalid="ignore"):
        top = A.max(axis=axis, keepdims=True)
        if kind == "softmax_one":
            top = np.maximum(top, 0)
            return np.exp(A - top) / (np.exp(-top) + np.exp(A - top).sum(axis=axis, keepdims=True))
        if kind in ("sparsemax", "entmax15"):
            return _thresholded(A - top, axis, 1 if kind == "sparsemax" else 2)
        powers = np.exp(A - top)
        return powers / powers.sum(axis=axis, keepdims=True)


def _thresholded(z: Array, axis: int, power: int) -> Array:
    """``max(z / power - tau, 0)**power`` with tau found by halving, such that it sums to 1 along ``axis``."""
    low, high = (np.full_like(z.max(axis=axis, keepdims=True), bound) for bound in (-1.0, 0.0))
    for _ in range(100):
        tau = (low + high) / 2
        few = (np.maximum(z / power - tau, 0) ** power).sum(axis=axis, keepdims=True) < 1
        low, high = np.where(few, low, tau), np.where(few, tau, high)
    return np.maximum(z / power - tau, 0) ** power


def computed(case: Case, planted: Planted, round_to: Any = None) -> dict[str, Array]:
    """scores, weights and output (of the heads, and ``joined``), with each stage rounded by ``round_to``."""

    def stage(values: Array) -> Array:
        return values if round_to is None else rounded(values, round_to)

    heads, n_q, n_k, d_k = case.sizes
    kv_heads = len(case.K)
    own = [h % kv_heads if planted.tiled else h // (heads // kv_heads) for h in range(heads)]
    Q, K, V = stage(case.Q), stage(case.K)[own], stage(case.V)[own]
    if planted.rotary is not None:
        layout, base, start = planted.rotary
        Q, K = stage(turned(Q, layout, base, start)), stage(turned(K, layout, base, 0))
    products = [q @ (k.reshape(d_k, n_k) if planted.reshaped_K else k.T) for q, k in zip(Q, K, strict=True)]
    A = stage(stage(np.stack(products)) * scale_of(planted.scale, heads, d_k))

    def capped(values: Array) -> Array:
        return values if planted.cap is None else stage(planted.cap * np.tanh(values / planted.cap))

    if not planted.cap_last:
        A = capped(A)
    if planted.mask in ("added", "multiplied"):
        assert case.mask is not None
        A = stage(A + case.mask) if planted.mask == "added" else A * case.mask
        allowed = np.ones(A.shape, bool)
    else:
        allowed = np.broadcast_to(allowed_by(planted.mask, case.mask, n_q, n_k), A.shape)
    scores = A if planted.late else np.where(allowed, A, -np.inf)
    if planted.cap_last:
        scores = capped(scores)
    N = normalised(scores, planted.axis, planted.normaliser)
    if planted.normaliser == "sigmoid":
        N = np.where(np.isneginf(scores), 0.0, N)
    empty = np.isneginf(scores).all(axis=planted.axis, keepdims=True) & np.ones(N.shape, bool)
    N[empty] = 1 / N.shape[planted.axis] if planted.nothing == "uniform" else planted.nothing
    N = stage(N * allowed if planted.late else N)
    output = stage(N @ V)
    joined = output.reshape(n_q, -1) if planted.reshaped_output else output.transpose(1, 0, 2).reshape(n_q, -1)
    return {"scores": scores, "weights": N, "output": output, "joined": joined}


def planted_by(convention: Convention) -> Planted:
    """What a convention that was found says, to be computed anew."""
    planted = Planted()
    for choice in convention.choices:
        match choice.dimension:
            case "kv_heads":
                planted = replace(planted, tiled=True)
            case "rotary":
                rotary, start = choice.value
                planted = replace(planted, rotary=(rotary.layout, rotary.base, start))
            case "product":
                planted = replace(planted, reshaped_K=True)
            case "scale":
                planted = replace(planted, scale=choice.name)
            case "softcap":
                planted = replace(planted, cap=choice.value)
            case "softcap order":
                planted = replace(planted, cap_last=True)
            case "mask":
                planted = replace(planted, mask=choice.name)
            case "masking":
                planted = replace(planted, late=True)
            case "normaliser":
                planted = replace(planted, normaliser=choice.name)
            case "axis":
                planted = replace(planted, axis={"queries": -2, "heads": -3}[choice.name])
            case "nothing":
                planted = replace(planted, nothing={"nan": math.nan, "uniform": "uniform"}[choice.name])
            case "merging":
                planted = replace(planted, reshaped_output=True)
            case _:
                raise AssertionError(choice)
    return planted


def changes(planted: Planted) -> int:
    """In how many ways it differs from the standard."""
    plain = Planted()
    return sum(getattr(planted, name) != getattr(plain, name) for name in plain.__dataclass_fields__)
