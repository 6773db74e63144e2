"""Masks in words: what is combined, for which heads, and what forbids a cell."""

from __future__ import annotations

import re

import numpy as np

from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Combined, MaskRule, Term
from attn_gui.model.trace import Head
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


def forbidden_by(experiment: Experiment, i: int, j: int, head: Head) -> str:
    """What masks the cell at query ``i`` and key ``j``: ``by hand``, ``by “Causal”``, ``by “not Random”``."""
    if experiment.painted.at(i, j) is False:
        return "by hand"
    names = [_term(term, lower=False) for term in _forbidding(experiment, i, j, 0 if head == "mean" else head)]
    return "by " + " and ".join(f"“{name}”" for name in names)


def _forbidding(experiment: Experiment, i: int, j: int, head: int) -> list[Term]:
    """Of the rule's terms those because of which query ``i`` may not attend to key ``j``."""
    rule = experiment.rule
    if not isinstance(rule, Combined):
        return [Term(rule)]
    columns = experiment.columns(head)
    at_i, at_j = np.array([[i]]), np.array([[j]])
    because: list[Term] = []
    allowed = begun = False
    for term in rule.terms:
        if term.heads is not None and head not in term.heads:
            continue
        cell = bool(np.all(term.rule.allowed(at_i, at_j, columns))) != term.negated
        if begun and term.join == "or":
            because = [] if allowed or cell else [*because, term]
            allowed = allowed or cell
        elif allowed or not begun:
            allowed, because = cell, [] if cell else [term]
        begun = True
    return because


def _term(term: Term, *, lower: bool = True) -> str:
    title = term.rule.title
    title = title[:1].lower() + title[1:] if lower else title
    return f"not {title}" if term.negated else title
