"""StreamedMatrix: an n_q x n_k stage that never exists whole."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from attn_gui.compute.numbers import filled, to_numpy
from attn_gui.compute.pooling import edges, pool
from attn_gui.compute.stream.grid import Grid
from attn_gui.compute.stream.head import StreamedHead
from attn_gui.compute.stream.lanes import Lanes
from attn_gui.compute.stream.map import draw, refine
from attn_gui.compute.stream.overview import Overview
from attn_gui.compute.stream.rooms import Room
from attn_gui.compute.stream.sampling import sample_stage
from attn_gui.compute.stream.scores import Scores
from attn_gui.compute.stream.strips import Strips
from attn_gui.compute.stream.sweep import Sweep
from attn_gui.compute.stream.tiles import Tile, Tiles
from attn_gui.compute.stream.weighing import weigh
from attn_gui.model.trace import Drawn, Head, Pooling

Array = NDArray[Any]
# computed in one go while a matrix is brought down
CELLS = 1 << 22
# rows looked at for the ends of a stage that the pass does not see
SAMPLED_ROWS = 256
# of the fine grid, in one product
PART_ROWS = 1088
# of so many rows one or less is few: what was computed for it is kept for those beside it
FEW = 8


class StreamedMatrix:
    """``stage`` of ``head``, computed window by window on the grid of tiles; ``sweep`` knows of it as a whole.

    key: what it is among all matrices of its trace.
    """

    def __init__(
        self,
        scores: Scores,
        strips: Strips,
        tiles: Tiles,
        lanes: Lanes,
        heads: Sequence[StreamedHead],
        sweep: Sweep,
        stage: str,
        head: Head,
    ) -> None:
        self._scores, self._strips, self._lanes = scores, strips, lanes
        self._tiles, self._sweep = tiles, sweep
        self._stage, self._head = stage, head
        self.key = stage, head
        self._heads = heads if head == "mean" else [heads[head]]
        self._numbers = range(len(heads)) if head == "mean" else [head]
        # whether cells need to know of their whole rows
        self._of_rows = stage == "N" and not scores.given.weights
        self._extent: tuple[float, float] | None = None
        self._sampled: dict[Pooling, Tile] = {}

    @property
    def shape(self) -> tuple[int, int]:
        return self._scores.experiment.n_q, self._scores.experiment.n_k

    def block(self, rows: slice, columns: slice) -> Array:
        n_q = self.shape[0]
        dtype = torch.float32 if self._scores.dtype is torch.bfloat16 else self._scores.dtype
        out = torch.empty(rows.stop - rows.start, columns.stop - columns.start, dtype=dtype)
        if self._of_rows:
            for head in self._heads:
                head.need(rows)
        grid = self._scores.grid_within(rows, columns)
        if grid != self._scores.grid:
            # large products keep all of torch's threads busy, and lanes would wait for one another
            with torch.inference_mode():
                for part in grid.parts(rows, PART_ROWS):
                    self._fill(out, rows, columns, part, grid)
        else:
            tiles = grid.around(rows, n_q)
            self._lanes.run([partial(self._fill, out, rows, columns, tile, grid) for tile in tiles])
        return to_numpy(out)

    def allowed(self, rows: slice, columns: slice) -> NDArray[np.bool_]:
        if self._scores.mask.everything:
            return np.broadcast_to(np.True_, (rows.stop - rows.start, columns.stop - columns.start))
        with torch.inference_mode():
            return self._scores.mask.of_head(self._head, rows, columns).cpu().numpy()

    def pooled(
        self, rows: slice, columns: slice, out: tuple[int, int], how: Pooling
    ) -> tuple[Array, NDArray[np.bool_]]:
        starts = edges(rows.stop - rows.start, out[0]) + rows.start
        stops = np.append(starts[1:], rows.stop)
        some = max(1, CELLS // (columns.stop - columns.start))
        values, allowed = [], []
        first = 0
        while first < out[0]:
            last = max(first + 1, int(np.searchsorted(stops, starts[first] + some, side="right")))
            part = slice(int(starts[first]), int(stops[last - 1]))
            brought = self._brought_down(part, columns, (last - first, out[1]), how, some)
            values.append(brought[0])
            allowed.append(brought[1])
            first = last
        return np.concatenate(values), np.concatenate(allowed)

    def extent(self, first_key: int = 0) -> tuple[float, float]:
        if self._stage == "N":
            low = 0.0 if self._of_rows else _known(*self._sweep.ends())[0]
            return min(low, 0.0), self._sweep.highest(first_key)
        scale, plain = self._scores.experiment.scale, self._scores.experiment.scoring
        if self._stage in ("A", "A_masked"):
            return _known(*self._sweep.ends())
        if self._stage != "bias" and scale > 0 and plain.softcap is None and not plain.biases:
            by = scale if self._stage == "raw" else 1.0
            low, high = _known(*self._sweep.ends())
            return low / by, high / by
        if self._extent is None:
            self._extent = self._sampled_extent()
        return self._extent

    def row_tops(self, rows: slice) -> Array:
        if self._stage == "N":
            return self._sweep.tops(rows, 0)
        tops = np.empty(rows.stop - rows.start)
        keys = slice(0, self.shape[1])
        step = max(1, CELLS // self.shape[1])
        for start in range(rows.start, rows.stop, step):
            some = slice(start, min(start + step, rows.stop))
            values = self.block(some, keys)
            usable = self.allowed(some, keys) & np.isfinite(values)
            tops[some.start - rows.start : some.stop - rows.start] = values.max(axis=1, where=usable, initial=-np.inf)
        return tops

    @property
    def factors(self) -> tuple[int, int]:
        """Queries and keys to a cell of the overview."""
        return self._sweep.overview.factors

    def has_overview(self, how: Pooling) -> bool:
        """Whether the pass brings the stage down in this way."""
        return (self._stage == "N" and how != "min") or (self._stage in ("A", "A_masked") and how == "max")

    def overview(self, how: Pooling) -> tuple[Array, NDArray[np.bool_], NDArray[np.bool_]]:
        """Values, where any cell is allowed, and which rows stand for all of their queries and not for sampled ones.

        What the pass does not bring down in this way, or not yet, is another look at the same: to be drawn until tiles
        are there.
        """
        exact, sample = self._sweep.overview, self._sweep.sample
        if self._stage not in ("N", "A", "A_masked"):
            values, allowed = self._sampled[how]
            return values, allowed, np.zeros(len(values), bool)
        whole = exact.rows
        values, allowed = self._of(exact, how), exact.allowed
        if sample is not None and not whole.all():
            values = np.where(whole[:, None], values, self._of(sample, how))
            allowed = np.where(whole[:, None], allowed, sample.allowed)
        return values, allowed, whole

    def begun(self, how: Pooling) -> Generator[float, None, None]:
        """Have what :meth:`overview` looks at, in short steps."""
        if self._stage in ("N", "A", "A_masked"):
            yield from self._sweep.sample_steps()
        elif how not in self._sampled:
            self._sampled[how] = yield from sample_stage(
                self._scores, self._stage, self._head, self._numbers, self.factors, how
            )

    def ready(self, rows: slice) -> bool:
        """Whether cells of ``rows`` can be had without going over their whole rows."""
        return not self._of_rows or all(bool(head.rows_done[rows].all()) for head in self._heads)

    def made_ready(self, rows: slice) -> Generator[float, None, None]:
        """Have :meth:`ready` so, in short steps."""
        if self._of_rows:
            for head in self._heads:
                yield from head.need_steps(rows)

    def drawn(self, rows: slice, columns: slice, out: tuple[int, int], how: Pooling) -> Drawn:
        for _ in self.begun(how):
            pass
        return draw(self, self._tiles, rows, columns, out, how)

    def refined(self, rows: slice, columns: slice, out: tuple[int, int], how: Pooling) -> Generator[bool, None, None]:
        yield from refine(self, self._tiles, rows, columns, out, how)

    def _of(self, overview: Overview, how: Pooling) -> Array:
        if self._stage != "N":
            return overview.scores
        return overview.means() if how == "mean" else overview.largest

    def _fill(self, out: torch.Tensor, rows: slice, columns: slice, tile: slice, grid: Grid) -> None:
        """Put into ``out``, the window, the rows of one row of tiles, or of some of the fine grid."""
        n_k = self.shape[1]
        some = slice(max(rows.start, tile.start), min(rows.stop, tile.stop))
        place = out[some.start - rows.start : some.stop - rows.start]
        keys = grid.keys_around(columns, n_k)
        with self._scores.rooms.lent() as room:
            for start in range(keys.start, keys.stop, grid.segment):
                part = slice(start, min(start + grid.segment, keys.stop))
                wanted = slice(max(part.start, columns.start), min(part.stop, columns.stop))
                into = place[:, wanted.start - columns.start : wanted.stop - columns.start].t()
                self._put(into, tile, some, part, wanted, grid, room)

    def _put(
        self, into: torch.Tensor, tile: slice, rows: slice, part: slice, keys: slice, grid: Grid, room: Room
    ) -> None:
        """Cells of the stage into ``into``, [keys, rows]: ``rows`` of ``tile``, ``keys`` of ``part``, whole tiles."""
        scores, everything = self._scores, self._scores.mask.everything
        few = (rows.stop - rows.start) * FEW <= tile.stop - tile.start
        stage = "A" if self._stage in ("A_masked", "N") else self._stage
        total: torch.Tensor | None = None
        for number, head in zip(self._numbers, self._heads, strict=True):
            S = self._strips.block(stage, number, tile, part, few, grid, room)
            here = slice(keys.start - part.start, keys.stop - part.start)
            values = S[here, rows.start - tile.start : rows.stop - tile.start]
            if self._of_rows:
                row, empty = head.row(rows)
                alone = into if len(self._heads) == 1 and into.dtype is scores.dtype else None
                values = weigh(scores, values, tuple(each.t() for each in row), empty.t(), alone)
                if not everything:  # afterwards: exponentials of -inf take ten times as long
                    filled(values, ~scores.allowed(number, rows, keys, like=values), 0.0)
            if len(self._heads) == 1:
                total = values
            else:
                # the next head's scores take the same memory
                total = values.to(scores.working, copy=True) if total is None else total.add_(values)
        assert total is not None
        if len(self._heads) > 1:
            total = (total / len(self._heads)).to(scores.dtype)
        if self._stage == "A_masked" and not everything:
            total = torch.where(scores.mask.of_head(self._head, rows, keys).t(), total, -torch.inf)
        if total is not into:
            into.copy_(total)

    def _brought_down(
        self, rows: slice, columns: slice, out: tuple[int, int], how: Pooling, some: int
    ) -> tuple[Array, NDArray[np.bool_]]:
        """:meth:`pooled` of few rows; of one row of blocks, in parts of ``some`` rows."""
        if out[0] > 1 or rows.stop - rows.start <= some:
            return pool(self.block(rows, columns), self.allowed(rows, columns), out, how)
        parts = [slice(start, min(start + some, rows.stop)) for start in range(rows.start, rows.stop, some)]
        found = [pool(self.block(part, columns), self.allowed(part, columns), (1, out[1]), how) for part in parts]
        values, allowed = (np.concatenate([pair[k] for pair in found]) for k in (0, 1))
        if how != "mean":
            return pool(values, allowed, (1, out[1]), how)
        heights = np.array([part.stop - part.start for part in parts])
        mean = np.average(values, axis=0, weights=heights)[np.newaxis].astype(values.dtype)
        return mean, np.asarray(allowed.any(axis=0, keepdims=True))

    def _sampled_extent(self) -> tuple[float, float]:
        n_q, n_k = self.shape
        tops = [self.block(slice(i, i + 1), slice(0, n_k)) for i in range(0, n_q, max(1, n_q // SAMPLED_ROWS))]
        values = np.concatenate(tops)
        finite = values[np.isfinite(values)]
        return (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)


def _known(low: float, high: float) -> tuple[float, float]:
    return (low, high) if low <= high else (0.0, 0.0)
