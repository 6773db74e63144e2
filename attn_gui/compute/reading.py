"""Readings: one cell's numbers from q and k to the weight, and one query's row, as they were computed."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from attn_gui.model.answers import Block, Reading, Row, RowSums
from attn_gui.model.asks import BlockAsk
from attn_gui.model.forbidding import forbidding
from attn_gui.model.normalisers.softmax import Softmax
from attn_gui.model.normalisers.softmax_one import SoftmaxOne
from attn_gui.model.stage_shape import stages_of
from attn_gui.model.trace import Head, Trace

# exp of a score within it keeps its digits in float32 as well
PLAIN_RANGE = 80.0


def read_block(trace: Trace, ask: BlockAsk, head: Head) -> Block:
    """A window of a square stage, brought within its bounds."""
    matrix = trace.matrix(ask.stage, head)
    (top, bottom), (left, right) = (
        (max(0, min(start, length - 1)), max(1, min(stop, length)))
        for (start, stop), length in zip((ask.rows, ask.columns), matrix.shape, strict=True)
    )
    rows, columns = slice(top, bottom), slice(left, right)
    return Block(ask, (top, bottom), (left, right), matrix.block(rows, columns), matrix.allowed(rows, columns))


def read_cell(trace: Trace, head: Head, i: int, j: int) -> Reading:
    """The numbers behind the weight at query ``i``, key ``j``."""
    e = trace.experiment
    row, keys, cell = slice(i, i + 1), slice(0, e.n_k), slice(j, j + 1)

    there = stages_of(e)

    def value(name: str) -> float:
        return float(trace.matrix(name, head).block(row, cell)[0, 0]) if name in there else math.nan

    allowed = trace.matrix("A_masked" if e.has_scores else "N", head).allowed(row, keys)[0]
    if e.has_scores:
        scores = trace.matrix("A_masked", head).block(row, keys)[0].astype(np.float64)
    else:
        scores = np.full(e.n_k, np.nan)
    sink = None if e.scoring.sinks is None or head == "mean" else e.scoring.sinks[head]
    kind = e.scoring.normaliser.kind
    shift, exponential, total = 0.0, math.nan, math.nan
    if e.has_scores:
        shift, exponential, total = _exponentials(scores, allowed, j, kind, sink)
    q = k = np.empty(0)
    if head != "mean" and e.has_queries:
        q, k = trace.stage("Q", head)[i], trace.stage("K", head)[j]
    # what leaves the range of float64 is infinite or no number, and shown as such
    with np.errstate(invalid="ignore", over="ignore"):
        products = np.asarray(q, np.float64) * np.asarray(k, np.float64)
    return Reading(
        head=head,
        i=i,
        j=j,
        q=q,
        k=k,
        products=products,
        scale=e.scale,
        raw=value("raw"),
        scaled=value("scaled"),
        capped=value("capped"),
        bias=value("bias") if e.scoring.biases else 0.0,
        A=value("A"),
        allowed=bool(allowed[j]),
        because=() if allowed[j] else forbidding(e, i, j, head),
        normaliser=kind,
        sink=sink,
        row_maximum=float(scores[allowed].max(initial=-np.inf)),
        shift=shift,
        exponential=exponential,
        total=total,
        N=value("N"),
        each_head=np.array([float(trace.matrix("N", h).block(row, cell)[0, 0]) for h in range(e.heads)]),
    )


def _exponentials(
    scores: NDArray[np.float64], allowed: NDArray[np.bool_], j: int, kind: str, sink: float | None
) -> tuple[float, float, float]:
    """What is taken off the scores before their exponentials, that of key ``j``, and the sum that divides it."""
    if kind not in (Softmax.kind, SoftmaxOne.kind):
        return 0.0, math.nan, math.nan
    # the extra 1 is the exponential of a score of 0
    others = ([] if sink is None else [sink]) + ([0.0] if kind == SoftmaxOne.kind else [])
    row = np.concatenate([np.where(allowed, scores, -np.inf), others])
    largest = float(row.max())
    shift = 0.0 if abs(largest) < PLAIN_RANGE or largest == -np.inf else largest
    with np.errstate(invalid="ignore", over="ignore"):
        exponentials = np.exp(row - shift)
    return shift, float(exponentials[j]), float(exponentials.sum())


def read_row(trace: Trace, head: Head, i: int) -> Row:
    """Query ``i``'s row of N."""
    matrix = trace.matrix("N", head)
    row, keys = slice(i, i + 1), slice(0, trace.experiment.n_k)
    return Row(head, i, matrix.block(row, keys)[0], matrix.allowed(row, keys)[0], float(trace.row_sums(head, row)[0]))


def read_row_sums(trace: Trace, head: Head) -> RowSums:
    """The sums of N's rows, judged where the weights should sum to 1."""
    e = trace.experiment
    sums, judged = trace.row_sums(head), e.sums_to_one
    if head == "mean" and e.rule.per_head:
        each = np.stack([trace.empty_rows(h) for h in range(e.heads)])  # [heads, n_q]
        empty = np.asarray(each.all(axis=0))
        judged = judged and bool((each == empty).all())
    else:
        empty = trace.empty_rows(head)
    within = np.abs(sums - 1) <= e.precision.eps * (2 + np.log2(e.n_k))
    return RowSums(head, sums, empty, judged, ~within & ~empty & judged)
