"""How numbers are written on screen; what is copied or exported is never rounded."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

MINUS = "\N{MINUS SIGN}"
SCIENTIFIC = 1e9
# in a sentence, numbers from here on are written with an exponent, their decimals mean nothing
LARGE = 1e7
SIGNIFICANT = 4


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


def figure(value: float, decimals: int) -> str:
    """``value`` with ``decimals`` decimals, or with an exponent where those would show nothing of it; 0 is 0."""
    if value == 0:
        return "0"
    if math.isfinite(value) and (round(value, decimals) == 0 or abs(value) >= LARGE):
        return shown_exponent(value)
    return shown(value, decimals)


def shown_exponent(value: float) -> str:
    """``value`` with an exponent: 3.142e−05."""
    return f"{value:.{SIGNIFICANT}g}".replace("-", MINUS)


def percentages(shares: Sequence[float]) -> list[str]:
    """Parts of a whole as percentages, equal parts alike; whole ones where those add up, to within 1, as the parts do.

    Otherwise with one decimal: many small parts that are each rounded up would seem to be more than the whole. What is
    not zero is never written as 0%.
    """
    whole = [round(share * 100) for share in shares]
    decimals = 0 if abs(sum(whole) - math.fsum(shares) * 100) < 1.5 else 1
    least = 10.0**-decimals
    return [f"<{least:g}%" if 0 < share * 100 < least / 2 else f"{share * 100:.{decimals}f}%" for share in shares]
