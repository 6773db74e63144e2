"""Cells of the scores, from the two vectors to the mask."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from attn_gui.compute.deriving.biasing import bias_of
from attn_gui.compute.deriving.chain import Chain
from attn_gui.compute.deriving.inputs import GIVEN, NOT_COMPUTED
from attn_gui.compute.deriving.projecting import vector_name
from attn_gui.compute.deriving.subject import Subject
from attn_gui.compute.deriving.terms import sum_of
from attn_gui.model.derivation import (
    Cell,
    Expression,
    Formula,
    Function,
    Operand,
    Parameter,
    Product,
    Quotient,
    Sum,
)
from attn_gui.model.forbidding import forbidding
from attn_gui.model.trace import Head

DOT = Formula("q · k = Σ qₜ kₜ", r"q \cdot k = \sum_t q_t k_t")
SCALED = Formula("scale · q · k", r"\text{scale} \cdot q \cdot k")
CAPPED = Formula("c · tanh(x / c)", r"c \tanh(x / c)")
BIASED = Formula("A = x + B", "A = x + B")
MASKED = Formula("A = −∞ where masked", r"A = -\infty \text{ where masked}")
ORDER = ("raw", "scaled", "capped", "bias", "A", "A_masked")


def derive_scores(subject: Subject, chain: Chain, cell: Cell) -> None:
    """The steps up to the stage of ``cell``, one of ORDER."""
    if cell.stage == "bias":
        _bias(subject, chain, cell)
        return
    i, j = cell.row, cell.column
    if not subject.experiment.has_queries:
        _given(subject, chain, cell)
    for stage in _stages(subject, cell.stage):
        here = replace(cell, stage=stage)
        if stage == "A_masked":
            if not subject.allowed(i)[j]:
                mask_step(subject, chain, here)
            else:
                chain.finish(here)
            continue
        _STEPS[stage](subject, chain, here, subject.value(here))
    chain.finish(cell)  # a stage that does nothing is the one before it


def mask_step(subject: Subject, chain: Chain, cell: Cell) -> None:
    """That the mask forbids ``cell``, and by which rule."""
    note = f"masked {masked_by(subject, cell.row, cell.column, cell.head)}"
    chain.stage("Mask", MASKED, Operand(-math.inf, "score of a masked key"), cell, -math.inf, note)


def masked_by(subject: Subject, i: int, j: int, head: Head) -> str:
    """``by “Causal”``, ``by hand``."""
    because = forbidding(subject.experiment, i, j, head)
    names = [f"“{'not ' if term.negated else ''}{term.rule.title}”" for term in because]
    return f"by {' and '.join(names)}" if names else "by hand"


def _stages(subject: Subject, last: str) -> list[str]:
    """The stages up to ``last`` that do something."""
    scoring = subject.experiment.scoring
    wanted = ["raw", "scaled"] if subject.experiment.has_queries else []
    if scoring.softcap is not None:
        wanted.append("capped")
    if scoring.biases:
        wanted.append("A")
    wanted = [stage for stage in wanted if ORDER.index(stage) <= ORDER.index(last)]
    return [*wanted, "A_masked"] if last == "A_masked" else wanted


def _given(subject: Subject, chain: Chain, cell: Cell) -> None:
    """The score as it was given, before a bias."""
    given = subject.as_given("A", cell.row, cell.column, f"score {_of_cell(subject, cell)}, as given")
    if subject.experiment.scoring.biases:
        chain.between("Score as given", GIVEN, given, "score as given", NOT_COMPUTED)
    else:
        here = replace(cell, stage="A")
        chain.stage("Score as given", GIVEN, given, here, subject.value(here), NOT_COMPUTED)


def _of_cell(subject: Subject, cell: Cell) -> str:
    return f"of {subject.query(cell.row)} for {subject.key(cell.column)}"


def _dot(subject: Subject, chain: Chain, cell: Cell, value: float) -> None:
    i, j = cell.row, cell.column
    q, k = (subject.rows(stage)[place].astype(np.float64) for stage, place in (("Q", i), ("K", j)))  # [d_k]
    products = q * k

    def term(t: int) -> Expression:
        factors = (
            Operand(float(q[t]), vector_name(subject, "Q", i, t), subject.cell("Q", i, t)),
            Operand(float(k[t]), vector_name(subject, "K", j, t), subject.cell("K", j, t)),
        )
        return Product(factors)

    chain.stage("Dot product", DOT, sum_of(products, term), cell, value)


def _scale(subject: Subject, chain: Chain, cell: Cell, value: float) -> None:
    raw = Operand(subject.value(replace(cell, stage="raw")), "dot product", replace(cell, stage="raw"))
    chain.stage("Scale", SCALED, Product((_scale_of(subject, chain), raw)), cell, value)


def _scale_of(subject: Subject, chain: Chain) -> Operand:
    e = subject.experiment
    scoring = e.scoring
    cooled = Operand(scoring.temperature, "temperature", Parameter("temperature"))
    if scoring.scale is not None:
        scale = Operand(scoring.scale, "scale", Parameter("scale"))
        if scoring.temperature == 1:
            return scale
        formula = Formula("scale / temperature", r"\text{scale} / \text{temperature}")
        return chain.between("Factor", formula, Quotient(scale, cooled), "scale")
    root = Function("sqrt", Operand(float(e.d_k), "size of a head, d_k"))
    if scoring.temperature == 1:
        formula = Formula("scale = 1 / √d_k", r"\text{scale} = 1 / \sqrt{d_k}")
        return chain.between("Factor", formula, Quotient(Operand(1.0, "1"), root), "scale")
    formula = Formula("scale = 1 / (T · √d_k)", r"\text{scale} = 1 / (T \sqrt{d_k})")
    return chain.between("Factor", formula, Quotient(Operand(1.0, "1"), Product((cooled, root))), "scale")


def _cap(subject: Subject, chain: Chain, cell: Cell, value: float) -> None:
    cap = subject.experiment.scoring.softcap
    assert cap is not None  # the stage is asked for where there is one
    c = Operand(cap, "softcap", Parameter("softcap"))
    scaled = Operand(subject.value(replace(cell, stage="scaled")), "scaled score", replace(cell, stage="scaled"))
    chain.stage("Softcap", CAPPED, Product((c, Function("tanh", Quotient(scaled, c)))), cell, value)


def _add_bias(subject: Subject, chain: Chain, cell: Cell, value: float) -> None:
    bias = bias_of(subject, chain, cell.row, cell.column)
    if not subject.experiment.has_queries:
        typed = subject.as_given("A", cell.row, cell.column, f"score {_of_cell(subject, cell)}, as given")
        kept = replace(typed, value=float(subject.given(np.array(typed.value))))
        chain.stage("Bias", BIASED, Sum((kept, bias)), cell, value)
        return
    before = replace(cell, stage="capped")
    name = "scaled score" if subject.experiment.scoring.softcap is None else "capped score"
    chain.stage("Bias", BIASED, Sum((Operand(subject.value(before), name, before), bias)), cell, value)


def _bias(subject: Subject, chain: Chain, cell: Cell) -> None:
    bias = bias_of(subject, chain, cell.row, cell.column)
    value = subject.value(cell)
    last = chain.steps[-1] if chain.steps else None
    if last is not None and last.result == value:
        chain.finish(cell)
    else:
        chain.stage("Bias", Formula("B", "B"), bias, cell, value)


_STEPS = {"raw": _dot, "scaled": _scale, "capped": _cap, "A": _add_bias}
