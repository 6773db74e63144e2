"""The one image of a heatmap: pictures sampled to the pixels of the screen, shown through a table of 256 colours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage

from attn_gui.model.picture import Picture
from attn_gui.views.heatmap.grid import Grid
from attn_gui.views.theme import ColourTable

Indices = NDArray[np.uint8]
Nearest = NDArray[np.intp] | slice


def index_to_qimage(index: np.ndarray[Any, Any], table: ColourTable) -> QImage:
    """``index``, uint8 [h, w], in the colours of ``table`` [256, 4]; one pixel a cell, with memory of its own."""
    packed = np.ascontiguousarray(index)
    height, width = packed.shape
    image = QImage(packed.data, width, height, width, QImage.Format.Format_Indexed8).copy()
    image.setColorTable(packed_colours(table))
    return image


def packed_colours(table: ColourTable) -> list[int]:
    """``table`` as QImage takes it."""
    r, g, b, _ = table.T.astype(np.uint32)
    packed: list[int] = (0xFF000000 | r << 16 | g << 8 | b).tolist()
    return packed


def in_sight(pictures: Sequence[Picture], grid: Grid) -> list[Picture]:
    """Those of ``pictures`` of which some part is within the grid's area, and under no other that covers it all."""
    area = grid.covered
    seen = [picture for picture in pictures if not (_place(picture, grid) & area).isEmpty()]
    covering = (k for k in reversed(range(len(seen))) if _place(seen[k], grid).contains(area))
    return seen[next(covering, 0) :]


def sampled(pictures: Sequence[Picture], grid: Grid, ratio: float) -> tuple[Indices, QRectF]:
    """An index for every device pixel, uint8 [h, w], and the place of the pixels in the grid's area.

    ``pictures`` lie one on top of another, each where its request says, and the first extends around the others.
    ``ratio`` is device pixels a pixel. A pixel belongs to the cell that its centre is in: Qt's own scaling of images
    rounds its steps, and over wide cells that adds up to whole pixels.
    """
    place = _place(pictures[0], grid) & grid.covered
    left, top = math.floor(place.left() * ratio), math.floor(place.top() * ratio)
    right, bottom = math.ceil(place.right() * ratio - 1e-6), math.ceil(place.bottom() * ratio - 1e-6)
    pixels = _gathered(pictures[0], grid, ratio, range(top, bottom), range(left, right))
    for picture in pictures[1:]:
        inner = _place(picture, grid)
        rows = _centred_within(inner.top() * ratio, inner.bottom() * ratio, range(top, bottom))
        columns = _centred_within(inner.left() * ratio, inner.right() * ratio, range(left, right))
        if rows and columns:
            part = _gathered(picture, grid, ratio, rows, columns)
            pixels[rows.start - top : rows.stop - top, columns.start - left : columns.stop - left] = part
    height, width = pixels.shape
    return pixels, QRectF(left / ratio, top / ratio, width / ratio, height / ratio)


def _place(picture: Picture, grid: Grid) -> QRectF:
    (top, bottom), (left, right) = picture.request.rows, picture.request.columns
    return QRectF(grid.x(left), grid.y(top), (right - left) * grid.cell_width, (bottom - top) * grid.cell_height)


def _gathered(picture: Picture, grid: Grid, ratio: float, rows: range, columns: range) -> Indices:
    place, (height, width) = _place(picture, grid), picture.index.shape
    ys = _nearest(rows, ratio, place.top(), place.height(), height)
    xs = _nearest(columns, ratio, place.left(), place.width(), width)
    seen, ys = _reached(picture.index, ys)
    # the axis that shrinks first, or grows last
    first, second = (0, 1) if len(rows) < len(seen) else (1, 0)
    found = _along(_along(seen, ys, xs, first), ys, xs, second)
    return found.copy() if found.base is not None else found  # others may be drawn over it


def _reached(index: Indices, ys: Nearest) -> tuple[Indices, Nearest]:
    """The rows of ``index`` between the first and the last of ``ys``, and where among them ``ys`` are."""
    if isinstance(ys, slice) or len(ys) == 0:
        return index, ys
    return index[ys[0] : ys[-1] + 1], ys - ys[0]


def _along(index: Indices, ys: Nearest, xs: Nearest, axis: int) -> Indices:
    cells = (ys, xs)[axis]
    if isinstance(cells, slice):
        return index[cells] if axis == 0 else index[:, cells]
    # all are within: clipping is only quicker than looking for those that are not
    return np.take(index, cells, axis=axis, mode="clip")


@lru_cache(maxsize=64)
def _nearest(pixels: range, ratio: float, start: float, length: float, cells: int) -> Nearest:
    """The cell, of ``cells`` over ``length`` from ``start``, that the centre of each device pixel is in."""
    centres = (np.arange(pixels.start, pixels.stop) + 0.5) / ratio
    found = np.clip((centres - start) * (cells / length), 0, cells - 1).astype(np.intp)
    if (np.diff(found) == 1).all():  # one cell, one pixel
        return slice(int(found[0]), int(found[-1]) + 1) if len(found) else slice(0, 0)
    return found


def _centred_within(start: float, stop: float, pixels: range) -> range:
    first, last = math.ceil(start - 0.5), math.ceil(stop - 0.5)
    return range(max(first, pixels.start), min(last, pixels.stop))
