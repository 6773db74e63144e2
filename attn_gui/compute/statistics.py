"""Statistics of every head of a trace."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from attn_gui.compute.matrix import row_blocks
from attn_gui.model.statistics import NOTHING, STATISTICS, HeadStatistics
from attn_gui.model.table import Floats
from attn_gui.model.trace import Trace


def head_statistics(trace: Trace) -> Generator[float, None, HeadStatistics]:
    """The statistics of each head, defined in :mod:`attn_gui.model.statistics`.

    In short steps over blocks of rows: yields the part done, 0 to 1.
    """
    e = trace.experiment
    values = np.full((e.heads, len(STATISTICS)), np.nan)
    for head in range(e.heads):
        sums, queries = np.zeros(len(STATISTICS)), 0
        for rows in row_blocks((e.n_q, e.n_k)):
            found, count = _of_block(trace, head, rows)
            largest = max(sums[1], found[1])
            sums, queries = sums + found, queries + count
            sums[1] = largest
            yield (head + rows.stop / e.n_q) / e.heads
        if queries:
            values[head] = sums / queries
            values[head, 1] = sums[1]
    values.flags.writeable = False
    return HeadStatistics(values)


def _of_block(trace: Trace, head: int, rows: slice) -> tuple[Floats, int]:
    """The sums over the queries of a block, in the order of STATISTICS (of the largest weight: the maximum)."""
    e = trace.experiment
    matrix, keys = trace.matrix("N", head), slice(0, e.n_k)
    N = matrix.block(rows, keys).astype(np.float64)  # [rows, n_k]
    allowed = matrix.allowed(rows, keys)  # [rows, n_k]
    totals = N.sum(axis=1)  # [rows]
    usable = np.isfinite(totals) & (totals > 0)
    N, allowed, totals = N[usable], allowed[usable], totals[usable]
    places = np.arange(rows.start, rows.stop)[usable, np.newaxis] + e.offset
    p = N / totals[:, np.newaxis]
    with np.errstate(divide="ignore", invalid="ignore"):
        entropies = -np.where(p > 0, p * np.log(p), 0.0).sum(axis=1)
    distances = (p * np.abs(places - np.arange(e.n_k))).sum(axis=1)
    sinks = p[:, 0] if e.scoring.sinks is None else 1 - totals
    counts = allowed.sum(axis=1)
    slight = ((p < NOTHING / counts[:, np.newaxis]) & allowed).sum(axis=1) / counts
    largest = N.max() if N.size else 0.0
    sums = [column.sum() for column in (entropies, distances, np.exp(entropies), sinks, slight)]
    return np.array([sums[0], largest, *sums[1:]]), len(N)
