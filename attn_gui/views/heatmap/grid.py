"""Grid: where the cells of a matrix lie on screen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from PySide6.QtCore import QRectF

from attn_gui.views.bands import Bands
from attn_gui.views.heatmap.columns import Columns


@dataclass(frozen=True)
class Grid:
    """A matrix of n_q rows and n_k columns in an area of ``width`` x ``height`` pixels, its edges at ``x0``, ``y0``.

    Pixels are counted from the area's top left corner; the matrix may begin before it and end beyond it.
    """

    n_q: int
    n_k: int
    width: int
    height: int
    x0: float
    y0: float
    cell_width: float
    cell_height: float

    @classmethod
    def of(cls, n_q: int, n_k: int, width: int, height: int, bands: Bands, columns: Columns) -> Grid:
        """The grid that the shared rows and columns give in an area of this size."""
        cell_width = width / (columns.right - columns.left)
        above = bands.top * bands.pitch
        # rows as high as tables' rows begin at whole pixels, as those do
        y0 = -float(round(above)) if bands.aligned else -above
        return cls(n_q, n_k, width, height, -columns.left * cell_width, y0, cell_width, bands.pitch)

    def x(self, key: float) -> float:
        """The left edge of ``key``."""
        return self.x0 + key * self.cell_width

    def y(self, query: float) -> float:
        """The top edge of ``query``."""
        return self.y0 + query * self.cell_height

    def cell(self, query: int, key: int) -> QRectF:
        return QRectF(self.x(key), self.y(query), self.cell_width, self.cell_height)

    def query_at(self, y: float) -> int | None:
        query = math.floor((y - self.y0) / self.cell_height)
        return query if 0 <= query < self.n_q else None

    def key_at(self, x: float) -> int | None:
        key = math.floor((x - self.x0) / self.cell_width)
        return key if 0 <= key < self.n_k else None

    def nearest(self, x: float, y: float) -> tuple[int, int]:
        """The cell at a point, or the one closest to it."""
        query = math.floor((y - self.y0) / self.cell_height)
        key = math.floor((x - self.x0) / self.cell_width)
        return max(0, min(query, self.n_q - 1)), max(0, min(key, self.n_k - 1))

    def queries_between(self, top: float, bottom: float) -> range:
        """The queries that have a part between two heights."""
        return _between(top - self.y0, bottom - self.y0, self.cell_height, self.n_q)

    def keys_between(self, left: float, right: float) -> range:
        """The keys that have a part between two abscissas."""
        return _between(left - self.x0, right - self.x0, self.cell_width, self.n_k)

    @cached_property
    def queries(self) -> range:
        """The queries in sight."""
        return self.queries_between(0, self.height)

    @cached_property
    def keys(self) -> range:
        """The keys in sight."""
        return self.keys_between(0, self.width)

    @cached_property
    def covered(self) -> QRectF:
        """The part of the area that the matrix covers."""
        whole = QRectF(self.x0, self.y0, self.n_k * self.cell_width, self.n_q * self.cell_height)
        return whole & QRectF(0, 0, self.width, self.height)


def _between(low: float, high: float, size: float, count: int) -> range:
    # an edge that rounding puts a hair beyond a cell's border is not a part of the next cell
    first = math.floor(low / size + 1e-9)
    last = math.ceil(high / size - 1e-9)
    return range(max(0, min(first, count)), max(0, min(last, count)))
