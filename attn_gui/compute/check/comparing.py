"""Comparing the cells of a table with computed numbers, each at its own printed decimals."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_gui.model.check.table import Printed
from attn_gui.model.precision import Precision
from attn_gui.model.question import FORBIDS
from attn_gui.model.table import Floats

Cells = NDArray[np.bool_]
# of what is computed here, relative to its size
NOISE = {Precision.FLOAT64: 1e-12}
# what programs that compute in float32 may differ by; numbers printed with fewer than 7 digits do not feel it
FLOAT32_NOISE = 2 * float(np.finfo(np.float32).eps)


class Comparing:
    """Whether the cells of ``printed`` are the roundings of computed numbers."""

    def __init__(self, printed: Printed, precision: Precision) -> None:
        self.printed = printed
        self._noise = NOISE.get(precision, FLOAT32_NOISE)

    def fits(self, values: NDArray[Any], other: NDArray[Any] | None = None, widened: Floats | None = None) -> Cells:
        """Which answered cells are ``values``, ``other`` or between them at their own decimals, [rows, columns].

        Either neighbour will do for a number half-way between two. ``widened`` is added to what they may lie apart.
        """
        one = np.asarray(values, np.float64)
        two = one if other is None else np.asarray(other, np.float64)
        given, half = self.printed.values, self.printed.half_units
        with np.errstate(invalid="ignore", over="ignore"):
            # where one of them has left the range of its numbers, the other one is left
            low, high = (np.where(np.isfinite(a), a, b) for a, b in ((one, two), (two, one)))
            low, high = np.fmin(low, high), np.fmax(low, high)
            size = np.fmax(np.abs(low), np.abs(high))
            # the end of a cell, low + half, is itself rounded in binary
            slack = half * (1 + 1e-9) + self._noise * size + 1e-15
            if widened is not None:
                slack = slack + widened
            near = (given >= low - slack) & (given <= high + slack) & np.isfinite(size)
            endless = (np.isneginf(one) | np.isneginf(two)) & (given <= FORBIDS)
            endless |= (np.isposinf(one) | np.isposinf(two)) & (given == np.inf)
            endless |= (np.isnan(one) | np.isnan(two)) & np.isnan(given)
        result: Cells = (near | endless) & self.printed.answered
        return result
