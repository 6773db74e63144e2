"""The cells of small tables in rich text."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from attn_gui.views.theme import Theme


def table(rows: Iterable[str]) -> str:
    return f"<table cellspacing='0' cellpadding='0'>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


def name(text: str, colour: str) -> str:
    """The name of a row."""
    return f"<td style='padding:1px 8px 1px 0;color:{colour}'>{escape(text, quote=False)}</td>"


def cell(text: str, colour: str, behind: str = "", span: int = 1) -> str:
    background = f"background:{behind};" if behind else ""
    style = f"padding:1px 6px;{background}color:{colour}"
    align = "right" if span == 1 else "center"
    return f"<td align='{align}' colspan='{span}' style='{style}'>{escape(text, quote=False)}</td>"


def heading(text: str, theme: Theme, span: int = 1) -> str:
    return cell(text, theme.muted, span=span)


def operand(text: str, theme: Theme) -> str:
    """A number that another comes from; where there is none, an empty cell."""
    return cell(text, theme.accent, theme.band if text else "")


def result(text: str, theme: Theme) -> str:
    """The number in question."""
    style = f"padding:0px 5px;border:1px solid {theme.accent};color:{theme.text};background:{theme.band}"
    return f"<td align='right' style='{style}'><b>{escape(text, quote=False)}</b></td>"
