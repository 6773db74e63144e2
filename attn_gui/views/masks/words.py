"""Masks in words: what is combined, for which heads, and what forbids a cell."""

from __future__ import annotations

import re
from collections.abc import Sequence

from attn_gui.model.masks import Combined, MaskRule, Term
from attn_gui.views.clipboard import quoted_short

ALL_HEADS = "all"
_SPAN = re.compile(r"(\d{1,9})(?:\s*[-–]\s*(\d{1,9}))?")


def described(rule: MaskRule) -> str:
    """``rule`` in words: ``causal and not random (heads 1–2)``."""
    if not isinstance(rule, Combined):
        return rule.title
    words = ""
    for term in rule.terms:
        words += f" {term.join} {_term(term)}" if words else _term(term)
        if term.heads is not None:
            words += f" ({'head' if len(term.heads) == 1 else 'heads'} {heads_text(term.heads)})"
    return words or MaskRule.title


def heads_text(heads: tuple[int, ...] | None) -> str:
    """Heads as they are typed, counted from 1: ``all``, ``1, 3``, ``1–4``."""
    if heads is None:
        return ALL_HEADS
    runs: list[list[int]] = []
    for head in sorted(heads):
        if runs and runs[-1][1] == head - 1:
            runs[-1][1] = head
        else:
            runs.append([head, head])
    return ", ".join(str(a + 1) if a == b else f"{a + 1}–{b + 1}" for a, b in runs)


def read_heads(text: str, count: int) -> tuple[int, ...] | None:
    """The heads that ``text`` names, of ``count``; None for all of them. Raises ValueError."""
    words = [word for word in (part.strip() for part in re.split("[,;]", text)) if word]
    if not words or [word.lower() for word in words] == [ALL_HEADS]:
        return None
    heads: set[int] = set()
    for word in words:
        span = _SPAN.fullmatch(word)
        if span is None:
            raise ValueError(f"{quoted_short(word)} is no head: type all, or numbers as in 1, 3 or 1–4")
        first, last = int(span[1]), int(span[2] or span[1])
        if not 1 <= first <= last <= count:
            raise ValueError(f"{quoted_short(word)}: there {'is 1 head' if count == 1 else f'are heads 1 to {count}'}")
        heads.update(range(first - 1, last))
    return tuple(sorted(heads))


def forbidden_by(because: Sequence[Term]) -> str:
    """What masks a cell, by what :func:`~attn_gui.model.forbidding.forbidding` found: ``by hand``, ``by “Causal”``."""
    if not because:
        return "by hand"
    return "by " + " and ".join(f"“{_term(term, lower=False)}”" for term in because)


def _term(term: Term, *, lower: bool = True) -> str:
    title = term.rule.title
    title = title[:1].lower() + title[1:] if lower else title
    return f"not {title}" if term.negated else title
