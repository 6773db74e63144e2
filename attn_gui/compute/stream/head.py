"""StreamedHead: what is kept of one head, of any number of tokens; StreamedMean: of the mean over the heads."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence

import numpy as np
import torch

from attn_gui.compute.numbers import to_numpy
from attn_gui.compute.stream.given import scan_given
from attn_gui.compute.stream.lanes import Lanes
from attn_gui.compute.stream.mean import scan_mean
from attn_gui.compute.stream.overview import Overview
from attn_gui.compute.stream.scan import Scanned, scan
from attn_gui.compute.stream.scores import Scores
from attn_gui.compute.stream.stepping import together
from attn_gui.compute.stream.sweep import Scan, Sweep
from attn_gui.compute.stream.weighing import Row
from attn_gui.compute.stream.whole_rows import scan_whole
from attn_gui.model.table import Floats


class StreamedHead(Sweep):
    """Row states and output of one head besides."""

    def __init__(self, scores: Scores, head: int, lanes: Lanes, factors: tuple[int, int]) -> None:
        super().__init__(scores, lanes, factors)
        e = scores.experiment
        self._head = head
        self.output = torch.zeros(e.n_q, e.d_v, dtype=scores.dtype, device=scores.device)
        self.sums: Floats = np.zeros(e.n_q)
        self.empty = torch.zeros(e.n_q, dtype=torch.bool, device=scores.device)
        self._row: list[torch.Tensor] = []

    def row(self, rows: slice) -> tuple[Row, torch.Tensor]:
        """States [rows, 1], and which may attend to nothing, [rows, 1]; of rows that are there."""
        return tuple(part[rows, None] for part in self._row), self.empty[rows, None]

    def _scans(self, rows: Sequence[slice], into: Overview) -> Generator[float, None, Iterator[Scan]]:
        yield 0.0
        return (self.scan(some, into) for some in rows)

    def scan(self, rows: slice, into: Overview) -> Scan:
        """A scan of ``rows``, which may have a step."""
        scores, head, put = self._scores, self._head, self._putting(rows, into)
        if scores.given.weights:
            return (yield from scan_given(scores, head, rows, into.factors, put))
        beside = scores.beside(head)
        if beside is not None:
            scanned = yield from scan(scores, head, rows, beside, into.factors, put)
            if scanned.low > -math.inf and scanned.high < math.inf:  # neither is NaN
                return scanned
        return (yield from scan_whole(scores, head, rows, into.factors, put))

    def _keep(self, result: Scanned) -> None:
        if not self._row:
            self._row = [part.new_zeros(len(self.empty)) for part in result.row]
        for kept, part in zip(self._row, result.row, strict=True):
            kept[result.rows] = part
        self.output[result.rows] = result.output
        self.empty[result.rows] = result.empty
        self.sums[result.rows] = to_numpy(result.sums)


class StreamedMean(Sweep):
    """Of the mean over ``heads``, which are filled in as far as it needs them."""

    def __init__(self, scores: Scores, heads: Sequence[StreamedHead], lanes: Lanes, factors: tuple[int, int]) -> None:
        super().__init__(scores, lanes, factors)
        self._heads = heads

    def _in_turn(self, blocks: Sequence[slice]) -> Iterator[Sequence[slice]]:
        # what of the heads is not there yet comes row by row with it
        return (blocks[k : k + self._lanes.count] for k in range(0, len(blocks), self._lanes.count))

    def _scans(self, rows: Sequence[slice], into: Overview) -> Generator[float, None, Iterator[Scan]]:
        scans = []
        for some in rows:
            if self._scores.given.weights:
                states = [head.row(some) for head in self._heads]
            elif some.step:
                states = yield from self._sampled_states(some, into)
            else:
                for head in self._heads:
                    yield from head.need_steps(some)
                states = [head.row(some) for head in self._heads]
            scans.append(scan_mean(self._scores, some, states, into.factors, self._putting(some, into)))
        return iter(scans)

    def _sampled_states(self, rows: slice, into: Overview) -> Generator[float, None, list[tuple[Row, torch.Tensor]]]:
        """Of each head; what it puts into the overview, the mean is put over."""
        states: list[tuple[Row, torch.Tensor]] = []
        for head in self._heads:
            for _, some in together(self._lanes, iter([head.scan(rows, into)])):
                yield 0.0
                states += [(tuple(part[:, None] for part in found.row), found.empty[:, None]) for found in some]
        return states
