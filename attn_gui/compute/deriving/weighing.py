"""Cells of N: how a row of scores becomes a weight."""

from __future__ import annotations

import numpy as np

from attn_gui.compute.deriving.chain import Chain
from attn_gui.compute.deriving.inputs import GIVEN, NOT_COMPUTED
from attn_gui.compute.deriving.scoring import derive_scores
from attn_gui.compute.deriving.subject import Subject
from attn_gui.compute.deriving.terms import largest_of, sum_of
from attn_gui.compute.deriving.thresholds import derive_entmax15, derive_sparsemax
from attn_gui.compute.deriving.weighed_row import WeighedRow
from attn_gui.model.derivation import Cell, Difference, Expression, Formula, Function, Operand, Parameter, Quotient, Sum
from attn_gui.model.derivation.evaluating import evaluated
from attn_gui.model.normalisers.entmax15 import Entmax15
from attn_gui.model.normalisers.sigmoid import Sigmoid
from attn_gui.model.normalisers.softmax import Softmax
from attn_gui.model.normalisers.softmax_one import SoftmaxOne
from attn_gui.model.normalisers.sparsemax import Sparsemax

MAXIMUM = Formula("m = max A", r"m = \max A")
POWER = Formula("exp(A − m)", r"\exp(A - m)")
TOTAL = Formula("l = Σ exp(A − m)", r"l = \sum_k \exp(A_k - m)")
QUOTIENT = Formula("N = exp(A − m) / l", r"N = \exp(A - m) / l")
NO_OVERFLOW = "taken off every score: the quotient stays the same"
SIGMOID = Formula("N = 1 / (1 + exp(−(A + b)))", r"N = 1 / (1 + \exp(-(A + b)))")
NOTHING = Formula("N = 0 where masked", r"N = 0 \text{ where masked}")


def derive_weight(subject: Subject, chain: Chain, cell: Cell) -> None:
    """From the two vectors to the weight."""
    i, j = cell.row, cell.column
    if not subject.experiment.has_scores:
        given = subject.as_given("N", i, j, f"weight of {subject.query(i)} for {subject.key(j)}, as given")
        chain.stage("Weight as given", GIVEN, given, cell, subject.value(cell), NOT_COMPUTED)
        return
    allowed = subject.allowed(i)
    derive_scores(subject, chain, subject.cell("A" if allowed[j] else "A_masked", i, j))
    value = subject.value(cell)
    if not allowed[j] and value == 0:
        note = "" if allowed.any() else "every key is masked for this query"
        chain.stage("Weight", NOTHING, Operand(0.0, "weight of a masked key"), cell, value, note)
        return
    row = WeighedRow(subject, i, j, subject.row("A_masked", i), allowed)
    normaliser = subject.experiment.scoring.normaliser
    # a normaliser makes every weight of a row that holds no number no number, those of masked keys too
    if not (allowed[j] and row.finite):
        formula = Formula(f"N = {normaliser.written('A')}", r"N = \operatorname{normalise}(A)")
        note = "a score of the row is no finite number"
        chain.stage("Weight", formula, Operand(value, "weight"), cell, value, note)
    elif isinstance(normaliser, Sigmoid):
        _sigmoid(row, chain, cell, value, normaliser.shift)
    elif isinstance(normaliser, Softmax | SoftmaxOne):
        _softmax(row, chain, cell, value, isinstance(normaliser, SoftmaxOne))
    elif isinstance(normaliser, Sparsemax):
        derive_sparsemax(row, chain, cell, value)
    elif isinstance(normaliser, Entmax15):
        derive_entmax15(row, chain, cell, value)
    else:
        formula = Formula(f"N = {normaliser.written('A')}", r"N = \operatorname{normalise}(A)")
        chain.stage("Weight", formula, Operand(value, normaliser.title), cell, value, normaliser.formula)


def _softmax(row: WeighedRow, chain: Chain, cell: Cell, value: float, extra_one: bool) -> None:
    """As it is computed: the row's maximum is taken off first, so that no exponential leaves the range of numbers."""
    beside = row.beside()
    if extra_one:
        beside.append(Operand(0.0, "score of the extra 1"))
    among = largest_of(row.scores, row.score, row.places, beside)
    m = chain.between("Row maximum", MAXIMUM, among, "row maximum", NO_OVERFLOW)
    power = chain.between("Exponential", POWER, Function("exp", Difference(row.own, m)), "exponential")
    powers = np.exp(row.scores - m.value)

    def term(k: int) -> Expression:
        return Operand(float(powers[k]), f"exponential for {row.subject.key(k)}", row.score(k).source)

    terms: tuple[Expression, ...] = sum_of(powers, term, row.places).terms
    for other in beside:
        alone = evaluated(Function("exp", Difference(other, m)))
        terms = (*terms, Operand(alone, f"exponential of the {other.name}", other.source))
    total = chain.between("Sum of the row", TOTAL, Sum(terms), "sum of the row")
    chain.stage("Weight", QUOTIENT, Quotient(power, total), cell, value)


def _sigmoid(row: WeighedRow, chain: Chain, cell: Cell, value: float, shift: float) -> None:
    one = Operand(1.0, "1")
    inner: Expression = row.own
    if shift:
        inner = Sum((inner, Operand(shift, "b", Parameter("shift"))))
    below = Sum((one, Function("exp", Difference(Operand(0.0, "0"), inner))))
    chain.stage("Weight", SIGMOID, Quotient(one, below), cell, value)
