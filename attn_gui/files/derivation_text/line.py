"""The line of a step: its arithmetic with numbers on one line, as pieces of text of which some are operands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from attn_gui.model.derivation import (
    Difference,
    Expression,
    Function,
    Largest,
    Operand,
    Power,
    Product,
    Quotient,
    Rounded,
    Sum,
)
from attn_gui.model.derivation.writing import Writing

MINUS = "\N{MINUS SIGN}"
# how tightly an expression holds together
SUMMED, MULTIPLIED, RAISED, WHOLE = range(4)


@dataclass(frozen=True)
class Piece:
    """Some of a line's text; ``operand`` where it is a number that came from somewhere."""

    text: str
    operand: Operand | None = None


def number(text: str) -> str:
    """A written number with the signs that people read: ``−0.5``, ``∞``."""
    return text.replace("inf", "∞").replace("-", MINUS)


def pieces(writing: Writing) -> list[Piece]:
    """The arithmetic of a step and what comes of it: ``0 × 1 + 1 × 1 = 1``; a number as it is stands alone."""
    result, before = number(writing.result), arithmetic(writing)
    alone = "".join(piece.text for piece in before) == result
    return before if alone else [*before, Piece(f" = {result}")]


def arithmetic(writing: Writing) -> list[Piece]:
    """What stands before the equals sign."""
    expression: Expression = writing.step.expression
    if writing.rounding is not None:
        # what is a sum is one with the rounding as its last term
        terms = expression.terms if isinstance(expression, Sum) else (expression,)
        expression = Sum((*terms, writing.rounding))
    return list(_of(writing, expression, first=True))


def holds(expression: Expression) -> int:
    """How tightly ``expression`` holds together, which decides on parentheses."""
    match expression:
        case Sum(terms):
            return SUMMED if len(terms) != 1 else holds(terms[0])
        case Difference():
            return SUMMED
        case Product() | Quotient():
            return MULTIPLIED
        case Power():
            return RAISED
        case _:
            return WHOLE


def is_square(expression: Expression) -> bool:
    """Whether it is the product of something and itself."""
    return isinstance(expression, Product) and len(expression.factors) == 2 and len(set(expression.factors)) == 1


def _of(writing: Writing, expression: Expression, first: bool) -> Iterator[Piece]:
    """``first``: nothing stands before it, so that a minus sign needs no parentheses."""
    match expression:
        case Operand():
            yield from _operand(writing, expression, first)
        case Sum(terms):
            yield from _joined(writing, terms, " + ", SUMMED, first)
        case Difference(left, right):
            yield from _within(writing, left, SUMMED, first)
            yield Piece(f" {MINUS} ")
            yield from _within(writing, right, MULTIPLIED, False)
        case Product(factors) if is_square(expression):
            yield from _within(writing, factors[0], WHOLE, False)
            yield Piece("²")
        case Product(factors):
            yield from _joined(writing, factors, " × ", MULTIPLIED, first)
        case Quotient(above, below):
            yield from _within(writing, above, MULTIPLIED, first)
            yield Piece(" / ")
            yield from _within(writing, below, RAISED, False)
        case Power(base, exponent):
            yield from _within(writing, base, WHOLE, False)
            yield Piece("^")
            yield from _within(writing, exponent, WHOLE, False)
        case Function("sqrt", argument):
            yield Piece("√")
            yield from _within(writing, argument, WHOLE, False)
        case Function("abs", argument):
            yield from _bracketed(writing, "|", (argument,), "|")
        case Function(name, argument):
            yield from _bracketed(writing, f"{name}(", (argument,), ")")
        case Largest(among):
            yield from _bracketed(writing, "max(", among, ")")
        case Rounded(what, precision):
            yield from _bracketed(writing, f"{precision}(", (what,), ")")


def _operand(writing: Writing, operand: Operand, first: bool) -> Iterator[Piece]:
    text = writing.operand(operand)
    bracketed = text.startswith("-") and not first
    yield Piece("(" * bracketed)
    yield Piece(number(text), operand)
    yield Piece(")" * bracketed + (f" ({operand.aside})" if operand.aside else ""))


def _within(writing: Writing, part: Expression, least: int, first: bool) -> Iterator[Piece]:
    """``part``, in parentheses unless it holds together at least so tightly."""
    if holds(part) >= least:
        yield from _of(writing, part, first)
    else:
        yield from _bracketed(writing, "(", (part,), ")")


def _joined(writing: Writing, parts: tuple[Expression, ...], by: str, least: int, first: bool) -> Iterator[Piece]:
    for place, part in enumerate(parts):
        if place:
            yield Piece(by)
        yield from _within(writing, part, least, first and place == 0)


def _bracketed(writing: Writing, left: str, parts: tuple[Expression, ...], right: str) -> Iterator[Piece]:
    yield Piece(left)
    for place, part in enumerate(parts):
        if place:
            yield Piece(", ")
        yield from _of(writing, part, True)
    yield Piece(right)
