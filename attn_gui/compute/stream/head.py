"""StreamedHead: what is kept of one head, of any number of tokens; StreamedMean: of the mean over the heads."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch

from attn_gui.compute.numbers import to_numpy
from attn_gui.compute.stream.lanes import Lanes
from attn_gui.compute.stream.mean import scan_mean
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

    def _begin(self, rows: slice) -> Scan:
        scores, head = self._scores, self._head
        factors = (1 if rows.step else self._factors[0]), self._factors[1]
        beside = scores.beside(head)
        if beside is not None:
            scanned = yield from scan(scores, head, rows, beside, factors)
            if scanned.low > -math.inf and scanned.high < math.inf:  # neither is NaN
                return scanned
        return (yield from scan_whole(scores, head, rows, factors))

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

    def _begin(self, rows: slice) -> Scan:
        if not rows.step:
            for head in self._heads:
                head.need(rows)
            states = [head.row(rows) for head in self._heads]
            return scan_mean(self._scores, rows, states, self._factors)
        found: list[Scanned] = []
        for _, some in together(self._lanes, (head._begin(rows) for head in self._heads)):
            found += some
        states = [(tuple(part[:, None] for part in result.row), result.empty[:, None]) for result in found]
        return scan_mean(self._scores, rows, states, (1, self._factors[1]))
