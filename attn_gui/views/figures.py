"""How numbers are written on screen; what is copied or exported is never rounded."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

MINUS = "\N{MINUS SIGN}"
SCIENTIFIC = 1e9


def shown(value: float, decimals: int) -> str:
    """``value`` with ``decimals`` decimals, a true minus sign, and words for what is not a number.

    From SCIENTIFIC on in scientific notation.
    """
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    text = f"{value:.{decimals}e}" if abs(value) >= SCIENTIFIC else f"{value:.{decimals}f}"
    if text.startswith("-"):
        text = text[1:] if float(text) == 0 else MINUS + text[1:]
    return text


def common_decimals(values: ArrayLike, most: int, least: int = 1) -> int:
    """The fewest decimals, ``least`` to ``most``, that write every one of ``values`` as exactly as ``most`` would."""
    if least >= most:
        return least
    finite = np.asarray(values, dtype=np.float64).ravel()
    finite = finite[np.isfinite(finite)]
    with np.errstate(over="ignore", invalid="ignore"):  # numpy scales by a power of ten before it rounds
        target = finite.round(most)
        for decimals in range(least, most):
            if np.array_equal(finite.round(decimals), target, equal_nan=True):
                return decimals
    return max(least, most)


def percent(value: float) -> str:
    """A weight as a whole percentage; what is not zero is never written as 0%."""
    if math.isnan(value):
        return "nan"
    if 0 < value < 0.005:
        return "<1%"
    return f"{value * 100:.0f}%"
