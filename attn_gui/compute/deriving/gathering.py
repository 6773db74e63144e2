"""Cells of what the heads gather, of the heads side by side, and of the output."""

from __future__ import annotations

import numpy as np

from attn_gui.compute.deriving.chain import Chain
from attn_gui.compute.deriving.projecting import vector_name
from attn_gui.compute.deriving.subject import Subject
from attn_gui.compute.deriving.terms import sum_of
from attn_gui.model.derivation import Cell, Expression, Formula, Operand, Product, Sum
from attn_gui.model.derivation.expression import operands

WEIGHTED = Formula("o = Σ N v", r"o = \sum_j N_j v_j")
SIDE_BY_SIDE = Formula("heads side by side", r"\text{heads side by side}")
WITHOUT = Formula("output = concat", r"\text{output} = \text{concat}")


def derive_head_output(subject: Subject, chain: Chain, cell: Cell, called: str = "Weighted values") -> None:
    """The weighted values that add up to it, largest first."""
    i, c = cell.row, cell.column
    value = float(subject.rows("head_output")[i, c])
    allowed = subject.allowed(i)
    if not allowed.any() and value == 0:
        note = "every key is masked for this query"
        chain.stage(called, WEIGHTED, Operand(0.0, "nothing"), cell, value, note)
        return
    N, V = subject.row("N", i), subject.rows("V")[:, c].astype(np.float64)  # [n_k]
    products = N * V
    # a masked key adds nothing, unless its value is no number
    among = np.flatnonzero(allowed | (products != 0))

    def term(j: int) -> Expression:
        weight = Operand(float(N[j]), f"weight of {subject.query(i)} for {subject.key(j)}", subject.cell("N", i, j))
        return Product((weight, Operand(float(V[j]), vector_name(subject, "V", j, c), subject.cell("V", j, c))))

    chain.stage(called, WEIGHTED, sum_of(products, term, among, largest_first=True), cell, value)


def derive_concat(subject: Subject, chain: Chain, cell: Cell) -> None:
    """A dimension of the heads side by side: whose it is, and what that head gathers."""
    value = float(subject.trace.stage("concat")[cell.row, cell.column])
    part = _part(subject, chain, cell.row, cell.column)
    chain.stage("Concat", SIDE_BY_SIDE, part, cell, value)


def derive_output(subject: Subject, chain: Chain, cell: Cell) -> None:
    """``concat W_O + b_O``; without W_O the heads side by side."""
    e, i, c = subject.experiment, cell.row, cell.column
    value = float(subject.trace.stage("output")[i, c])
    table = None if e.weights is None else e.weights.W_O
    if e.weights is None or table is None:
        if e.heads == 1 and not e.variant.is_multi_head:
            derive_head_output(Subject(subject.trace, 0), chain, Cell("head_output", 0, i, c))
            chain.finish(cell)
        else:
            chain.stage("Output", WITHOUT, _part(subject, chain, i, c), cell, value)
        return
    joined = subject.trace.stage("concat")[i].astype(np.float64)  # [heads * d_v]
    w = subject.given(np.ascontiguousarray(table.array()[:, c]))
    products = joined * w

    def term(t: int) -> Expression:
        name = f"head {t // e.d_v + 1}, {t % e.d_v + 1}"
        return Product(
            (Operand(float(joined[t]), name, Cell("concat", 0, i, t)), subject.weight("W_O", t, c, float(w[t])))
        )

    terms: tuple[Expression, ...] = sum_of(products, term).terms
    for source in [operand.source for each in terms for operand in operands(each)]:
        if isinstance(source, Cell):  # what is written out is derived as well
            _part(subject, chain, i, source.column)
    formula = Formula("y = concat W_O", r"y = \text{concat} \, W_O")
    bias = e.weights.b_O
    if bias is not None:
        terms = (*terms, subject.weight("b_O", 0, c, float(subject.given(bias.array())[0, c])))
        formula = Formula("y = concat W_O + b_O", r"y = \text{concat} \, W_O + b_O")
    chain.stage("Output", formula, Sum(terms), cell, value)


def _part(subject: Subject, chain: Chain, i: int, t: int) -> Operand:
    """Dimension ``t`` of the heads side by side, with the steps to it."""
    d_v = subject.experiment.d_v
    head, c = divmod(t, d_v)
    of = Subject(subject.trace, head)
    cell = Cell("head_output", head, i, c)
    many = subject.experiment.heads * d_v > 1
    derive_head_output(of, chain, cell, f"Head {head + 1}, {c + 1}" if many else "Weighted values")
    return Operand(chain.steps[-1].result, f"head {head + 1}, {c + 1}", cell)
