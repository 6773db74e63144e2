"""Sums over queries and keys that were picked."""

from __future__ import annotations

import numpy as np

from attn_gui.model.answers import Sum
from attn_gui.model.asks import SumAsk
from attn_gui.model.trace import Head, Trace


def read_sum(trace: Trace, ask: SumAsk, head: Head) -> Sum:
    """What ``ask`` sums up, of ``head``; queries and keys that ``trace`` does not have are left out."""
    matrix = trace.matrix(ask.stage, head)
    n_q, n_k = matrix.shape
    queries = [i for i in ask.queries if i < n_q]
    keys = [j for j in ask.keys if j < n_k]
    total, masked = 0.0, 0
    for i in queries:
        row = slice(i, i + 1), slice(0, n_k)
        allowed = matrix.allowed(*row)[0, keys]  # [keys]
        values = matrix.block(*row)[0, keys].astype(np.float64)
        with np.errstate(invalid="ignore"):
            total += float(values[allowed].sum())
        masked += int((~allowed).sum())
    return Sum(ask, total, len(queries) * len(keys), masked)
