"""Scores of heads and attention rollout in plain loops, from their formulas alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from attn_gui.model.experiment import Experiment

NAN = math.nan
ENDS = ("[SEP]", "</s>", "<sep>", "<eos>", "<|endoftext|>", "<|im_end|>", "<|eot_id|>", "<|end|>", "<end_of_turn>")


def mean(values: list[float]) -> float:
    return math.fsum(values) / len(values) if values else NAN


def statistics(e: Experiment, N: np.ndarray[Any, Any], head: int) -> dict[str, float]:
    """The statistics of one head's weights, [n_q, n_k]."""
    found: dict[str, list[float]] = {
        name: [] for name in ("entropy", "largest", "distance", "span", "sink", "sparsity")
    }
    for i in range(e.n_q):
        total = math.fsum(N[i])
        if not (math.isfinite(total) and total > 0) or e.tokens.pad[i]:
            continue
        p = [n / total for n in N[i]]
        entropy = -math.fsum(x * math.log(x) for x in p if x > 0)
        open_keys = [j for j in range(e.n_k) if e.allowed(slice(i, i + 1), slice(j, j + 1), head)[0, 0]]
        found["entropy"].append(entropy)
        found["largest"].append(max(N[i]))
        found["distance"].append(math.fsum(x * abs(i + e.offset - j) for j, x in enumerate(p)))
        found["span"].append(math.exp(entropy))
        found["sink"].append(p[0] if e.scoring.sinks is None else 1 - total)
        found["sparsity"].append(sum(p[j] < 0.1 / len(open_keys) for j in open_keys) / len(open_keys))
    largest = max(found["largest"], default=NAN)
    return {name: mean(values) for name, values in found.items()} | {"largest": largest}


def patterns(e: Experiment, N: np.ndarray[Any, Any]) -> dict[str, float]:
    """What heads of known kinds look at, of one head's weights, [n_q, n_k]."""
    names = ("first_token", "previous_token", "same_token", "next_token", "induction", "duplicate_token", "separator")
    found: dict[str, list[float]] = {name: [] for name in names}
    t = list(e.key_rows.tokens)
    special = list(e.key_rows.columns.get("special", [False] * len(t)))
    for i in range(e.n_q):
        total = math.fsum(N[i])
        if not (math.isfinite(total) and total > 0) or e.tokens.pad[i]:
            continue
        p = [n / total for n in N[i]]
        ends = [j for j in range(1, len(t)) if special[j] or is_end(t[j])]
        if ends:
            found["separator"].append(math.fsum(p[j] for j in ends))
        if e.variant.is_cross:
            found["first_token"].append(p[0])
            continue
        o = i + e.offset
        if o > 0:
            found["first_token"].append(p[0])
            found["previous_token"].append(p[o - 1])
        found["same_token"].append(p[o])
        if o + 1 < len(t):
            found["next_token"].append(p[o + 1])
        again = [j for j in range(o) if t[j] == t[o]]
        if again:
            found["duplicate_token"].append(math.fsum(p[j] for j in again))
        followers = [j + 1 for j in again if j + 1 < o]
        if followers:
            found["induction"].append(math.fsum(p[j] for j in followers))
    return {name: mean(values) for name, values in found.items()}


def is_end(token: str) -> bool:
    piece = token.strip("Ġ▁Ċ \n\t")
    piece = piece[2:] if piece.startswith("##") else piece
    return piece in ENDS or (piece != "" and all(sign in ".,;:!?-–—()[]{}\"'“”‘’«»…/\\&%@#*_¿¡·" for sign in piece))


def rollout(layers: list[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """Of the weights of layers from the lowest up, each [heads, n, n]."""
    n = layers[0].shape[1]
    result = [[float(i == j) for j in range(n)] for i in range(n)]
    for N in layers:
        mixed = [[0.5 * mean([float(head[i, j]) for head in N]) + 0.5 * (i == j) for j in range(n)] for i in range(n)]
        mixed = [[value / math.fsum(row) for value in row] for row in mixed]
        result = [[math.fsum(mixed[i][k] * result[k][j] for k in range(n)) for j in range(n)] for i in range(n)]
    return np.array(result)
