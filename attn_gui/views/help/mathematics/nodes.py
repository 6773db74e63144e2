"""What a formula consists of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# how a symbol is set, and what space is left around it
Kind = Literal["variable", "upright", "operator", "relation", "opening", "closing", "punctuation", "space"]


@dataclass(frozen=True)
class Symbol:
    """One sign, a name such as softmax, or a space of ``em``."""

    text: str
    kind: Kind
    em: float = 0.0


@dataclass(frozen=True)
class Large:
    """A sum's or a product's sign, which takes its scripts above and below."""

    text: str


@dataclass(frozen=True)
class Row:
    """Parts side by side."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Fraction:
    """One part over another."""

    over: Row
    under: Row


@dataclass(frozen=True)
class Root:
    """A square root."""

    body: Row


@dataclass(frozen=True)
class Scripts:
    """``base`` with what stands below and above at its right, or under and over a sign that takes limits."""

    base: Node
    below: Row | None
    above: Row | None


@dataclass(frozen=True)
class Fenced:
    """``body`` between two fences as tall as it is; an empty fence is none."""

    opening: str
    body: Row
    closing: str


@dataclass(frozen=True)
class Cases:
    """Lines of a value and when it holds, behind one brace."""

    lines: tuple[tuple[Row, ...], ...]


Node = Symbol | Large | Row | Fraction | Root | Scripts | Fenced | Cases
