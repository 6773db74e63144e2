"""Derivations: where one number of the computation comes from, step by step, as plain data."""

from attn_gui.model.derivation.derivation import Derivation, DerivationAsk, Formula, Step
from attn_gui.model.derivation.expression import (
    Difference,
    Expression,
    Function,
    Largest,
    Power,
    Product,
    Quotient,
    Rounded,
    Sum,
)
from attn_gui.model.derivation.operand import Cell, Operand, Parameter, Source

__all__ = [
    "Cell",
    "Derivation",
    "DerivationAsk",
    "Difference",
    "Expression",
    "Formula",
    "Function",
    "Largest",
    "Operand",
    "Parameter",
    "Power",
    "Product",
    "Quotient",
    "Rounded",
    "Source",
    "Step",
    "Sum",
]
