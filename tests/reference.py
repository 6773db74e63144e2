"""Attention from the formula, in numpy alone: what the program's results are held against.

Written for plainness: float64 throughout, one query at a time, masks by asking every cell. Each stage is rounded to the
experiment's precision where NUMERICS says that a stage is, and nowhere else.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from attn_gui.model.experiment import Experiment, GivenQKV
from attn_gui.model.masks import Causal, MaskRule, Padding, SlidingWindow
from attn_gui.model.precision import Precision

Array = np.ndarray[Any, Any]

# significant bits, and the exponent of the smallest normal number
FORMATS = {
    Precision.FLOAT64: (53, -1022),
    Precision.FLOAT32: (24, -126),
    Precision.BFLOAT16: (8, -126),
    Precision.FLOAT16: (11, -14),
}


def rounded(values: Any, precision: Precision) -> Array:
    """``values`` to the nearest number of ``precision``, ties to even, kept in float64."""
    values = np.asarray(values, dtype=np.float64)
    if precision is Precision.FLOAT64:
        return values
    bits, smallest = FORMATS[precision]
    _, exponent = np.frexp(values)  # values = m * 2**exponent, 0.5 <= |m| < 1
    step = np.ldexp(1.0, np.maximum(exponent, smallest + 1) - bits)
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(values), np.rint(values / step) * step, values)


def rule_allows(rule: MaskRule, i: int, j: int, n_q: int, n_k: int, pad: Array) -> bool:
    """Whether query ``i`` may attend to key ``j``."""
    if isinstance(rule, Causal):
        return j <= i if rule.alignment == "top-left" else j <= i + n_k - n_q
    if isinstance(rule, Padding):
        return not pad[j]
    if isinstance(rule, SlidingWindow):
        return abs(i - j) <= rule.window and (rule.two_sided or j <= i)
    assert type(rule) is MaskRule
    return True


def allowed_cells(e: Experiment) -> Array:
    """The mask of ``e``, [n_q, n_k]: the rule, and the rectangles painted on it one after another."""
    pad = e.keys.pad
    allowed = np.zeros((e.n_q, e.n_k), bool)
    for i in range(e.n_q):
        for j in range(e.n_k):
            allowed[i, j] = rule_allows(e.rule, i, j, e.n_q, e.n_k, pad)
            for r in e.painted.rectangles:
                if r.top <= i < r.bottom and r.left <= j < r.right:
                    allowed[i, j] = r.allowed
    return allowed


@dataclass
class Reference:
    """The stages by name, [heads, ...] where there is one for each head, and the mask [n_q, n_k]."""

    stages: dict[str, Array]
    allowed: Array
    magnitudes: dict[str, float]

    def tolerance(self, e: Experiment, name: str) -> float:
        """How far a value of stage ``name`` may lie from this one.

        On N as NUMERICS has it; on the others from the rounding of that stage and what the stages before it carry
        into it, each measured by the largest sum of absolute values that its numbers are made of.
        """
        eps = 1e-13 if e.precision is Precision.FLOAT64 else e.precision.eps
        size = self.magnitudes
        scores = 8 * eps * abs(e.scale) * size["raw"]
        weights = {
            Precision.FLOAT64: 1e-12,
            Precision.FLOAT32: 4 * e.precision.eps * max(4.0, abs(e.scale) * size["norms"]),
        }.get(e.precision, 4 * e.precision.eps)
        gathered = (2 * weights + 4 * eps) * size["V"]
        tolerances = {
            "X": 0.0,
            "context": 0.0,
            "Q": 4 * eps * size["Q"],
            "K": 4 * eps * size["K"],
            "V": 4 * eps * size["V"],
            "raw": 8 * eps * size["raw"],
            "N": weights,
            "head_output": gathered,
            "concat": gathered,
            "output": gathered * size["W_O"] + 4 * eps * size["output"],
        }
        return tolerances.get(name, scores)


def reference(e: Experiment) -> Reference:
    """Every stage of ``e``."""
    allowed = allowed_cells(e)

    def stage(values: Any) -> Array:
        return rounded(values, e.precision)

    stages: dict[str, Array] = {
        "X": stage(e.tokens.embeddings.array()),
        "context": stage(e.keys.embeddings.array()),
    }
    size: dict[str, float] = {}
    group = e.heads // e.kv_heads
    for letter, rows, heads in (("Q", "X", e.heads), ("K", "context", e.kv_heads), ("V", "context", e.kv_heads)):
        if isinstance(e.source, GivenQKV):
            projected = stage(getattr(e.source, letter))
            size[letter] = np.abs(projected).max()
        else:
            table, bias = e.source.weights.get(f"W_{letter}"), e.source.weights.get(f"b_{letter}")
            assert table is not None
            W = stage(table.array())
            b = stage(np.zeros((1, table.width)) if bias is None else bias.array())
            whole = stage(stages[rows] @ W + b)
            width = table.width // heads
            projected = np.stack([whole[:, h * width : (h + 1) * width] for h in range(heads)])
            size[letter] = (np.abs(stages[rows]) @ np.abs(W) + np.abs(b)).max()
        stages[letter] = projected if letter == "Q" else np.stack([projected[h // group] for h in range(e.heads)])

    names = ("raw", "scaled", "capped", "A", "A_masked", "N", "head_output")
    per_head: dict[str, list[Array]] = {name: [] for name in names}
    for h in range(e.heads):
        Q, K, V = stages["Q"][h], stages["K"][h], stages["V"][h]
        raw = stage(np.array([[math.fsum(q * k) for k in K] for q in Q]))
        scale = 1 / math.sqrt(Q.shape[1]) if e.scoring.scale is None else e.scoring.scale
        scaled = stage(scale * raw)
        cap = e.scoring.softcap
        capped = scaled if cap is None else stage(cap * np.tanh(scaled / cap))
        N = np.zeros_like(capped)
        for i in range(e.n_q):
            cells = np.flatnonzero(allowed[i])
            if cells.size:
                exponentials = np.exp(capped[i, cells] - capped[i, cells].max())
                N[i, cells] = exponentials / math.fsum(exponentials)
        N = stage(N)
        masked = np.where(allowed, capped, -np.inf)
        for name, values in zip(names, (raw, scaled, capped, capped, masked, N, stage(N @ V)), strict=True):
            per_head[name].append(values)
    stages |= {name: np.stack(values) for name, values in per_head.items()}

    stages["concat"] = np.concatenate(list(stages["head_output"]), axis=1)
    stages["output"], size["W_O"], size["output"] = stages["concat"], 1.0, float(np.abs(stages["concat"]).max())
    weights = e.weights
    if weights is not None and weights.W_O is not None:
        W_O = stage(weights.W_O.array())
        b_O = stage(np.zeros((1, W_O.shape[1])) if weights.b_O is None else weights.b_O.array())
        stages["output"] = stage(stages["concat"] @ W_O + b_O)
        size["W_O"] = float(np.abs(W_O).sum(axis=0).max())
        size["output"] = float((np.abs(stages["concat"]) @ np.abs(W_O) + np.abs(b_O)).max())
    d_k = stages["Q"].shape[2]
    size["raw"] = d_k * size["Q"] * size["K"]
    size["norms"] = float(np.linalg.norm(stages["Q"], axis=2).max() * np.linalg.norm(stages["K"], axis=2).max())
    return Reference(stages, allowed, size)
