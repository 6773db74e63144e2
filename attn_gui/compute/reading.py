"""Readings: one cell's numbers from q and k to the weight, and one query's row, as they were computed."""

from __future__ import annotations

import numpy as np

from attn_gui.model.answers import Reading, Row, RowSums
from attn_gui.model.trace import Head, Trace

# exp of a score within it keeps its digits in float32 as well
PLAIN_RANGE = 80.0


def read_cell(trace: Trace, head: Head, i: int, j: int) -> Reading:
    """The numbers behind the weight at query ``i``, key ``j``."""
    e = trace.experiment
    row, keys, cell = slice(i, i + 1), slice(0, e.n_k), slice(j, j + 1)

    def value(name: str) -> float:
        return float(trace.matrix(name, head).block(row, cell)[0, 0])

    scores = trace.matrix("A_masked", head).block(row, keys)[0].astype(np.float64)
    allowed = trace.matrix("A_masked", head).allowed(row, keys)[0]
    q = k = np.empty(0)
    if head != "mean":
        q, k = trace.stage("Q", head)[i], trace.stage("K", head)[j]
    # what leaves the range of float64 is infinite or no number, and shown as such
    with np.errstate(invalid="ignore", over="ignore"):
        maximum = float(scores[allowed].max()) if allowed.any() else -np.inf
        shift = 0.0 if abs(maximum) < PLAIN_RANGE else maximum
        exponentials = np.where(allowed, np.exp(scores - shift), 0.0)
        total = float(exponentials.sum())
        products = np.asarray(q, np.float64) * np.asarray(k, np.float64)
    return Reading(
        head,
        i,
        j,
        q,
        k,
        products,
        e.scale,
        value("raw"),
        value("scaled"),
        value("A"),
        bool(allowed[j]),
        maximum,
        shift,
        float(exponentials[j]),
        total,
        value("N"),
        np.array([float(trace.matrix("N", h).block(row, cell)[0, 0]) for h in range(e.heads)]),
    )


def read_row(trace: Trace, head: Head, i: int) -> Row:
    """Query ``i``'s row of N."""
    matrix = trace.matrix("N", head)
    row, keys = slice(i, i + 1), slice(0, trace.experiment.n_k)
    return Row(head, i, matrix.block(row, keys)[0], matrix.allowed(row, keys)[0], float(trace.row_sums(head)[i]))


def read_row_sums(trace: Trace, head: Head) -> RowSums:
    """The sums of N's rows, judged as softmax's should be."""
    e = trace.experiment
    sums = trace.row_sums(head)
    matrix = trace.matrix("N", head)
    empty = np.array([not matrix.allowed(slice(i, i + 1), slice(0, e.n_k)).any() for i in np.flatnonzero(sums == 0)])
    fully_masked = np.zeros(e.n_q, bool)
    fully_masked[np.flatnonzero(sums == 0)] = empty
    within = np.abs(sums - 1) <= e.precision.eps * (2 + np.log2(e.n_k))
    return RowSums(head, sums, fully_masked, ~within & ~fully_masked)
