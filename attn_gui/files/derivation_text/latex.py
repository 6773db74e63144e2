"""A derivation as LaTeX: of each step its name and formula, and the numbers in a displayed formula."""

from __future__ import annotations

from attn_gui.files.derivation_text.line import MULTIPLIED, RAISED, SUMMED, WHOLE, holds, is_square
from attn_gui.files.derivation_text.plain import headed
from attn_gui.files.summary import printable
from attn_gui.model.derivation import (
    Derivation,
    Difference,
    Expression,
    Function,
    Largest,
    Operand,
    Power,
    Product,
    Quotient,
    Rounded,
    Step,
    Sum,
)
from attn_gui.model.derivation.writing import Writing, writing

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "&%$#_"},
    "−": "$-$",
    "∞": r"$\infty$",
    "′": "$'$",
    "″": "$''$",
}


def latex(derivation: Derivation, decimals: int) -> str:
    """Text that goes into a document as it is; amsmath is what it needs."""
    lines = [r"% needs \usepackage{amsmath}", rf"\noindent\textbf{{{escaped(headed(derivation, decimals))}}}", ""]
    for step in derivation.steps:
        lines += _step(step, decimals)
    return "\n".join(lines)


def escaped(text: str) -> str:
    """``text`` as words of a document."""
    return "".join(_SPECIAL.get(sign, sign) for sign in text)


def number(text: str) -> str:
    """A written number: ``-0.5``, ``1.2 \\times 10^{-5}``."""
    if text == "nan":
        return r"\mathrm{nan}"
    digits, _, power = text.replace("inf", r"\infty").partition("e")
    return rf"{digits} \times 10^{{{int(power)}}}" if power else digits


def _step(step: Step, decimals: int) -> list[str]:
    note = f" ({escaped(printable(step.note))})" if step.note else ""
    w = writing(step, decimals)
    expression = step.expression
    if w.rounding is not None:
        expression = Sum((*(expression.terms if isinstance(expression, Sum) else (expression,)), w.rounding))
    before, result = _of(w, expression, first=True), number(w.result)
    numbers = result if before == result else f"{before} = {result}"
    return [rf"\noindent {escaped(step.name)}: ${step.formula.latex}${note}", r"\[", f"  {numbers}", r"\]"]


def _of(w: Writing, expression: Expression, first: bool) -> str:
    match expression:
        case Operand():
            return _operand(w, expression, first)
        case Sum(terms):
            return _joined(w, terms, " + ", SUMMED, first)
        case Difference(left, right):
            return f"{_within(w, left, SUMMED, first)} - {_within(w, right, MULTIPLIED, False)}"
        case Product(factors) if is_square(expression):
            return f"{{{_within(w, factors[0], WHOLE, False)}}}^2"
        case Product(factors):
            return _joined(w, factors, r" \times ", MULTIPLIED, first)
        case Quotient(above, below):
            return rf"\frac{{{_of(w, above, True)}}}{{{_of(w, below, True)}}}"
        case Power(base, exponent):
            return f"{{{_within(w, base, RAISED, False)}}}^{{{_of(w, exponent, True)}}}"
        case Function("sqrt", argument):
            return rf"\sqrt{{{_of(w, argument, True)}}}"
        case Function("abs", argument):
            return rf"\left|{_of(w, argument, True)}\right|"
        case Function(name, argument):
            return rf"\{name}\left({_of(w, argument, True)}\right)"
        case Largest(among):
            return rf"\max\left({', '.join(_of(w, part, True) for part in among)}\right)"
        case Rounded(what, precision):
            return rf"\operatorname{{{precision}}}\left({_of(w, what, True)}\right)"


def _operand(w: Writing, operand: Operand, first: bool) -> str:
    text = w.operand(operand)
    shown = number(text)
    if operand.aside:
        return rf"\underbrace{{{shown}}}_{{\text{{{escaped(operand.aside)}}}}}"
    return rf"\left({shown}\right)" if text.startswith("-") and not first else shown


def _within(w: Writing, part: Expression, least: int, first: bool) -> str:
    inner = _of(w, part, first)
    return inner if holds(part) >= least else rf"\left({inner}\right)"


def _joined(w: Writing, parts: tuple[Expression, ...], by: str, least: int, first: bool) -> str:
    return by.join(_within(w, part, least, first and place == 0) for place, part in enumerate(parts))
