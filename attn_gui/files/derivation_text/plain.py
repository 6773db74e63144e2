"""A derivation as plain text."""

from __future__ import annotations

from attn_gui.files.derivation_text.line import number, pieces
from attn_gui.files.summary import printable
from attn_gui.model.derivation import Derivation
from attn_gui.model.derivation.writing import writing, written


def plain_text(derivation: Derivation, decimals: int) -> str:
    """A heading, then of each step its name and formula and below them the numbers."""
    lines = [headed(derivation, decimals), ""]
    for step in derivation.steps:
        note = f" ({printable(step.note)})" if step.note else ""
        lines.append(f"{step.name}: {step.formula.text}{note}")
        lines.append("  " + "".join(piece.text for piece in pieces(writing(step, decimals))))
    return "\n".join(lines) + "\n"


def headed(derivation: Derivation, decimals: int) -> str:
    """``N of “is” for “the” = 0.2226, float32``."""
    value = number(written(derivation.value, decimals))
    return f"{printable(derivation.what)} = {value}, {derivation.precision}"
