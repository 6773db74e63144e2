"""Statistics of every head of a trace."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attn_gui.compute.matrix import row_blocks
from attn_gui.model.statistics import NOTHING, STATISTICS, HeadStatistics
from attn_gui.model.table import Floats
from attn_gui.model.trace import Trace

LARGEST = [statistic.name for statistic in STATISTICS].index("largest")


def head_statistics(trace: Trace) -> Generator[float, None, HeadStatistics]:
    """The statistics of each head, defined in :mod:`attn_gui.model.statistics`.

    In short steps over blocks of rows: yields the part done, 0 to 1.
    """
    e = trace.experiment
    values = np.full((e.heads, len(STATISTICS)), np.nan)
    for head in range(e.heads):
        gathered = Gathered()
        for rows in row_blocks((e.n_q, e.n_k)):
            gathered.add(weighed(trace, head, rows), trace)
            yield (head + rows.stop / e.n_q) / e.heads
        values[head] = gathered.statistics()
    values.flags.writeable = False
    return HeadStatistics(values)


@dataclass(frozen=True, eq=False)
class Weighed:
    """The rows of a block that sum to more than 0 and are no padding, float64.

    N, and p, which is N divided by the sums: [rows, n_k]; allowed: [rows, n_k] bool; totals: the sums, [rows]; own:
    the place of each query among the keys, from 0, [rows].
    """

    N: Floats
    p: Floats
    allowed: NDArray[np.bool_]
    totals: Floats
    own: NDArray[np.intp]


def weighed(trace: Trace, head: int, rows: slice) -> Weighed:
    """The weights of ``rows`` of ``head``, without those of padding and those of no or of no finite sum."""
    e = trace.experiment
    matrix, keys = trace.matrix("N", head), slice(0, e.n_k)
    N = matrix.block(rows, keys).astype(np.float64)  # [rows, n_k]
    allowed = matrix.allowed(rows, keys)  # [rows, n_k]
    totals = N.sum(axis=1)  # [rows]
    usable = np.isfinite(totals) & (totals > 0) & ~e.tokens.pad[rows]
    own = np.arange(rows.start, rows.stop) + e.offset
    if not usable.all():
        N, allowed, totals, own = N[usable], allowed[usable], totals[usable], own[usable]
    return Weighed(N, N / totals[:, np.newaxis], allowed, totals, own)


class Gathered:
    """The statistics of one head, gathered block by block."""

    def __init__(self) -> None:
        self._sums = np.zeros(len(STATISTICS))
        self._largest = 0.0
        self._queries = 0

    def add(self, rows: Weighed, trace: Trace) -> None:
        self._sums += _sums(rows, trace.experiment.scoring.sinks is not None)
        if rows.N.size:
            self._largest = max(self._largest, float(rows.N.max()))
        self._queries += len(rows.N)

    def statistics(self) -> Floats:
        """[len(STATISTICS)]; NaN where there was no row to judge."""
        if not self._queries:
            return np.full(len(STATISTICS), np.nan)
        found = self._sums / self._queries
        found[LARGEST] = self._largest
        return found


def _sums(rows: Weighed, learned_sinks: bool) -> Floats:
    """The sums over the queries of a block, in the order of STATISTICS; 0 for the largest weight."""
    p = rows.p
    with np.errstate(divide="ignore", invalid="ignore"):
        entropies = -np.where(p > 0, p * np.log(p), 0.0).sum(axis=1)
    distances = (p * np.abs(rows.own[:, np.newaxis] - np.arange(p.shape[1]))).sum(axis=1)
    sinks = 1 - rows.totals if learned_sinks else p[:, 0]
    counts = rows.allowed.sum(axis=1)
    slight = ((p < NOTHING / counts[:, np.newaxis]) & rows.allowed).sum(axis=1) / counts
    columns = (entropies, np.zeros(1), distances, np.exp(entropies), sinks, slight)
    return np.array([column.sum() for column in columns])
