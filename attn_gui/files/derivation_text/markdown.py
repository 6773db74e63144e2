"""A derivation as Markdown: a heading and a numbered list, the numbers as code."""

from __future__ import annotations

import re

from attn_gui.files.derivation_text.line import pieces
from attn_gui.files.derivation_text.plain import headed
from attn_gui.files.summary import printable
from attn_gui.model.derivation import Derivation
from attn_gui.model.derivation.writing import writing

_MARKUP = re.compile(r"([\\`*_{}\[\]<>#!|~&$])")


def markdown(derivation: Derivation, decimals: int) -> str:
    """CommonMark that reads the same in every dialect: what a token or a formula holds is never taken for markup."""
    lines = [f"### {escaped(headed(derivation, decimals))}", ""]
    for place, step in enumerate(derivation.steps, start=1):
        note = f" ({escaped(printable(step.note))})" if step.note else ""
        lines.append(f"{place}. **{escaped(step.name)}**: {escaped(step.formula.text)}{note}")
        indent = " " * len(f"{place}. ")
        lines.append("")
        lines.append(f"{indent}`{''.join(piece.text for piece in pieces(writing(step, decimals)))}`")
        lines.append("")
    return "\n".join(lines)


def escaped(text: str) -> str:
    """``text`` as it is read, on one line."""
    return _MARKUP.sub(r"\\\1", text)
