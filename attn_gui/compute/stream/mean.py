"""Scans of the mean over the heads."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence

import numpy as np
import torch

from attn_gui.compute.numbers import to_numpy
from attn_gui.compute.stream.overview import Blocks, pool_by
from attn_gui.compute.stream.scan import Put, Scanned
from attn_gui.compute.stream.scores import Scores
from attn_gui.compute.stream.weighing import Row, weigh


def scan_mean(
    scores: Scores, rows: slice, states: Sequence[tuple[Row, torch.Tensor]], factors: tuple[int, int], put: Put
) -> Generator[None, None, Scanned]:
    """What pictures of the mean scores and the mean weights need of ``rows``; yields between segments.

    states: of each head, its rows' states and which may attend to nothing. Nothing else of the result means anything.
    """
    n_k, count = scores.experiment.n_k, len(states[0][1])
    width = -(-n_k // factors[1])
    largest_scores, largest = np.zeros((count, width)), np.zeros((count, width))
    sums, some = np.zeros((count, width)), np.zeros((count, width), bool)
    tops, low, high = np.zeros((2, count)), math.inf, -math.inf
    for keys, _ in scores.segments(rows, factors[1]):
        A, N, allowed = mean_block(scores, rows, keys, states)
        a, n, cells = to_numpy(A), to_numpy(N), allowed.cpu().numpy()
        place = slice(keys.start // factors[1], -(-keys.stop // factors[1]))
        by = 1, factors[1]
        largest_scores[:, place], some[:, place] = pool_by(a, cells, by, "max")
        largest[:, place], _ = pool_by(n, cells, by, "max")
        starts = np.arange(0, a.shape[1], factors[1])
        with np.errstate(invalid="ignore", over="ignore"):
            sums[:, place] = np.add.reduceat(np.where(cells, n, 0), starts, axis=1, dtype=np.float64)
        usable = np.isfinite(a) & cells
        low = min(low, float(a.min(where=usable, initial=np.inf)))
        high = max(high, float(a.max(where=usable, initial=-np.inf)))
        finite = np.where(np.isfinite(n) & cells, n, 0)
        tops[0] = np.maximum(tops[0], finite.max(axis=1))
        tops[1] = np.maximum(tops[1], finite[:, 1 if keys.start == 0 else 0 :].max(axis=1, initial=0.0))
        yield
    by = factors[0], 1
    starts = np.arange(0, count, factors[0])
    pooled = pool_by(largest_scores, some, by, "max")
    put(Blocks(0, *pooled, np.add.reduceat(sums, starts, axis=0), pool_by(largest, some, by, "max")[0]))
    nothing = torch.zeros(count)
    return Scanned(rows, (), nothing, nothing, nothing, torch.from_numpy(tops), low, high)


def mean_block(
    scores: Scores, rows: slice, keys: slice, states: Sequence[tuple[Row, torch.Tensor]]
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The mean scores before the mask, the mean weights, and where any head may attend: [rows, keys].

    Where weights were given, they are in the place of the scores too.
    """
    heads = len(states)
    A_sum = N_sum = anywhere = None
    for head, (row, empty) in enumerate(states):
        A, allowed = scores.block(head, rows, keys).t(), scores.allowed(head, rows, keys).t()
        N = A if scores.given.weights else weigh(scores, torch.where(allowed, A, -torch.inf), row, empty)
        A, N = A.to(scores.working), N.to(scores.working)
        A_sum = A if A_sum is None else A_sum + A
        N_sum = N if N_sum is None else N_sum + N
        anywhere = allowed if anywhere is None else anywhere | allowed
    assert A_sum is not None and N_sum is not None and anywhere is not None
    return (A_sum / heads).to(scores.dtype), (N_sum / heads).to(scores.dtype), anywhere
