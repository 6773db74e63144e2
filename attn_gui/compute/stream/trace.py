"""StreamedTrace: a trace whose scores and weights never exist whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from attn_gui.compute import attention, budget
from attn_gui.compute.numbers import to_numpy
from attn_gui.compute.stream.head import StreamedHead, StreamedMean
from attn_gui.compute.stream.lanes import Lanes
from attn_gui.compute.stream.matrix import StreamedMatrix
from attn_gui.compute.stream.overview import factor_for
from attn_gui.compute.stream.scores import Scores
from attn_gui.compute.stream.stepping import Steps
from attn_gui.compute.stream.strips import Strips
from attn_gui.compute.stream.sweep import Sweep
from attn_gui.compute.stream.tiles import Tiles
from attn_gui.model.errors import TooLarge
from attn_gui.model.experiment import Experiment
from attn_gui.model.stage_shape import check_stage, square_key
from attn_gui.model.stages import STAGES
from attn_gui.model.trace import ALL, Head

# cells of an overview along an axis, and those of all heads' overviews together
SIDE, MOST_CELLS = 1024, 1 << 23


class StreamedTrace:
    """Computed as far as it is asked for; :meth:`passes` computes all of it."""

    def __init__(self, experiment: Experiment, device: str) -> None:
        e = self.experiment = experiment
        self.device = device
        with torch.inference_mode():
            self._scores = Scores(e, device)
        self._lanes = Lanes(self._scores.device)
        self._strips = Strips(self._scores)
        self._tiles = Tiles()
        side = SIDE
        while e.heads * side * side > MOST_CELLS and side > 64:
            side //= 2
        # a block lies in one row of tiles, so that each row of tiles has its own rows of the overview
        factors = min(factor_for(e.n_q, side), self._scores.grid.rows), factor_for(e.n_k, side)
        self._heads = [StreamedHead(self._scores, head, self._lanes, factors) for head in range(e.heads)]
        self._mean = StreamedMean(self._scores, self._heads, self._lanes, factors)
        self._matrices: dict[tuple[str, Head], StreamedMatrix] = {}
        self._output: torch.Tensor | None = None

    def part(self, head: Head | None = None) -> float:
        if head is None:
            return sum(each.part for each in self._heads) / len(self._heads)
        return self._sweep(head).part

    def passes(self, first: Sequence[Head] = ()) -> Steps:
        """All that is missing, in short steps, of the heads ``first`` before others; of the mean only if so told."""
        sweeps = list(dict.fromkeys(self._sweep(head) for head in (*first, *range(len(self._heads)))))
        for done, sweep in enumerate(sweeps):
            for part in sweep.steps():
                yield (done + part) / len(sweeps)

    def row_sums(self, head: Head, rows: slice = ALL) -> NDArray[np.float64]:
        sums = [each.sums[rows] for each in self._having(head, rows)]
        return sums[0] if len(sums) == 1 else np.mean(sums, axis=0)

    def empty_rows(self, head: Head) -> NDArray[np.bool_]:
        if not self.experiment.has_scores:
            return np.zeros(self.experiment.n_q, bool)
        empty = np.stack([each.empty.cpu().numpy() for each in self._having(head)])
        return np.asarray(empty.all(axis=0))

    def stage(self, name: str, head: int | None = None) -> NDArray[Any]:
        check_stage(self.experiment, name)
        stage, e = STAGES[name], self.experiment
        if not stage.per_head:
            return to_numpy(self._whole(name))
        heads = range(e.heads) if head is None else [range(e.heads)[head]]
        if stage.square:
            whole = self._square(name, heads)
            return whole if head is None else whole[0]
        if name == "head_output":
            parts = [to_numpy(self._having(h)[0].output) for h in heads]
        else:
            parts = [to_numpy(self._scores.inputs.of_head(name, h)) for h in heads]
        return np.stack(parts) if head is None else parts[0]

    def _square(self, name: str, heads: Sequence[int]) -> NDArray[Any]:
        """A stage of queries x keys as one array, [heads, n_q, n_k], if there is memory for it."""
        e = self.experiment
        dtype, cells = np.dtype(e.precision.numpy), len(heads) * e.n_q * e.n_k
        have = budget.available(torch.device("cpu"))
        if (need := cells * dtype.itemsize) > have:
            raise TooLarge(f"{name} of {len(heads)} x {e.n_q} x {e.n_k} cells as one array", need, have)
        whole = np.empty((len(heads), e.n_q, e.n_k), dtype)
        for place, head in enumerate(heads):
            for rows in self._scores.grid.around(slice(0, e.n_q), e.n_q):
                whole[place, rows] = self.matrix(name, head).block(rows, slice(0, e.n_k))
        whole.flags.writeable = False
        return whole

    def matrix(self, name: str, head: Head) -> StreamedMatrix:
        name, head = key = square_key(self.experiment, name, head)
        if key not in self._matrices:
            self._matrices[key] = StreamedMatrix(
                self._scores, self._strips, self._tiles, self._lanes, self._heads, self._sweep(head), name, head
            )
        return self._matrices[key]

    def _sweep(self, head: Head) -> Sweep:
        return self._mean if head == "mean" else self._heads[head]

    def _having(self, head: Head, rows: slice = ALL) -> list[StreamedHead]:
        """The head, or all of them, with ``rows`` filled in."""
        heads = self._heads if head == "mean" else [self._heads[head]]
        start, stop, _ = rows.indices(self.experiment.n_q)
        for each in heads:
            each.need(slice(start, stop))
        return heads

    def _whole(self, name: str) -> torch.Tensor:
        """A stage that there is once for all heads, [n, size]."""
        if name not in ("concat", "output"):
            with torch.inference_mode():
                return self._scores.inputs.inputs(name)
        joined = attention.concat(torch.stack([self._having(h)[0].output for h in range(self.experiment.heads)]))
        if name == "concat":
            return joined
        if self._output is None:
            inputs = self._scores.inputs
            with torch.inference_mode():
                W_O, b_O = inputs.weight("W_O"), inputs.weight("b_O")
                self._output = attention.output(joined, W_O, b_O, self._scores.working)
        return self._output
