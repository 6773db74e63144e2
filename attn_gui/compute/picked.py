"""Sums over queries and keys that were picked."""

from __future__ import annotations

import numpy as np

from attn_gui.compute.matrix import row_blocks
from attn_gui.model.answers import Sum
from attn_gui.model.asks import SumAsk
from attn_gui.model.trace import Head, Trace


def read_sum(trace: Trace, ask: SumAsk, head: Head) -> Sum:
    """What ``ask`` sums up, of ``head``; queries and keys that ``trace`` does not have are left out."""
    matrix = trace.matrix(ask.stage, head)
    n_q, n_k = matrix.shape
    queries = np.array(sorted(i for i in ask.queries if i < n_q), dtype=np.intp)
    keys = [j for j in ask.keys if j < n_k]
    total, masked = 0.0, 0
    for block in row_blocks(matrix.shape):
        rows = queries[(queries >= block.start) & (queries < block.stop)]
        if not rows.size:
            continue
        window = slice(int(rows[0]), int(rows[-1]) + 1), slice(0, n_k)
        cells = np.ix_(rows - rows[0], np.array(keys, dtype=np.intp))
        allowed = matrix.allowed(*window)[cells]  # [rows, keys]
        values = matrix.block(*window)[cells].astype(np.float64)
        with np.errstate(invalid="ignore", over="ignore"):
            total += float(values[allowed].sum())
        masked += int((~allowed).sum())
    return Sum(ask, total, len(queries) * len(keys), masked)
