"""Derivation: one cell's value and the steps that lead to it."""

from __future__ import annotations

from dataclasses import dataclass

from attn_gui.model.arranging import PLAIN, Arrangement
from attn_gui.model.derivation.evaluating import evaluated
from attn_gui.model.derivation.expression import Expression, operands
from attn_gui.model.derivation.operand import Cell, Operand
from attn_gui.model.precision import Precision
from attn_gui.model.trace import Head


@dataclass(frozen=True)
class DerivationAsk:
    """Where a cell of ``stage`` comes from; ``head`` is not looked at for stages that are not per head.

    arranged: of a square stage, where the number comes from that is drawn for the query and the key so, which may be
    one of all pieces of their words.
    """

    stage: str
    head: Head
    row: int
    column: int
    arranged: Arrangement = PLAIN


@dataclass(frozen=True)
class Formula:
    """A formula as plain text on one line and as LaTeX."""

    text: str
    latex: str


@dataclass(frozen=True)
class Step:
    """One step: ``name``, the ``formula`` that it follows, the same with its numbers, and what comes of it.

    result: of a stage, the number that stands in the trace; of what lies between stages, what ``expression`` gives.
    cell: the cell of a stage that the result is; None for what lies between stages. note: what else there is to say, a
    sentence without a full stop, or nothing.
    """

    name: str
    formula: Formula
    expression: Expression
    result: float
    cell: Cell | None = None
    note: str = ""

    @property
    def operands(self) -> tuple[Operand, ...]:
        """The numbers that the step works with, in the order in which they are written."""
        return tuple(operands(self.expression))

    @property
    def evaluated(self) -> float:
        """What ``expression`` gives in float64: the result but for how the computation rounded on its way."""
        return evaluated(self.expression)


@dataclass(frozen=True)
class Derivation:
    """Where the value of ``cell`` comes from.

    what: the cell in words, ``weight of “is” for “the”``. precision: what every stage was rounded to. steps: in the
    order of the computation; the last one's result is ``value``.
    """

    cell: Cell
    what: str
    value: float
    precision: Precision
    steps: tuple[Step, ...]
