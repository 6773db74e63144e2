"""Scans of a block of queries whose rows are needed whole."""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from attn_gui.compute import attention
from attn_gui.compute.numbers import row_sums, to_numpy
from attn_gui.compute.stream.overview import Blocks, pool_by
from attn_gui.compute.stream.scan import Put, Scanned
from attn_gui.compute.stream.scores import Scores
from attn_gui.compute.stream.weighing import row_state, weigh

# rows looked at together: a normaliser may sort them, and needs several times their memory
CELLS = 1 << 20


def scan_whole(
    scores: Scores, head: int, rows: slice, factors: tuple[int, int], put: Put
) -> Generator[None, None, Scanned]:
    """Any normaliser, any precision, scores that are not finite: rows whole, stage by stage as the reference."""
    A = yield from _whole(scores, head, rows)  # [rows, n_k]
    n_k, step = A.shape[1], rows.step or 1
    V = scores.inputs.V[head]
    kept = Kept(scores, factors)
    states, outputs = [], []
    some = max(1, CELLS // n_k)
    for start in range(0, len(A), some):
        part = A[start : start + some]
        first = rows.start + start * step
        there = slice(first, first + len(part) * step, step)
        allowed = scores.allowed(head, there, slice(0, n_k), like=part.t()).t()
        masked, empty = attention.masked_scores(part, allowed), ~allowed.any(dim=1, keepdim=True)
        state = row_state(scores, head, masked)
        N = weigh(scores, masked, state, empty)
        outputs.append(attention.head_output(N, V, empty, scores.working))
        states.append(state)
        kept.add(part, N, allowed)
        yield
    row = tuple(torch.cat(parts)[:, 0] for parts in zip(*states, strict=True))
    put(kept.blocks())
    return kept.scanned(rows, row, torch.cat(outputs))


class Kept:
    """What a Scanned and Blocks are put together from, rows after rows."""

    def __init__(self, scores: Scores, factors: tuple[int, int]) -> None:
        self._scores, self._factors = scores, factors
        self._columns: dict[str, list[NDArray[Any]]] = {}
        self._low, self._high = math.inf, -math.inf

    def add(self, A: torch.Tensor, N: torch.Tensor, allowed: torch.Tensor) -> None:
        """Scores before the mask, weights and mask of some rows, [rows, n_k]."""
        # numpy is slow with numbers of 16 bits
        A, N = A.to(self._scores.working), N.to(self._scores.working)
        a, n, cells = to_numpy(A), to_numpy(N), allowed.cpu().numpy()
        usable = np.isfinite(a) & cells
        self._low = min(self._low, float(np.where(usable, a, np.inf).min()))
        self._high = max(self._high, float(np.where(usable, a, -np.inf).max()))
        finite = np.where(np.isfinite(n) & cells, n, 0)
        group = self._factors[1]
        by = 1, group
        largest_scores, any_allowed = pool_by(a, cells, by, "max")
        largest_weights, _ = pool_by(n, cells, by, "max")
        starts = np.arange(0, a.shape[1], group)
        with np.errstate(invalid="ignore", over="ignore"):
            weights = np.add.reduceat(np.where(cells, n, 0), starts, axis=1, dtype=np.float64)
        found: dict[str, NDArray[Any]] = {
            "empty": np.asarray(~cells.any(axis=1)),
            "sums": row_sums(N),
            "tops": np.stack([finite.max(axis=1, initial=0.0), finite[:, 1:].max(axis=1, initial=0.0)], axis=1),
            "scores": largest_scores,
            "allowed": any_allowed,
            "weights": weights,
            "largest": largest_weights,
        }
        for name, column in found.items():
            self._columns.setdefault(name, []).append(column)

    def blocks(self) -> Blocks:
        """What an overview has of them."""
        columns = {name: np.concatenate(self._columns[name]) for name in ("scores", "allowed", "weights", "largest")}
        by, allowed = (self._factors[0], 1), columns["allowed"]
        return Blocks(
            0,
            *pool_by(columns["scores"], allowed, by, "max"),
            np.add.reduceat(columns["weights"], np.arange(0, len(allowed), self._factors[0]), axis=0),
            pool_by(columns["largest"], allowed, by, "max")[0],
        )

    def scanned(self, rows: slice, row: tuple[torch.Tensor, ...], output: torch.Tensor) -> Scanned:
        """The rest of it."""

        def joined(name: str, dtype: torch.dtype | None = None) -> torch.Tensor:
            array = np.concatenate(self._columns[name])
            return torch.from_numpy(array).to(self._scores.device, dtype)

        working = self._scores.working
        return Scanned(
            rows,
            row,
            joined("empty"),
            output,
            joined("sums"),
            joined("tops", working).t(),
            self._low,
            self._high,
        )


def _whole(scores: Scores, head: int, rows: slice) -> Generator[None, None, torch.Tensor]:
    """The scores of ``rows`` before the mask, [rows, n_k]."""
    n_k = scores.experiment.n_k
    A = torch.empty((len(range(rows.start, rows.stop, rows.step or 1)), n_k), dtype=scores.dtype, device=scores.device)
    for start in range(0, n_k, scores.grid.segment):
        keys = slice(start, min(start + scores.grid.segment, n_k))
        A[:, keys] = scores.block(head, rows, keys).t()
        yield
    return A
