"""Weights that were given, looked at where they lie: a head of a mapped file is read once, and nothing of it kept."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from attn_gui.compute.matrix import row_blocks
from attn_gui.compute.numbers import from_numpy, stored, summed, to_numpy
from attn_gui.compute.pooling import edges, pool
from attn_gui.compute.trace import trace
from attn_gui.compute.whole import WholeMatrix
from attn_gui.model.experiment import Experiment
from attn_gui.model.given import BFLOAT16, Given, precision_of, widened
from attn_gui.model.mapped import fetched
from attn_gui.model.precision import Precision
from attn_gui.model.sources import GivenWeights
from attn_gui.model.trace import ALL, Head, Matrix, Pooling, Trace

CPU = torch.device("cpu")
BITS = {2: np.uint16, 4: np.uint32, 8: np.uint64}
# cells that are added up in a core's own cache; so few that torch does not have its threads wait for one another
CACHED = 1 << 14
IN_ONE_STROKE = 8
# cells of a head that are read in one go, some 100 ms; and of a mean that is kept
MOST_LOOKED_AT, MOST_AVERAGED = 1 << 27, 1 << 24


class GivenMatrix(WholeMatrix):
    """Weights read through ``read(rows, columns)``, in the type that they came in. Nothing is masked."""

    def __init__(self, shape: tuple[int, int], read: Callable[[slice, slice], Given]) -> None:
        self._shape = shape
        self._read = read
        self._extents: dict[int, tuple[float, float]] = {}

    @property
    def shape(self) -> tuple[int, int]:
        return self._shape

    def block(self, rows: slice, columns: slice) -> NDArray[Any]:
        return widened(self._read(rows, columns))

    def allowed(self, rows: slice, columns: slice) -> NDArray[np.bool_]:
        return np.broadcast_to(np.True_, (rows.stop - rows.start, columns.stop - columns.start))

    def pooled(
        self, rows: slice, columns: slice, out: tuple[int, int], how: Pooling
    ) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        if how != "max":
            return pool(self.block(rows, columns), None, out, how)
        starts = [*(rows.start + edges(rows.stop - rows.start, out[0])).tolist(), rows.stop]
        blocks = [slice(start, stop) for start, stop in pairwise(starts)]
        tops, least, most = self._tops(blocks, columns)
        if (rows, columns) == (slice(0, self._shape[0]), slice(0, self._shape[1])):
            self._extents[0] = (least, most) if least <= most else (0.0, 0.0)
        return pool(tops, None, out, how)

    def extent(self, first_key: int = 0) -> tuple[float, float]:
        if first_key >= self._shape[1]:
            return 0.0, 0.0
        if first_key not in self._extents:
            _, least, most = self._tops(list(row_blocks(self._shape)), slice(first_key, self._shape[1]))
            self._extents[first_key] = (least, most) if least <= most else (0.0, 0.0)
        return self._extents[first_key]

    def row_tops(self, rows: slice) -> NDArray[Any]:
        values = self.block(rows, slice(0, self._shape[1]))
        return np.where(np.isfinite(values), values, -np.inf).max(axis=1)

    def _tops(self, blocks: Sequence[slice], columns: slice) -> tuple[NDArray[Any], float, float]:
        """Of each block of rows the largest of every column, [blocks, columns], and the ends of all finite values."""
        return self._tops_of_bits(blocks, columns) or self._tops_of_values(blocks, columns)

    def _tops_of_bits(self, blocks: Sequence[slice], columns: slice) -> tuple[NDArray[Any], float, float] | None:
        """As :meth:`_tops`; None where a number has a sign or is not finite.

        Numbers without a sign are in the order of their bits, infinity and NaN after all others, so that those are
        what is compared: processors do that far faster, in half precision by a factor of twenty.
        """
        dtype = self._read(slice(0, 1), slice(0, 1)).dtype
        if not (dtype.kind == "f" or dtype == BFLOAT16) or not dtype.isnative or dtype.itemsize not in BITS:
            return None
        bits = BITS[dtype.itemsize]
        tops = np.empty((len(blocks), columns.stop - columns.start), bits)
        least = 1 << 8 * dtype.itemsize
        for start, stop, height in _alike(blocks):
            rows = slice(blocks[start].start, blocks[stop - 1].stop)
            part = self._read(rows, columns).view(bits).reshape(stop - start, height, -1)
            # several blocks in one stroke, since others wait for Python between two
            np.maximum.reduce(part, axis=1, out=tops[start:stop])
            least = min(least, int(part.min()))
        found = widened(tops.view(dtype))
        if np.signbit(found).any() or not np.isfinite(found).all():
            return None
        return found, float(np.array(least, bits).view(dtype)), float(found.max())

    def _tops_of_values(self, blocks: Sequence[slice], columns: slice) -> tuple[NDArray[Any], float, float]:
        tops, least, most = [], np.inf, -np.inf
        for rows in blocks:
            values = widened(self._read(rows, columns))
            tops.append(pool(values, None, (1, values.shape[1]), "max")[0][0])
            finite = values[np.isfinite(values)]
            if finite.size:
                least, most = min(least, float(finite.min())), max(most, float(finite.max()))
        return np.stack(tops), least, most


class GivenMean(WholeMatrix):
    """The mean of given weights over the heads, as the stages have it: summed in the working type, then rounded."""

    def __init__(self, N: Given, precision: Precision) -> None:
        self._N = N
        self._dtype, self._working = stored(precision), summed(precision)
        self._done: GivenMatrix | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return self._N.shape[1], self._N.shape[2]

    def begun(self, how: Pooling) -> Generator[float, None, None]:
        if self._done is not None:
            return
        parts, (n_q, n_k) = [], self.shape
        few = max(1, CACHED // n_k)
        for start in range(0, n_q, few):
            rows = slice(start, min(start + few, n_q))
            total = np.array(self._widened(self._N[0, rows]))
            for part in self._N[1:]:
                total += self._widened(part[rows])
            total /= len(self._N)
            parts.append(total if self._dtype is self._working else to_numpy(from_numpy(total, self._dtype, CPU)))
            yield rows.stop / n_q
        mean = np.concatenate(parts)
        self._done = GivenMatrix(self.shape, lambda rows, columns: mean[rows, columns])

    def _widened(self, part: Given) -> NDArray[Any]:
        """``part`` in the working type."""
        wide = np.float64 if self._working is torch.float64 else np.float32
        return fetched(part) if part.dtype == wide else from_numpy(part, self._working, CPU).numpy()

    def block(self, rows: slice, columns: slice) -> NDArray[Any]:
        return self._whole.block(rows, columns)

    def allowed(self, rows: slice, columns: slice) -> NDArray[np.bool_]:
        return self._whole.allowed(rows, columns)

    def pooled(
        self, rows: slice, columns: slice, out: tuple[int, int], how: Pooling
    ) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        return self._whole.pooled(rows, columns, out, how)

    def extent(self, first_key: int = 0) -> tuple[float, float]:
        return self._whole.extent(first_key)

    def row_tops(self, rows: slice) -> NDArray[Any]:
        return self._whole.row_tops(rows)

    @property
    def _whole(self) -> GivenMatrix:
        for _ in self.begun("max"):
            pass
        assert self._done is not None
        return self._done


class GivenTrace:
    """The trace of weights that were given: they are looked up; whatever else is asked for is traced then."""

    def __init__(self, experiment: Experiment, N: Given, device: str, memory: int | None) -> None:
        self.experiment = experiment
        self.device = device
        self._N = N
        self._memory = memory
        self._mean = GivenMean(N, experiment.precision)

    @cached_property
    def _whole(self) -> Trace:
        return trace(self.experiment, self.device, self._memory)

    def stage(self, name: str, head: int | None = None) -> NDArray[Any]:
        return self._whole.stage(name, head)

    def matrix(self, name: str, head: Head) -> Matrix:
        cells = self._N[0].size
        if name != "N" or cells > (MOST_AVERAGED if head == "mean" else MOST_LOOKED_AT):
            return self._whole.matrix(name, head)
        if head == "mean":
            return self._mean
        weights = self._N[range(len(self._N))[head]]
        return GivenMatrix(weights.shape, lambda rows, columns: fetched(weights[rows, columns]))

    def part(self, head: Head | None = None) -> float:
        return self._whole.part(head)

    def passes(self, first: Sequence[Head] = ()) -> Generator[float, None, None]:
        return self._whole.passes(first)

    def empty_rows(self, head: Head) -> NDArray[np.bool_]:
        return self._whole.empty_rows(head)

    def row_sums(self, head: Head, rows: slice = ALL) -> NDArray[Any]:
        return self._whole.row_sums(head, rows)


def _alike(blocks: Sequence[slice]) -> Iterator[tuple[int, int, int]]:
    """Runs of up to IN_ONE_STROKE blocks of one height: the first, the one after the last, and the height."""
    start = 0
    heights = [block.stop - block.start for block in blocks]
    for stop in range(1, len(blocks) + 1):
        full = stop - start == IN_ONE_STROKE
        if full or stop == len(blocks) or heights[stop] != heights[start]:
            yield start, stop, heights[start]
            start = stop


def looked_up(experiment: Experiment) -> Given | None:
    """The weights of ``experiment`` where what is shown is what was given, to the last bit; else None."""
    source = experiment.source
    if not isinstance(source, GivenWeights) or experiment.hidden:
        return None
    return source.N if precision_of(source.N.dtype) is experiment.precision else None
