"""The arithmetic of steps as rich text, its operands in the colour in which the panels frame them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from attn_gui.files.derivation_text.line import arithmetic, number
from attn_gui.model.derivation import Operand, Step
from attn_gui.model.derivation.expression import parts
from attn_gui.model.derivation.writing import writing
from attn_gui.views.theme import Theme

# terms that are written out although they stand in a table as well
FEW = 4


def lines(steps: Sequence[Step], decimals: int, theme: Theme, tabled: Step | None = None) -> str:
    """``steps`` as rich text, one a line; of several each with its name and its formula.

    tabled: a step whose terms stand in a table beside the text; of many terms only their sum is written.
    """
    texts = [_numbers(step, decimals, theme, step is tabled) for step in steps]
    if len(steps) == 1:
        return texts[0]
    return "<br>".join(
        f"{_plain(step.name)}&nbsp; {_coloured(step.formula.text, theme.muted)} = {text}"
        for step, text in zip(steps, texts, strict=True)
    )


def _numbers(step: Step, decimals: int, theme: Theme, tabled: bool) -> str:
    """What a step works out, with its numbers, its result, and what else there is to say."""
    said = writing(step, decimals)
    if isinstance(step.expression, Operand) and said.rounding is None:
        text = _plain(step.expression.name)
    elif tabled and len(parts(step.expression)) > FEW:
        text = "sum of the bottom row"
    else:
        pieces = arithmetic(said)
        text = "".join(_plain(p.text) if p.operand is None else _coloured(p.text, theme.accent) for p in pieces)
    note = f" {_coloured(f'({step.note})', theme.muted)}" if step.note else ""
    return f"{text} = <b>{number(said.result)}</b>{note}"


def _plain(text: str) -> str:
    return escape(text, quote=False)


def _coloured(text: str, colour: str) -> str:
    return f"<span style='color:{colour}'>{_plain(text)}</span>"
