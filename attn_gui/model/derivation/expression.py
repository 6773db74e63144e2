"""Expressions: the arithmetic of a step over its operands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from attn_gui.model.derivation.operand import Operand
from attn_gui.model.precision import Precision

FunctionName = Literal["exp", "tanh", "sin", "cos", "sqrt", "abs"]


@dataclass(frozen=True)
class Sum:
    """The sum of ``terms``; of many, the largest, and as the last one an operand that is the sum of all others."""

    terms: tuple[Expression, ...]


@dataclass(frozen=True)
class Difference:
    """``left - right``."""

    left: Expression
    right: Expression


@dataclass(frozen=True)
class Product:
    """The product of ``factors``."""

    factors: tuple[Expression, ...]


@dataclass(frozen=True)
class Quotient:
    """``above / below``."""

    above: Expression
    below: Expression


@dataclass(frozen=True)
class Power:
    """``base ** exponent``."""

    base: Expression
    exponent: Expression


@dataclass(frozen=True)
class Function:
    """A function of one number."""

    name: FunctionName
    argument: Expression


@dataclass(frozen=True)
class Largest:
    """The largest of ``among``; of many, the first few, and as the last one the largest of all others."""

    among: tuple[Expression, ...]


@dataclass(frozen=True)
class Rounded:
    """``what`` rounded to the nearest number of ``precision``."""

    what: Expression
    precision: Precision


Expression = Operand | Sum | Difference | Product | Quotient | Power | Function | Largest | Rounded


def parts(expression: Expression) -> tuple[Expression, ...]:
    """What ``expression`` is put together from, in the order in which it is written; nothing for an operand."""
    match expression:
        case Operand():
            return ()
        case Sum(terms) | Product(terms) | Largest(terms):
            return terms
        case Difference(left, right) | Quotient(left, right) | Power(left, right):
            return left, right
        case Function(_, inner) | Rounded(inner, _):
            return (inner,)


def operands(expression: Expression) -> Iterator[Operand]:
    """The operands in the order in which they are written."""
    if isinstance(expression, Operand):
        yield expression
    for part in parts(expression):
        yield from operands(part)
