"""Cells of Q, K and V as they are projected, and of those that were given."""

from __future__ import annotations

import numpy as np

from attn_gui.compute.deriving.chain import Chain
from attn_gui.compute.deriving.inputs import GIVEN, embedding
from attn_gui.compute.deriving.subject import Subject
from attn_gui.compute.deriving.terms import sum_of
from attn_gui.model.derivation import Cell, Expression, Formula, Operand, Parameter, Product, Sum
from attn_gui.model.sources import FromTokens
from attn_gui.model.stage_shape import stages_of

WORDS = {"Q": "Query", "K": "Key", "V": "Value"}


def derive_projected(subject: Subject, chain: Chain, cell: Cell) -> None:
    """``x W + b``, or what was given."""
    e, letter = subject.experiment, cell.stage[0]
    value = float(subject.rows(cell.stage)[cell.row, cell.column])
    name = vector_name(subject, letter, cell.row, cell.column)
    tokens = e.n_k - len(e.appended)
    if letter != "Q" and cell.row >= tokens:
        key = e.appended[cell.row - tokens]
        table = key.K if letter == "K" else key.V
        width = table.width // e.kv_heads
        typed = float(table[0, subject.kv_head * width + cell.column])
        note = "a key that is no token’s"
        source = Parameter(f"appended {letter}", cell.row - tokens, subject.kv_head * width + cell.column)
        chain.stage(f"{WORDS[letter]} as given", GIVEN, Operand(typed, name, source), cell, value, note)
    elif not isinstance(e.source, FromTokens):
        given = subject.as_given(letter, cell.row, cell.column, name)
        chain.stage(f"{WORDS[letter]} as given", GIVEN, given, cell, value)
    else:
        _project(subject, chain, cell, letter, value)


def vector_name(subject: Subject, letter: str, row: int, column: int) -> str:
    """``query “is”, dimension 1``."""
    token = subject.query(row) if letter == "Q" else subject.key(row)
    return f"{WORDS[letter].lower()} {token}, dimension {column + 1}"


def _project(subject: Subject, chain: Chain, cell: Cell, letter: str, value: float) -> None:
    e = subject.experiment
    stage = _rows_of(subject, letter)
    x = subject.trace.stage(stage)[cell.row].astype(np.float64)  # [d]
    assert e.weights is not None  # Q, K and V were not given
    table, bias = e.weights.get(f"W_{letter}"), e.weights.get(f"b_{letter}")
    assert table is not None  # an experiment has checked its weights
    group = subject.head if letter == "Q" else subject.kv_head
    column = group * (e.d_v if letter == "V" else e.d_k) + cell.column
    w = subject.given(np.ascontiguousarray(table.array()[:, column]))  # [d]
    products = x * w

    def term(t: int) -> Expression:
        factors = (
            embedding(subject, stage, cell.row, t, float(x[t])),
            subject.weight(f"W_{letter}", t, column, float(w[t])),
        )
        return Product(factors)

    terms = sum_of(products, term).terms
    small = letter.lower()
    formula = Formula(f"{small} = x W_{letter}", rf"{small} = x W_{letter}")
    if bias is not None:
        b = float(subject.given(bias.array())[0, column])
        terms = (*terms, subject.weight(f"b_{letter}", 0, column, b))
        formula = Formula(f"{small} = x W_{letter} + b_{letter}", rf"{small} = x W_{letter} + b_{letter}")
    chain.stage(WORDS[letter], formula, Sum(terms), cell, value)


def _rows_of(subject: Subject, letter: str) -> str:
    """The stage that Q, K or V is projected from."""
    e = subject.experiment
    names = stages_of(e)
    if letter == "V" and e.values is not None:
        return "values"
    own = letter == "Q" or (not e.variant.is_cross and e.past is None)
    plain = "X" if own else "context"
    return f"{plain}_in" if f"{plain}_in" in names else plain
