"""Cells of what stands before Q, K and V: embeddings, and embeddings with their positions."""

from __future__ import annotations

from attn_gui.compute.deriving.chain import Chain
from attn_gui.compute.deriving.subject import Subject, quoted
from attn_gui.model.derivation import (
    Cell,
    Expression,
    Formula,
    Function,
    Operand,
    Parameter,
    Power,
    Quotient,
    Sum,
)
from attn_gui.model.positions.learned import Learned
from attn_gui.model.positions.sinusoidal import Sinusoidal
from attn_gui.model.tokens import TokenSequence

GIVEN = Formula("as given", r"\text{as given}")
NOT_COMPUTED = "given, not computed"
PLACED = Formula("x + p", "x + p")
WAVES = {
    "sin": Formula("sin(position / base^(2i/d))", r"\sin\left(\text{position} / \text{base}^{2i/d}\right)"),
    "cos": Formula("cos(position / base^(2i/d))", r"\cos\left(\text{position} / \text{base}^{2i/d}\right)"),
}
LETTERS = {"X": "x", "X_in": "x", "context": "x′", "context_in": "x′", "values": "x″"}


def table_of(subject: Subject, stage: str) -> TokenSequence:
    """The tokens whose embeddings ``stage`` holds."""
    e = subject.experiment
    if stage == "values":
        return e.value_rows
    return e.tokens if stage in ("X", "X_in") else e.key_rows


def embedding(subject: Subject, stage: str, row: int, column: int, value: float) -> Operand:
    """A number of an embedding."""
    token = quoted(table_of(subject, stage).tokens[row])
    return Operand(value, f"{LETTERS[stage]} of {token}, dimension {column + 1}", Cell(stage, 0, row, column))


def derive_given(subject: Subject, chain: Chain, cell: Cell) -> None:
    """X, context, values: what was typed, in the precision of the computation."""
    typed = table_of(subject, cell.stage).embeddings[cell.row, cell.column]
    name = embedding(subject, cell.stage, cell.row, cell.column, typed).name
    chain.stage("Embedding", GIVEN, Operand(typed, name), cell, float(subject.rows(cell.stage)[cell.row, cell.column]))


def derive_placed(subject: Subject, chain: Chain, cell: Cell) -> None:
    """X_in, context_in: the embedding and the vector of its position."""
    plain = cell.stage.removesuffix("_in")
    # the tokens are the whole context where there is no other
    of = embedding(subject, plain, cell.row, cell.column, 0.0)
    value = float(subject.given(table_of(subject, plain).embeddings.rows(cell.row, cell.row + 1))[0, cell.column])
    x = Operand(value, of.name, of.source)
    p = _position(subject, chain, cell)
    chain.stage("With position", PLACED, Sum((x, p)), cell, float(subject.rows(cell.stage)[cell.row, cell.column]))


def _position(subject: Subject, chain: Chain, cell: Cell) -> Operand:
    e = subject.experiment
    position = e.scoring.position
    at = (e.query_positions if cell.stage == "X_in" else e.key_positions)[cell.row : cell.row + 1]
    width = table_of(subject, cell.stage).width
    value = float(position.vectors(at, width)[0, cell.column])
    place = int(at[0])
    if isinstance(position, Sinusoidal):
        pair = Quotient(
            Operand(2.0 * (cell.column // 2), "twice the number of the pair"), Operand(float(width), "width d")
        )
        angle = Quotient(
            Operand(float(place), "position"), Power(Operand(position.base, "base", Parameter("base")), pair)
        )
        wave: Expression = Function("cos", angle) if cell.column % 2 else Function("sin", angle)
        name = "cos" if cell.column % 2 else "sin"
        return chain.between("Position", WAVES[name], wave, f"position {place}, dimension {cell.column + 1}")
    source = Parameter("position table", place, cell.column) if isinstance(position, Learned) else None
    return Operand(value, f"position {place}, dimension {cell.column + 1}", source)
