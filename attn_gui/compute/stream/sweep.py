"""Sweep: what is kept of a matrix of scores and its weights, filled in row of tiles by row of tiles, in any order."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Iterator, Sequence
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray

from attn_gui.compute.numbers import to_numpy
from attn_gui.compute.stream.lanes import Lanes
from attn_gui.compute.stream.overview import Overview
from attn_gui.compute.stream.scan import Put, Scanned
from attn_gui.compute.stream.scores import Scores
from attn_gui.compute.stream.stepping import Steps, together

Scan = Generator[None, None, Scanned]
# rows of tiles, so few that the order in which they are scanned is not seen
FEW = 32


class Sweep:
    """An overview, the ends of the scores and the tops of the rows of weights; how rows are scanned, a kind says.

    A first overview may come from sampled queries, one for each row of its blocks.
    """

    def __init__(self, scores: Scores, lanes: Lanes, factors: tuple[int, int]) -> None:
        e = scores.experiment
        self._scores, self._lanes, self._factors = scores, lanes, factors
        self._blocks = list(scores.grid.around(slice(0, e.n_q), e.n_q))
        self._done = np.zeros(len(self._blocks), bool)
        self._dtype = np.dtype(np.float64 if scores.working is torch.float64 else np.float32)
        self.overview = Overview((e.n_q, e.n_k), factors, self._dtype)
        self.sample: Overview | None = None
        self._tops = torch.zeros((2, e.n_q), dtype=scores.working)
        self._ends, self._sampled_ends = [math.inf, -math.inf], [math.inf, -math.inf]
        self._highest = [0.0, 0.0]

    @property
    def part(self) -> float:
        """How much of it is there, 0 to 1."""
        return float(self._done.mean())

    @property
    def complete(self) -> bool:
        return bool(self._done.all())

    @property
    def rows_done(self) -> NDArray[np.bool_]:
        """Of which queries everything is there, [n_q]."""
        return np.repeat(self._done, [block.stop - block.start for block in self._blocks])

    def steps(self) -> Steps:
        """Everything that is missing, in short steps."""
        yield from self._run(range(len(self._blocks)))

    def need(self, rows: slice) -> None:
        """Have what is kept of ``rows`` at once."""
        for _ in self.need_steps(rows):
            pass

    def need_steps(self, rows: slice) -> Steps:
        """Have what is kept of ``rows``, in short steps."""
        size = self._scores.grid.rows
        yield from self._run(range(rows.start // size, -(-rows.stop // size)))

    def sample_steps(self) -> Steps:
        """The overview of sampled queries, in short steps."""
        if self.sample is not None or self.complete:
            return
        e, size, f = self._scores.experiment, self._scores.grid.rows, self._factors[0]
        middle, count = min(f // 2, (e.n_q - 1) % f), self.overview.shape[0]
        sample = Overview((count, e.n_k), (1, self._factors[1]), self._dtype)
        parts = [slice(start, min(start + size, count)) for start in range(0, count, size)]
        rows = [slice(middle + part.start * f, middle + (part.stop - 1) * f + 1, f) for part in parts]
        scans = yield from self._scans(rows, sample)
        for done, scanned in together(self._lanes, scans):
            for result in scanned:
                self._see(self._sampled_ends, result)
            yield min(1.0, done * size / count)
        sample.rows[:] = True
        if not self.complete:  # rows may have been asked for meanwhile
            self.sample = sample

    def tops(self, rows: slice, first: int) -> NDArray[np.floating]:
        """The largest weight of each of ``rows``, of the keys from ``first``, 0 or 1, on: [rows]."""
        found: NDArray[np.floating] = to_numpy(self._tops[first, rows])
        return found

    def ends(self) -> tuple[float, float]:
        """The smallest and the largest score, so far as is known."""
        known = [self._ends] if self.complete else [self._ends, self._sampled_ends]
        return min(low for low, _ in known), max(high for _, high in known)

    def highest(self, first: int) -> float:
        """The largest weight of the keys from ``first``, 0 or 1, on, so far as is known."""
        return self._highest[first]

    def _scans(self, rows: Sequence[slice], into: Overview) -> Generator[float, None, Iterator[Scan]]:
        """A scan of each of ``rows``, all of which may have a step, for ``into``; in short steps, if it takes long."""
        raise NotImplementedError

    def _putting(self, rows: slice, into: Overview) -> Put:
        """How blocks of ``rows`` are put into ``into``, which has a row of blocks for as many queries as ours."""
        return partial(into.put, rows.start // self._factors[0])

    def _keep(self, result: Scanned) -> None:
        """Keep what else there is of a row of tiles."""

    def _run(self, indices: Iterable[int]) -> Steps:
        missing = [self._blocks[index] for index in indices if not self._done[index]]
        if len(missing) <= FEW:
            # a long one that begins last would be waited for by all lanes but its own
            missing.sort(key=self._keys, reverse=True)
        for some in self._in_turn(missing):
            scans = yield from self._scans(some, self.overview)
            for _, scanned in together(self._lanes, scans):
                for result in scanned:
                    self._take(result)
                yield self.part

    def _keys(self, rows: slice) -> int:
        """How many keys are swept over for ``rows``."""
        return sum(segment.keys.stop - segment.keys.start for segment in self._scores.segments(rows, 1))

    def _in_turn(self, blocks: Sequence[slice]) -> Iterator[Sequence[slice]]:
        """The rows of tiles to begin at once."""
        if blocks:
            yield blocks

    def _take(self, result: Scanned) -> None:
        rows = result.rows
        index = rows.start // self._scores.grid.rows
        if self._done[index]:
            return  # somebody could not wait for it
        self._keep(result)
        self._tops[:, rows] = result.tops.cpu()
        self._see(self._ends, result)
        self.overview.rows[rows.start // self._factors[0] : -(-rows.stop // self._factors[0])] = True
        self._done[index] = True
        if self.complete:
            self.sample = None

    def _see(self, ends: list[float], result: Scanned) -> None:
        ends[0], ends[1] = min(ends[0], result.low), max(ends[1], result.high)
        most = result.tops.nan_to_num(0.0, 0.0, 0.0).amax(1).tolist()
        self._highest = [max(before, now) for before, now in zip(self._highest, most, strict=True)]
