"""Figures of single rows: how far apart two distributions are, and two vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_gui.model.comparison import RowFigures

Floats = NDArray[np.float64]


class Gathered:
    """Figures of rows, of ``all_rows`` in all, as they come in; NaN where a row has none.

    largest: whether the extreme of them is the largest, else the smallest.
    """

    def __init__(self, all_rows: int, *, largest: bool) -> None:
        self._all_rows = all_rows
        self._largest = largest
        self._extreme, self._at = (-np.inf if largest else np.inf), 0
        self._total, self._rows, self._infinite, self._first_infinite, self._left_out = 0.0, 0, 0, 0, 0

    def add(self, figures: Floats, first: int) -> None:
        """``figures`` of the rows from ``first`` on, [rows]."""
        self._left_out += int(np.isnan(figures).sum())
        infinite = np.flatnonzero(np.isinf(figures))
        if infinite.size and not self._infinite:
            self._first_infinite = first + int(infinite[0])
        self._infinite += infinite.size
        finite = np.flatnonzero(np.isfinite(figures))
        if not finite.size:
            return
        known = figures[finite]
        place = int(known.argmax() if self._largest else known.argmin())
        if (known[place] > self._extreme) if self._largest else (known[place] < self._extreme):
            self._extreme, self._at = float(known[place]), first + int(finite[place])
        self._total += float(known.sum())
        self._rows += finite.size

    def found(self) -> RowFigures | None:
        """All of them together, None where no row has a figure."""
        if not self._rows and not self._infinite:
            return None
        extreme, at = (self._extreme, self._at) if self._rows else (np.inf, self._first_infinite)
        mean = self._total / self._rows if self._rows else np.inf
        return RowFigures(
            extreme, at, mean, self._rows, self._infinite, self._first_infinite, self._left_out, self._all_rows
        )


def divergences(left: NDArray[Any], right: NDArray[Any], tolerances: tuple[float, float]) -> Floats:
    """The divergence of each row of ``right`` from that of ``left``, [rows, n_k], in nats; see Figures.divergence.

    NaN where either row does not sum to 1 within its tolerance (empty rows among them).
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        sums = [rows.sum(axis=1, keepdims=True, dtype=np.float64) for rows in (left, right)]
        q, p = (rows / total for rows, total in zip((left, right), sums, strict=True))
        terms = np.where(p > 0, p * (np.log(p) - np.log(q)), 0.0)
        found = np.maximum(terms.sum(axis=1), 0.0)  # rounding may leave less than nothing
        apart = [np.abs(total[:, 0] - 1) <= most for total, most in zip(sums, tolerances, strict=True)]
    return np.where(apart[0] & apart[1], found, np.nan)


def cosines(left: NDArray[Any], right: NDArray[Any]) -> Floats:
    """The cosine of the angle between each row of ``left`` and of ``right``, [rows, size]; NaN where one is 0."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # by their largest first, so that no square leaves the range of numbers
        a, b = (rows.astype(np.float64) / np.abs(rows).max(axis=1, keepdims=True) for rows in (left, right))
        a, b = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (a, b))
        return np.clip((a * b).sum(axis=1), -1.0, 1.0)
