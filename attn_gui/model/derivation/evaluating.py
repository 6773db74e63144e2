"""Evaluation of an expression, in float64, from its operands or from what is printed of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from attn_gui.model.derivation.expression import (
    Difference,
    Expression,
    Function,
    Largest,
    Power,
    Product,
    Quotient,
    Rounded,
    Sum,
)
from attn_gui.model.derivation.operand import Operand
from attn_gui.model.derivation.rounding import rounded


def evaluated(expression: Expression, value_of: Callable[[Operand], float] = lambda operand: operand.value) -> float:
    """The value of ``expression``; what leaves the range of float64 is infinite or no number, never an error."""

    def of(part: Expression) -> float:
        return evaluated(part, value_of)

    match expression:
        case Operand():
            return value_of(expression)
        case Sum(terms):
            return total([of(term) for term in terms])
        case Difference(left, right):
            return of(left) - of(right)
        case Product(factors):
            return math.prod(of(factor) for factor in factors)
        case Quotient(above, below):
            return _quotient(of(above), of(below))
        case Power(base, exponent):
            return _safe(math.pow, of(base), of(exponent))
        case Function("abs", argument):
            return abs(of(argument))
        case Function(name, argument):
            return _safe(getattr(math, name), of(argument))
        case Largest(among):
            return _largest([of(part) for part in among])
        case Rounded(what, precision):
            return rounded(of(what), precision)


def total(values: Sequence[float]) -> float:
    """The sum of ``values``, rounded once."""
    try:
        return math.fsum(values)
    except (OverflowError, ValueError):  # beyond the range, or infinities of both signs
        return sum(values)


def _largest(values: Sequence[float]) -> float:
    return math.nan if any(math.isnan(value) for value in values) else max(values)


def _quotient(above: float, below: float) -> float:
    if below != 0:
        return above / below
    return math.nan if above == 0 or math.isnan(above) else math.copysign(math.inf, above) * math.copysign(1.0, below)


def _safe(function: Callable[..., float], *values: float) -> float:
    try:
        return function(*values)
    except OverflowError:
        return math.inf
    except ValueError:  # outside of what it is defined for
        return math.nan
