"""Rounding of a number to a precision, as IEEE 754 has it: to nearest, ties to even."""

from __future__ import annotations

import math

from attn_gui.model.precision import Precision

# bits of the significand, the exponent of the smallest normal number, and the largest finite number
_FORMATS = {
    Precision.FLOAT32: (24, -126, (2 - 2.0**-23) * 2.0**127),
    Precision.BFLOAT16: (8, -126, (2 - 2.0**-7) * 2.0**127),
    Precision.FLOAT16: (11, -14, (2 - 2.0**-10) * 2.0**15),
}


def rounded(value: float, precision: Precision) -> float:
    """The number of ``precision`` nearest to ``value``; infinite beyond the largest."""
    if precision is Precision.FLOAT64 or value == 0 or not math.isfinite(value):
        return value
    bits, smallest, largest = _FORMATS[precision]
    if abs(value) > 2 * largest:
        return math.copysign(math.inf, value)
    _, exponent = math.frexp(value)  # value = m * 2**exponent, 0.5 <= |m| < 1
    last = max(exponent, smallest + 1) - bits
    # a power of two changes no digit, and round() takes ties to even
    nearest = math.ldexp(round(math.ldexp(value, -last)), last)
    return nearest if abs(nearest) <= largest else math.copysign(math.inf, value)
