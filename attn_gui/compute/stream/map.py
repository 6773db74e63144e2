"""A streamed matrix as a map: its overview from afar, tiles from nearer, cells from near."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from attn_gui.compute.pooling import pool
from attn_gui.compute.stream.overview import pool_by
from attn_gui.compute.stream.tiles import CELLS, Tiles
from attn_gui.model.trace import Drawn, Pooling

if TYPE_CHECKING:
    from attn_gui.compute.stream.matrix import StreamedMatrix

Array = NDArray[Any]
Factors = tuple[int, int]
# cells computed at once when they are asked for
DIRECT_CELLS = 1 << 23


def draw(
    matrix: StreamedMatrix, tiles: Tiles, rows: slice, columns: slice, out: tuple[int, int], how: Pooling
) -> Drawn:
    """See :meth:`attn_gui.model.trace.Matrix.drawn`: of the level that ``out`` asks for what is there, else coarser."""
    look = _Look(matrix, rows, columns, out, how)
    if look.direct and matrix.ready(rows):
        covered = (rows.start, rows.stop), (columns.start, columns.stop)
        return Drawn(matrix.block(rows, columns), matrix.allowed(rows, columns), *covered, exact=True)
    values, allowed, exact = matrix.overview(how)
    from_overview = look.factors == matrix.factors and matrix.has_overview(how)
    coarse = tuple(wide // own for wide, own in zip(matrix.factors, look.factors, strict=True))
    r, c = np.arange(*look.rows) // coarse[0], np.arange(*look.columns) // coarse[1]
    # axis by axis, which is faster than both at once and lets other threads go on
    values, allowed = (part.take(r, axis=0).take(c, axis=1) for part in (values, allowed))
    sampled, finer = not exact[r].all(), False
    if not from_overview:
        finer = look.direct
        lacking = False
        for key, tile_rows, tile_columns in [] if look.direct else look.tiles():
            tile = tiles.get(key)
            if tile is None:
                lacking = True
                continue
            look.paste(tile[0], values, tile_rows, tile_columns)
            look.paste(tile[1], allowed, tile_rows, tile_columns)
        finer = finer or lacking
        sampled = (sampled or not matrix.has_overview(how)) and finer
    size = min(out[0], values.shape[0]), min(out[1], values.shape[1])
    if from_overview and size != values.shape:
        values, allowed = pool(values, allowed, size, how)
    f = look.factors
    covered = (look.rows[0] * f[0], look.rows[1] * f[0]), (look.columns[0] * f[1], look.columns[1] * f[1])
    return Drawn(values, allowed, *covered, exact=False, sampled=sampled, finer=finer)


def refine(
    matrix: StreamedMatrix, tiles: Tiles, rows: slice, columns: slice, out: tuple[int, int], how: Pooling
) -> Generator[bool, None, None]:
    """See :meth:`attn_gui.model.trace.Matrix.refined`: what is in the middle of the window first."""
    look = _Look(matrix, rows, columns, out, how)
    if look.factors == matrix.factors and matrix.has_overview(how):
        return  # the pass over all rows is what refines it
    if look.direct:
        for _ in matrix.made_ready(rows):
            yield False
        return
    n_q, n_k = matrix.shape
    for key, tile_rows, tile_columns in sorted(look.tiles(), key=look.from_middle):
        if tiles.get(key) is not None:
            continue
        cells = slice(tile_rows.start, min(tile_rows.stop, n_q)), slice(tile_columns.start, min(tile_columns.stop, n_k))
        for _ in matrix.made_ready(cells[0]):
            yield False
        allowed = matrix.allowed(*cells)
        tiles.put(key, *pool_by(matrix.block(*cells), allowed, look.factors, how))
        yield True


class _Look:
    """The level at which a window is looked at, and what it covers of it: [start, stop) in blocks of ``factors``."""

    def __init__(self, matrix: StreamedMatrix, rows: slice, columns: slice, out: tuple[int, int], how: Pooling) -> None:
        lengths = rows.stop - rows.start, columns.stop - columns.start
        self.factors: Factors = tuple(
            min(most, 1 << max(0, (length // max(1, size)).bit_length() - 1))
            for most, length, size in zip(matrix.factors, lengths, out, strict=True)
        )
        self._shape = matrix.shape
        self._key = (*matrix.key, how, self.factors)
        self.rows = rows.start // self.factors[0], -(-rows.stop // self.factors[0])
        self.columns = columns.start // self.factors[1], -(-columns.stop // self.factors[1])
        self.direct = self.factors == (1, 1) and lengths[0] * lengths[1] <= DIRECT_CELLS

    def tiles(self) -> Iterator[tuple[tuple[Any, ...], slice, slice]]:
        """Key, rows and columns (cells) of each tile in the window."""
        tall, wide = (max(CELLS, factor) for factor in self.factors)  # at least one block
        for top in _starts(self.rows, self.factors[0], tall, self._shape[0]):
            for left in _starts(self.columns, self.factors[1], wide, self._shape[1]):
                yield (*self._key, top, left), slice(top, top + tall), slice(left, left + wide)

    def from_middle(self, tile: tuple[Any, slice, slice]) -> float:
        """How far ``tile`` lies from the middle of the window."""
        middles = (sum(span) * f / 2 for span, f in zip((self.rows, self.columns), self.factors, strict=True))
        return sum(((part.start + part.stop) / 2 - middle) ** 2 for part, middle in zip(tile[1:], middles, strict=True))

    def paste(self, part: Array, onto: Array, rows: slice, columns: slice) -> None:
        """Put a tile, which covers cells ``rows`` and ``columns``, where it belongs in the window."""
        places, cuts = [], []
        for span, cells, f, length in zip(
            (self.rows, self.columns), (rows, columns), self.factors, part.shape, strict=True
        ):
            first = cells.start // f
            start, stop = max(span[0], first), min(span[1], first + length)
            places.append(slice(start - span[0], stop - span[0]))
            cuts.append(slice(start - first, stop - first))
        onto[tuple(places)] = part[tuple(cuts)]


def _starts(span: tuple[int, int], factor: int, size: int, length: int) -> range:
    """Where the tiles of ``size`` cells begin that hold blocks ``span`` of an axis of ``length`` cells."""
    return range(span[0] * factor // size * size, min(span[1] * factor, length), size)
