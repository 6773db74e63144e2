"""The rows and columns that a sum of products is made of, as a small table: one column a term."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attn_gui.files.derivation_text.line import number
from attn_gui.model.derivation import Cell, Expression, Operand, Parameter, Product, Step, Sum
from attn_gui.model.derivation.evaluating import evaluated
from attn_gui.model.derivation.operand import Source
from attn_gui.model.derivation.writing import writing, written
from attn_gui.model.experiment import Experiment
from attn_gui.model.stage_shape import OF_KEYS
from attn_gui.views.cut_text import beginning
from attn_gui.views.theme import Theme
from attn_gui.views.walk import cells

LETTERS = {"Q": "q", "K": "k", "V": "v", "N": "weights", "concat": "heads"}
LONGEST = 12


@dataclass(frozen=True)
class OperandTable:
    """A heading for each term, and under it its two factors and their product; ``names`` are those of the rows.

    What is no product (a bias, the sum of the terms that are left out) stands in the last row alone.
    """

    headings: tuple[str, ...]
    names: tuple[str, str]
    factors: tuple[tuple[str, ...], tuple[str, ...]]
    products: tuple[str, ...]

    def html(self, theme: Theme) -> str:
        """As rich text; the factors are in the colour in which the panels frame what they come from."""
        rows = [cells.name("", theme.text) + "".join(cells.heading(text, theme) for text in self.headings)]
        for name, numbers in zip(self.names, self.factors, strict=True):
            rows.append(cells.name(name, theme.text) + "".join(cells.operand(text, theme) for text in numbers))
        products = "".join(cells.cell(text, theme.text) for text in self.products)
        rows.append(cells.name("product", theme.muted) + products)
        return cells.table(rows)


def table_of(experiment: Experiment, step: Step, decimals: int) -> OperandTable | None:
    """The table of ``step``; None where it adds up no products of numbers from tables."""
    terms = step.expression.terms if isinstance(step.expression, Sum) else ()
    pairs = [pair for pair in map(_pair, terms) if pair is not None]
    if not pairs:
        return None
    digits = writing(step, decimals).digits
    headings: list[str] = []
    above: list[str] = []
    below: list[str] = []
    products: list[str] = []
    for term in terms:
        pair = _pair(term)
        headings.append(_heading(experiment, pair[0].source) if pair else _short(term))
        for numbers, place in ((above, 0), (below, 1)):
            numbers.append(number(written(pair[place].value, digits)) if pair else "")
        products.append(number(written(evaluated(term), decimals)))
    names = (_named(experiment, [pair[0].source for pair in pairs]), _named(experiment, [p[1].source for p in pairs]))
    return OperandTable(tuple(headings), names, (tuple(above), tuple(below)), tuple(products))


def _pair(term: Expression) -> tuple[Operand, Operand] | None:
    """The two numbers of a product of two that come from tables."""
    factors = term.factors if isinstance(term, Product) else ()
    if len(factors) != 2:
        return None
    first, second = factors
    if not isinstance(first, Operand) or not isinstance(second, Operand):
        return None
    return None if first.source is None or second.source is None else (first, second)


def _short(term: Expression) -> str:
    """What stands over what is no product: ``b_Q``, ``11 more``."""
    if not isinstance(term, Operand):
        return ""
    return term.aside or term.name.partition(",")[0]


def _heading(e: Experiment, source: Source) -> str:
    """What stands over a term: the key that it is of, or the number of the dimension."""
    if not isinstance(source, Cell):
        return ""
    if source.stage == "N":
        return beginning(e.keys.tokens[source.column], LONGEST)
    of = {"X": e.tokens, "X_in": e.tokens, "values": e.value_rows}.get(source.stage, e.key_rows)
    inputs = ("X", "X_in", "context", "context_in", "values")
    return of.dimension_name(source.column) if source.stage in inputs else str(source.column + 1)


def _named(e: Experiment, sources: Sequence[Source]) -> str:
    """What a row of the table is: a row of one stage, or a column of another."""
    first = sources[0]
    if isinstance(first, Parameter):
        return f"{first.table}, column {first.column + 1}"
    assert first is not None
    letter = LETTERS.get(first.stage, "x")
    if first.stage == "V":
        return f"values, {first.column + 1}"
    tokens = e.keys.tokens if first.stage in OF_KEYS else e.tokens.tokens
    return f"{letter} “{beginning(tokens[first.row], LONGEST)}”"
