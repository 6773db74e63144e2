"""Scans of a block of queries whose weights were given."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator

import numpy as np
import torch

from attn_gui.compute.numbers import row_sums, to_numpy
from attn_gui.compute.stream.overview import Blocks, pool_by
from attn_gui.compute.stream.scan import Put, Scanned
from attn_gui.compute.stream.scores import Scores


def scan_given(
    scores: Scores, head: int, rows: slice, factors: tuple[int, int], put: Put
) -> Generator[None, None, Scanned]:
    """Sums, output and pictures of ``rows`` of weights that are there; yields between segments.

    ``low`` and ``high`` are of the weights.
    """
    n_k, V, group = scores.experiment.n_k, scores.inputs.V[head].to(scores.working), factors[1]
    count = len(range(rows.start, rows.stop, rows.step or 1))
    width = -(-n_k // group)
    largest, added = np.zeros((count, width)), np.zeros((count, width))
    sums, tops, low, high = np.zeros(count), np.full((2, count), -math.inf), math.inf, -math.inf
    gathered = torch.zeros((count, V.shape[1]), dtype=scores.working, device=scores.device)
    for keys, _ in scores.segments(rows, group):
        # by rows, and in the type that sums run in: numpy is slow with numbers of 16 bits
        N = scores.given.block(head, rows, keys).to(scores.working)  # [rows, keys]
        gathered += N @ V[keys]
        n = to_numpy(N)
        sums += row_sums(N)
        usable = np.isfinite(n)
        place = slice(keys.start // group, -(-keys.stop // group))
        added[:, place] = to_numpy(_grouped(N, group, torch.sum))
        if usable.all():
            largest[:, place] = to_numpy(_grouped(N, group, torch.amax))
        else:
            largest[:, place], _ = pool_by(n, None, (1, group), "max")
        low = min(low, float(n.min(where=usable, initial=np.inf)))
        high = max(high, float(n.max(where=usable, initial=-np.inf)))
        finite = np.where(usable, n, -np.inf)
        tops[0] = np.maximum(tops[0], finite.max(axis=1))
        tops[1] = np.maximum(tops[1], finite[:, 1 if keys.start == 0 else 0 :].max(axis=1, initial=-np.inf))
        yield
    starts = np.arange(0, count, factors[0])
    highest, everywhere = pool_by(largest, None, (factors[0], 1), "max")
    put(Blocks(0, np.zeros_like(highest), everywhere, np.add.reduceat(added, starts, axis=0), highest))
    return Scanned(
        rows,
        (),
        torch.zeros(count, dtype=torch.bool, device=scores.device),
        gathered.to(scores.dtype),
        torch.from_numpy(sums),
        torch.from_numpy(np.maximum(tops, 0)),
        low,
        high,
    )


def _grouped(N: torch.Tensor, group: int, reduce: Callable[..., torch.Tensor]) -> torch.Tensor:
    """``reduce`` over groups of ``group`` columns of ``N``, what is left at the end being one too: [rows, groups]."""
    whole = N.shape[1] // group
    parts = [reduce(N[:, : whole * group].reshape(len(N), whole, group), dim=2)] if whole else []
    if whole * group < N.shape[1]:
        parts.append(reduce(N[:, whole * group :], dim=1, keepdim=True))
    return torch.cat(parts, dim=1)
