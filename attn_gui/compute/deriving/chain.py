"""Chain: the steps of a derivation as they are put together."""

from __future__ import annotations

import math
from dataclasses import replace

from attn_gui.model.derivation import Cell, Expression, Formula, Operand, Rounded, Step
from attn_gui.model.derivation.evaluating import evaluated
from attn_gui.model.derivation.rounding import rounded
from attn_gui.model.precision import Precision

# what is rounded to fewer digits than anybody shows is not worth a step
WIDE = (Precision.FLOAT64, Precision.FLOAT32)


class Chain:
    """Steps one after another, of an experiment computed in ``precision``."""

    def __init__(self, precision: Precision) -> None:
        self._precision = precision
        self.steps: list[Step] = []

    def between(self, name: str, formula: Formula, expression: Expression, called: str, note: str = "") -> Operand:
        """A step between stages; what comes of it, ``called`` so."""
        value = evaluated(expression)
        self.steps.append(Step(name, formula, expression, value, None, note))
        return Operand(value, called)

    def stage(
        self, name: str, formula: Formula, expression: Expression, cell: Cell, value: float, note: str = ""
    ) -> None:
        """A step to a cell of a stage, whose value in the trace is ``value``.

        Where the precision is low, or the result beyond it, rounding is a step of its own.
        """
        exact = evaluated(expression)
        stored = rounded(exact, self._precision)
        leaves = math.isfinite(exact) and not math.isfinite(stored)
        if stored != exact and not math.isnan(exact) and (leaves or self._precision not in WIDE):
            self.steps.append(Step(name, formula, expression, exact, None, note))
            self.round(Operand(exact, name[:1].lower() + name[1:]), cell, value)
        else:
            self.steps.append(Step(name, formula, expression, value, cell, note))

    def round(self, what: Operand, cell: Cell | None, value: float) -> None:
        """A step that rounds ``what`` to the precision."""
        precision = self._precision
        formula = Formula(f"{precision}(x)", rf"\operatorname{{{precision}}}(x)")
        note = f"every stage is kept in {precision}"
        self.steps.append(Step(f"Round to {precision}", formula, Rounded(what, precision), value, cell, note))

    def finish(self, cell: Cell) -> None:
        """The last step's result stands in ``cell``, too."""
        self.steps[-1] = replace(self.steps[-1], cell=cell)
