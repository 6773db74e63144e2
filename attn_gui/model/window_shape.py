"""Whether a mask is a sliding window, and how it looks with one key fewer or more."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Cells = NDArray[np.bool_]


@dataclass(frozen=True)
class WindowShape:
    """``i + offset - window <= j <= i + offset``, and as far on the other side with ``two_sided``."""

    window: int
    two_sided: bool
    offset: int

    def cells(self, n_q: int, n_k: int) -> Cells:
        """Which keys each query may attend to, [n_q, n_k]."""
        apart = np.arange(n_q)[:, np.newaxis] + self.offset - np.arange(n_k)
        return (apart <= self.window) & (apart >= (-self.window if self.two_sided else 0))


def window_shape(cells: Cells) -> WindowShape | None:
    """The window that ``cells``, [n_q, n_k], are, aligned at the first or at the last key; None where they are none.

    A causal mask, or one that allows everything, is no window.
    """
    n_q, n_k = cells.shape
    for offset in dict.fromkeys((0, n_k - n_q)):
        for two_sided in (False, True):
            # the row that reaches furthest says how far the window goes
            some, own = cells.any(axis=1), np.arange(n_q) + offset
            window = int((own - np.where(some, cells.argmax(axis=1), n_k)).max())
            if two_sided:
                last = n_k - 1 - cells[:, ::-1].argmax(axis=1)
                window = max(window, int(np.where(some, last - own, -1).max()))
            shape = WindowShape(window, two_sided, offset)
            longer = WindowShape(window + 1, two_sided, offset)
            if window >= 0 and np.array_equal(shape.cells(n_q, n_k), cells):
                return None if np.array_equal(longer.cells(n_q, n_k), cells) else shape
    return None
