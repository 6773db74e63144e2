"""Pictures: windows of a stage as index images, ready to be drawn."""

from __future__ import annotations

import math
import time
from collections.abc import Generator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_gui.compute.array_matrix import ArrayMatrix
from attn_gui.compute.pooling import edges
from attn_gui.model.picture import LAST_COLOUR, LOG_FLOOR, MASKED, NON_FINITE, Picture, PictureRequest
from attn_gui.model.stages import STAGES
from attn_gui.model.trace import Drawn, Matrix, Trace

Array = NDArray[Any]
# seconds between pictures that get better and better
PICTURE_S = 0.15
# coloured at a time, so that what comes between stays in a core's own cache
STRIP_CELLS = 1 << 18


def picture(trace: Trace, request: PictureRequest) -> Picture:
    """The picture that ``request`` asks for, as it can be had at once.

    The colour scale's ends are those of the whole matrix, whatever the window, so that a colour keeps its meaning
    while one moves about.
    """
    matrix = _matrix(trace, request)
    drawn = matrix.drawn(slice(*request.rows), slice(*request.columns), request.size, request.pooling)
    values = drawn.values
    low, high = _ends(matrix, request)
    tops = _row_maxima(matrix, drawn) if request.mapping == "row maximum" else None
    index = np.empty(values.shape, np.uint8)
    strip = max(1, STRIP_CELLS // max(1, values.shape[1]))
    for start in range(0, len(values), strip):
        rows = slice(start, start + strip)
        index[rows] = _colours(values[rows], low, high, request, None if tops is None else tops[rows])
    # where nothing is masked, one value may stand for all
    allowed = drawn.allowed if any(drawn.allowed.strides) else drawn.allowed[:1, :1]
    if not allowed.all():
        np.copyto(index, MASKED, where=~drawn.allowed)
    shown = replace(request, rows=drawn.rows, columns=drawn.columns)
    return Picture(shown, index, values, low, high, drawn.exact, drawn.sampled, drawn.finer)


def refined(trace: Trace, request: PictureRequest) -> Generator[float | Picture, None, Picture]:
    """Better and better pictures for ``request``, in short steps; yields no more of them than a person can follow.

    Numbers, which mean nothing, come between them; returns the last.
    """
    matrix = _matrix(trace, request)
    shown = time.monotonic()
    for more in matrix.refined(slice(*request.rows), slice(*request.columns), request.size, request.pooling):
        if more and time.monotonic() - shown > PICTURE_S:
            yield picture(trace, request)
            shown = time.monotonic()
        else:
            yield 0.0
    return picture(trace, request)


def _matrix(trace: Trace, request: PictureRequest) -> Matrix:
    if STAGES[request.stage].square:
        return trace.matrix(request.stage, request.head)
    return ArrayMatrix(trace.stage(request.stage, request.head if isinstance(request.head, int) else 0))


def _ends(matrix: Matrix, request: PictureRequest) -> tuple[float, float]:
    if request.mapping == "fixed 0..1" or request.mapping == "row maximum":
        return (0.0, 1.0)
    low, high = matrix.extent()
    if request.mapping == "without first key":
        low, high = matrix.extent(first_key=1)
    if request.diverging:
        bound = max(abs(low), abs(high)) or 1.0
        return (-bound, bound)
    if request.mapping == "log":
        return (LOG_FLOOR, max(high, LOG_FLOOR * 10))
    return (min(low, 0.0), high if high > min(low, 0.0) else min(low, 0.0) + 1.0)


def _colours(values: Array, low: float, high: float, request: PictureRequest, tops: Array | None) -> Array:
    """The index of each value's colour, uint8."""
    # NaN and infinities are set apart below
    with np.errstate(invalid="ignore", over="ignore"):
        colour = _steps(values, low, high, request, tops)
        colours: Array = np.clip(colour, 0, LAST_COLOUR, out=colour).astype(np.uint8)
        # squares sum to a number only if all are numbers, and do so faster than they are looked at one by one
        suspect = not np.isfinite(np.vdot(values, values))
    if suspect:
        colours[~np.isfinite(values)] = NON_FINITE
    return colours


def _steps(values: Array, low: float, high: float, request: PictureRequest, tops: Array | None) -> Array:
    """Where each value lies on the scale of colours, and a half; tops: the largest of each row, if that is its end."""
    if tops is not None:
        position = np.where(tops > 0, values / np.where(tops > 0, tops, 1), 0.0)
    elif request.mapping == "log" and not request.diverging:
        position = (np.log(np.maximum(values, LOG_FLOOR)) - math.log(low)) / (math.log(high) - math.log(low))
    elif 1e-30 < high - low < 1e30:
        by = LAST_COLOUR / (high - low)
        # float32 is enough for 254 colours
        step = np.multiply(values, np.float32(by), dtype=np.float32)
        step += np.float32(0.5 - low * by)
        return step
    else:
        # halves, because the largest number less the smallest would be infinite
        position = (values.astype(np.float64) / 2 - low / 2) / (high / 2 - low / 2)
    position *= LAST_COLOUR
    position += 0.5
    return position


def _row_maxima(matrix: Matrix, drawn: Drawn) -> Array:
    """The largest finite allowed value of each row of ``drawn``, over all columns: [h, 1]."""
    rows = slice(drawn.rows[0], min(drawn.rows[1], matrix.shape[0]))
    tops = matrix.row_tops(rows)
    starts = edges(drawn.rows[1] - drawn.rows[0], len(drawn.values))
    found = np.maximum.reduceat(tops, starts)
    usable = drawn.allowed & np.isfinite(drawn.values)
    # rows that the matrix does not know of yet have at least what is drawn of them
    return np.maximum(found, drawn.values.max(axis=1, where=usable, initial=-np.inf))[:, np.newaxis]
