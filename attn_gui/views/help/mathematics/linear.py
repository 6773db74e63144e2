"""A formula on one line of plain text: for copying, for searching, and for a screen reader."""

from __future__ import annotations

from attn_gui.views.help.mathematics.nodes import Cases, Fenced, Fraction, Large, Node, Root, Row, Scripts, Symbol

_SPACED = ("operator", "relation")


def linear(node: Node) -> str:
    """``node`` as text: ``A = (Q Kᵀ)/√d_k``."""
    return " ".join(_text(node).split())


def _text(node: Node) -> str:
    if isinstance(node, Symbol):
        # what a wide space sets apart are formulas of their own
        return "; " if node.em >= 1 else node.text
    if isinstance(node, Large):
        return f"{node.text} "
    if isinstance(node, Row):
        return _row(node)
    if isinstance(node, Fraction):
        return f"{_whole(node.over)}/{_whole(node.under)}"
    if isinstance(node, Root):
        return f"√{_whole(node.body)}"
    if isinstance(node, Scripts):
        return _scripts(node)
    if isinstance(node, Fenced):
        return f"{node.opening}{_text(node.body)}{node.closing}"
    assert isinstance(node, Cases)
    return "; ".join(" ".join(_text(cell) for cell in line) for line in node.lines)


def _row(row: Row) -> str:
    text = ""
    before: Node | None = None
    for part in row.parts:
        said = _text(part)
        if isinstance(part, Symbol) and part.kind in _SPACED:
            unary = before is None or (isinstance(before, Symbol) and before.kind in (*_SPACED, "opening"))
            said = said if unary and part.kind == "operator" else f" {said} "
        elif isinstance(part, Symbol) and part.kind == "punctuation":
            said += " "
        elif _are_words(before, part):
            said = f" {said}"
        text += said
        before = part
    return text


def _are_words(before: Node | None, after: Node) -> bool:
    """Whether the two would run together: letters side by side are a product."""
    if before is None or (isinstance(after, Symbol) and after.kind in ("closing", "space")):
        return False
    if isinstance(after, Symbol) and after.kind == "opening" and after.text not in "|‖":
        return False
    if isinstance(after, Fenced):
        return False
    return not (isinstance(before, Symbol) and before.kind in ("opening", *_SPACED, "punctuation"))


def _scripts(node: Scripts) -> str:
    base = _text(node.base).rstrip()
    below = "" if node.below is None else f"_{_whole(node.below)}"
    if node.above is None:
        above = ""
    elif _text(node.above) == "T":
        above = "ᵀ"
    else:
        above = f"^{_whole(node.above)}"
    gap = " " if isinstance(node.base, Large) else ""
    return f"{base}{below}{above}{gap}"


def _whole(row: Row) -> str:
    """``row``, in parentheses where it is more than one part; indices side by side are no product."""
    text = " ".join(_text(row).split())
    if row.parts and all(isinstance(part, Symbol) and (part.text.isalnum() or part.text == "′") for part in row.parts):
        return text.replace(" ", "")
    if len(row.parts) == 3 and isinstance(row.parts[1], Symbol) and text.startswith("("):
        return text
    single = len(row.parts) == 1 and not isinstance(row.parts[0], Fraction)
    return text if single or text.isalnum() else f"({text})"
