"""Scores: blocks of the scores of an experiment, computed on the grid of tiles."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch

from attn_gui.compute import attention
from attn_gui.compute.biasing import Biasing
from attn_gui.compute.given import GivenCells
from attn_gui.compute.indices import Indices
from attn_gui.compute.masking import Mask
from attn_gui.compute.numbers import stored, summed
from attn_gui.compute.projections import Projections
from attn_gui.compute.stream.alike import alike
from attn_gui.compute.stream.grid import FINE, Grid, grid_for
from attn_gui.compute.stream.rooms import rooms_for
from attn_gui.model.experiment import Experiment


class Segment(NamedTuple):
    """Keys to sweep over; ``masked``: those among them of which the mask has to be looked at."""

    keys: slice
    masked: tuple[slice, ...]


class Scores:
    """Queries, keys, values, mask and biases of an experiment on a device, and blocks of what comes of them.

    Blocks lie on their side, [keys, rows]: what is summed over groups of keys is then added up line by line, at one
    speed for every size of group.
    """

    def __init__(self, experiment: Experiment, device: str) -> None:
        e = self.experiment = experiment
        self.device = torch.device(device)
        self.grid = grid_for(self.device)
        self.dtype, self.working = stored(e.precision), summed(e.precision)
        self.rooms = rooms_for(self.working, self.device)
        self.inputs = Projections(e, self.device)
        self.given = GivenCells(e, self.device)
        indices = Indices(e, self.device)
        self.mask = Mask(e, self.device, indices)
        self.bias = Biasing(e, indices)
        self._columns = e.columns()
        # a key that is masked takes part all the same where its value is no number: 0 times NaN is NaN
        self._skips = bool(torch.isfinite(self.inputs.V).all())
        mantissa, _ = math.frexp(abs(e.scale))
        self._exact_scale = mantissa == 0.5

    def grid_within(self, rows: slice, keys: slice) -> Grid:
        """The grid to cut a window by: a fine one where that gives the same bits, which what lies beyond tiles may not.

        Nothing is tried before a window is asked for.
        """
        e, tile = self.experiment, self.grid
        inner = rows.stop <= e.n_q // tile.rows * tile.rows and keys.stop <= e.n_k // tile.keys * tile.keys
        plain = self.device.type == "cpu" and self.dtype is self.working
        made = e.has_scores and not self.given.scores
        divides = tile.rows % FINE.rows == 0 and tile.keys % FINE.keys == 0
        if inner and plain and made and divides and alike(e.d_k, self.dtype, tile, torch.get_num_threads()):
            return FINE
        return tile

    def block(
        self,
        head: int,
        rows: slice,
        keys: slice,
        stage: str = "A",
        out: torch.Tensor | None = None,
        grid: Grid | None = None,
    ) -> torch.Tensor:
        """``raw``, ``scaled``, ``capped``, ``bias`` or ``A``, all before the mask, as stored: [keys, rows].

        ``N`` where that was given. keys: whole tiles. rows: those of one row of tiles, or any with a step. out: where
        the result may be put. grid: that of rows and keys if it is a fine one, and all are one product.
        """
        e = self.experiment
        if stage == "bias":
            return self._biases(head, rows, keys).to(self.dtype)
        if self.given.scores or self.given.weights:
            return self._looked_up(head, rows, keys, out)
        Q, K = self.inputs.Q[head, rows], self.inputs.K[head]  # [rows, d_k], [n_k, d_k]
        shape = keys.stop - keys.start, len(Q)
        S = torch.empty(shape, dtype=self.dtype, device=self.device) if out is None else out
        # a power of two makes the product and its rounding one step
        scaling = stage != "raw" and self._exact_scale
        step = self.grid.keys if grid in (None, self.grid) else shape[0]
        for start in range(keys.start, keys.stop, step):
            stop = min(start + step, keys.stop)
            tile = S[start - keys.start : stop - keys.start]
            if self.dtype is self.working:
                torch.addmm(tile, K[start:stop], Q.t(), beta=0, alpha=e.scale if scaling else 1, out=tile)
            else:
                attention.raw_scores(K[start:stop], Q, self.working, tile)
                if scaling:
                    attention.scaled_scores(tile, e.scale, self.working, tile)
        if stage == "raw":
            return S
        if not scaling:
            attention.scaled_scores(S, e.scale, self.working, S)
        if stage == "scaled":
            return S
        if e.scoring.softcap is not None:
            S = attention.capped_scores(S, e.scoring.softcap, self.working)
        if stage == "capped" or self.bias.nothing:
            return S
        return attention.biased_scores(S, self._biases(head, rows, keys), S)

    def _looked_up(self, head: int, rows: slice, keys: slice, out: torch.Tensor | None) -> torch.Tensor:
        """Scores that were given, with their bias, or weights: [keys, rows]."""
        found = self.given.block(head, rows, keys).t()
        S = torch.empty(found.shape, dtype=self.dtype, device=self.device) if out is None else out
        S.copy_(found)
        return S if self.bias.nothing else attention.biased_scores(S, self._biases(head, rows, keys), S)

    def allowed(self, head: int, rows: slice, keys: slice, like: torch.Tensor | None = None) -> torch.Tensor:
        """Where the mask allows, bool [keys, rows], not to be changed.

        It lies in memory as blocks do, or as ``like`` of the same shape: across it, each look at both takes twice as
        long.
        """
        turned = like is None or like.stride(0) >= like.stride(1)
        return self.mask.allowed(slice(head, head + 1), rows, keys, turned)[0].t()

    def segments(self, rows: slice, align: int) -> Iterator[Segment]:
        """What there is to sweep over for ``rows``, from the first key to the last, without what the mask rules out.

        Each begins at a multiple of ``align`` and of the tiles' keys, and holds whole tiles: a product of a part of one
        may differ in its last bit.
        """
        n_k = self.experiment.n_k
        align = max(align, self.grid.keys)
        reach, free = self._reach(rows)
        start = reach[0] // align * align
        stop = min(-(-reach[1] // self.grid.keys) * self.grid.keys, n_k)
        inner = -(-free[0] // align) * align, free[1] if free[1] == n_k else free[1] // align * align
        if inner[1] <= inner[0]:
            inner = stop, stop
        step = max(self.grid.segment, align)
        for first in range(start, stop, step):
            last = min(first + step, stop)
            parts = slice(first, min(inner[0], last)), slice(max(inner[1], first), last)
            yield Segment(slice(first, last), tuple(part for part in parts if part.start < part.stop))

    def _reach(self, rows: slice) -> tuple[tuple[int, int], tuple[int, int]]:
        """The keys that any of ``rows`` may attend to, and those that each may: both [start, stop)."""
        e, columns = self.experiment, self._columns
        if self.mask.everything:
            return (0, e.n_k), (0, e.n_k)
        span = range(rows.start, rows.stop, rows.step or 1)
        first, last = span[0], span[-1]
        reach, free = e.rule.key_range(first, last, columns), e.rule.open_range(first, last, columns)
        if free == (0, columns.n_k):
            free = (0, e.n_k)  # what is appended is open to all
        if e.painted.touches(first, last):
            given = e.painted.key_range(first, last)
            if given is not None:
                reach = (min(reach[0], given[0]), max(reach[1], given[1])) if reach[1] > reach[0] else given
            free = (0, 0)
        if e.appended:
            reach = (reach[0] if reach[1] > reach[0] else columns.n_k, e.n_k)
        return (reach if self._skips else (0, e.n_k)), free

    def _biases(self, head: int, rows: slice, keys: slice) -> torch.Tensor:
        """[keys, rows] in the working type."""
        return self.bias.values(slice(head, head + 1), rows, keys, self.working)[0].t()

    def beside(self, head: int) -> tuple[float, ...] | None:
        """The scores that take part in each row of ``head`` beside its own; None where rows are needed whole."""
        scoring = self.experiment.scoring
        own = scoring.normaliser.beside()
        if own is None or self.dtype is not self.working:
            return None
        if scoring.sinks is None:
            return own
        return (*own, float(np.float32(scoring.sinks[head])) if self.dtype is torch.float32 else scoring.sinks[head])
