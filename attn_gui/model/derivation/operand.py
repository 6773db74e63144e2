"""Operands: the numbers that a step works with, and where each came from."""

from __future__ import annotations

from dataclasses import dataclass

from attn_gui.model.trace import Head


@dataclass(frozen=True)
class Cell:
    """A cell of a stage; ``head`` is 0 for stages that are not per head. Rows and columns are counted from 0."""

    stage: str
    head: Head
    row: int
    column: int


@dataclass(frozen=True)
class Parameter:
    """What was given besides the tokens: a cell of one of the tables of :func:`~attn_gui.model.tables.tables_of`.

    ``table`` is its name there (``W_Q``, ``b_O``, ``sinks``), or of a single number ``scale``, ``softcap``,
    ``temperature``, ``shift``, ``base`` or ``eps``.
    """

    table: str
    row: int = 0
    column: int = 0


Source = Cell | Parameter | None


@dataclass(frozen=True)
class Operand:
    """A number, what it is called (``query “is”, dimension 1``), and where it came from; None where it is of no table.

    aside: what is written beside it, ``58 more`` where it stands for that many terms.
    """

    value: float
    name: str
    source: Source = None
    aside: str = ""
