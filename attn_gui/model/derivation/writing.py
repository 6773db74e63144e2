"""How the numbers of a derivation are written: every step works out from what is printed of its operands."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from attn_gui.model.derivation.derivation import Step
from attn_gui.model.derivation.evaluating import evaluated, total
from attn_gui.model.derivation.operand import Operand

# from here on fixed decimals mean nothing
LARGE = 1e7
# decimals from which on every number is written whole
ALL_DIGITS = 24
# what differs by less than half a digit of float32 is one number
SAME = 2.0**-25
# what is so near to halfway between two numbers is rounded to this one or to that, as one happens to add it up
CLEAR = 1e-9


def written(value: float, decimals: int) -> str:
    """``value`` with ``decimals`` decimals, or with an exponent where those would show nothing of it.

    ``inf`` and ``nan`` are spelled so. A number that fewer decimals write exactly has no zeros at its end.
    """
    if value == 0:
        return "0"
    if not math.isfinite(value):
        return str(value)
    if decimals >= ALL_DIGITS:
        return repr(value)
    if abs(value) >= LARGE or round(value, decimals) == 0:
        digits, _, power = f"{value:.{decimals}e}".partition("e")
        text = f"{_shortest(digits, value, power)}e{power}"
        return text if math.isfinite(float(text)) else repr(value)
    return _shortest(f"{value:.{decimals}f}", value, "0")


def _shortest(digits: str, value: float, power: str) -> str:
    if "." in digits and abs(float(f"{digits}e{power}") - value) <= SAME * abs(value):
        return digits.rstrip("0").rstrip(".")
    return digits


@dataclass(frozen=True)
class Writing:
    """How one step is written: its result with ``decimals``, its operands with ``digits``, which may be more.

    rounding: what the computation's rounding adds to what the operands give; None where that shows in no digit.
    """

    step: Step
    decimals: int
    digits: int
    rounding: Operand | None

    def operand(self, operand: Operand) -> str:
        return written(operand.value, self.digits)

    @property
    def result(self) -> str:
        return written(self.step.result, self.decimals)


@lru_cache(maxsize=64)  # a step is written to be shown, and once more to be said
def writing(step: Step, decimals: int) -> Writing:
    """How ``step`` is written so that its printed operands give its printed result: with the fewest digits for that.

    They lie clear of halfway to another result, unless the result itself is halfway.
    """
    exact = step.evaluated
    rounding = None
    if not same(exact, step.result, decimals):
        rounding = Operand(step.result - exact, "what rounding on the way adds", aside="rounding")
    halfway = ALL_DIGITS
    for digits in range(decimals, ALL_DIGITS):
        printed = _printed(step, digits, rounding)
        if same(printed, step.result, decimals):
            if same(printed * (1 - CLEAR), step.result, decimals) and same(
                printed * (1 + CLEAR), step.result, decimals
            ):
                return Writing(step, decimals, digits, rounding)
            halfway = min(halfway, digits)
    return Writing(step, decimals, halfway, rounding)


def same(one: float, other: float, decimals: int) -> bool:
    """Whether two numbers are one when written with ``decimals``."""
    a, b = float(written(one, decimals)), float(written(other, decimals))
    return a == b or (math.isnan(a) and math.isnan(b))


def _printed(step: Step, digits: int, rounding: Operand | None) -> float:
    """What the step gives from its operands with ``digits`` decimals."""
    value = evaluated(step.expression, lambda operand: float(written(operand.value, digits)))
    return value if rounding is None else total([value, float(written(rounding.value, digits))])
