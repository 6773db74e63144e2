"""Pictures: windows of a stage as index images, ready to be drawn."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_gui.compute.array_matrix import ArrayMatrix
from attn_gui.compute.pooling import edges
from attn_gui.model.picture import LAST_COLOUR, LOG_FLOOR, MASKED, NON_FINITE, Picture, PictureRequest
from attn_gui.model.stages import STAGES
from attn_gui.model.trace import Matrix, Trace

Array = NDArray[Any]


def picture(trace: Trace, request: PictureRequest) -> Picture:
    """The picture that ``request`` asks for.

    The colour scale's ends are those of the whole matrix, whatever the window, so that a colour keeps its meaning
    while one moves about.
    """
    matrix = _matrix(trace, request)
    rows, columns = slice(*request.rows), slice(*request.columns)
    height, width = rows.stop - rows.start, columns.stop - columns.start
    out = (max(1, min(height, request.size[0])), max(1, min(width, request.size[1])))
    exact = out == (height, width)
    if exact:
        values, allowed = matrix.block(rows, columns), matrix.allowed(rows, columns)
    else:
        values, allowed = matrix.pooled(rows, columns, out, request.pooling)
    low, high = _ends(matrix, request)
    # NaN and infinities are set apart below
    with np.errstate(invalid="ignore", over="ignore"):
        position = _positions(values, low, high, matrix, request)
        index = np.clip(position * LAST_COLOUR + 0.5, 0, LAST_COLOUR).astype(np.uint8)
    index[~np.isfinite(values)] = NON_FINITE
    index[~allowed] = MASKED
    return Picture(request, index, values, low, high, exact)


def _matrix(trace: Trace, request: PictureRequest) -> Matrix:
    if STAGES[request.stage].square:
        return trace.matrix(request.stage, request.head)
    return ArrayMatrix(trace.stage(request.stage, request.head if isinstance(request.head, int) else 0))


def _ends(matrix: Matrix, request: PictureRequest) -> tuple[float, float]:
    if request.mapping == "fixed 0..1" or request.mapping == "row maximum":
        return (0.0, 1.0)
    low, high = matrix.extent()
    if request.mapping == "without first key":
        low, high = _extent_without_first(matrix)
    if request.diverging:
        bound = max(abs(low), abs(high)) or 1.0
        return (-bound, bound)
    if request.mapping == "log":
        return (LOG_FLOOR, max(high, LOG_FLOOR * 10))
    return (min(low, 0.0), high if high > min(low, 0.0) else min(low, 0.0) + 1.0)


def _extent_without_first(matrix: Matrix) -> tuple[float, float]:
    rows, columns = slice(0, matrix.shape[0]), slice(1, matrix.shape[1])
    values = matrix.block(rows, columns)[matrix.allowed(rows, columns)]
    values = values[np.isfinite(values)]
    return (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)


def _positions(values: Array, low: float, high: float, matrix: Matrix, request: PictureRequest) -> Array:
    """Where each value lies on the colour scale, 0 to 1."""
    if request.mapping == "row maximum":
        tops = _row_maxima(matrix, slice(*request.rows), len(values))
        return np.where(tops > 0, values / np.where(tops > 0, tops, 1), 0.0)
    if request.mapping == "log" and not request.diverging:
        return (np.log(np.maximum(values, LOG_FLOOR)) - math.log(low)) / (math.log(high) - math.log(low))
    if 1e-30 < high - low < 1e30:
        narrow = values.astype(np.float32, copy=False)  # enough for 254 colours
        return (narrow - np.float32(low)) * np.float32(1.0 / (high - low))
    # halves, because the largest number less the smallest would be infinite
    return (values.astype(np.float64) / 2 - low / 2) / (high / 2 - low / 2)


def _row_maxima(matrix: Matrix, rows: slice, parts: int) -> Array:
    """The largest finite allowed value of each of ``parts`` blocks of rows, over all columns: [parts, 1]."""
    columns = slice(0, matrix.shape[1])
    values = matrix.block(rows, columns)
    usable = matrix.allowed(rows, columns) & np.isfinite(values)
    tops = np.where(usable, values, -np.inf).max(axis=1)
    return np.maximum.reduceat(tops, edges(len(tops), parts))[:, np.newaxis]
