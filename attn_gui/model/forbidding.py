"""What masks a cell: which of the rules that are combined are the reason."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Columns, Combined, Term
from attn_gui.model.trace import Head


def forbidding(experiment: Experiment, i: int, j: int, head: Head) -> tuple[Term, ...]:
    """The terms of the mask because of which query ``i`` may not attend to key ``j``; none where it was painted so.

    A rule that is not combined is one term. For the mean over heads, where a masked cell is masked in each, the terms
    of all of them.
    """
    if experiment.painted.at(i, j) is False:
        return ()
    rule = experiment.rule
    if not isinstance(rule, Combined):
        return (Term(rule),)
    heads = range(experiment.heads) if head == "mean" else (head,)
    columns = experiment.columns()
    because = {place for each in heads for place in _of_head(replace(columns, heads=each), rule.terms, i, j, each)}
    return tuple(term for place, term in enumerate(rule.terms) if place in because)


def _of_head(columns: Columns, terms: tuple[Term, ...], i: int, j: int, head: int) -> list[int]:
    """The places of the terms that are the reason in ``head``."""
    at_i, at_j = np.array([[i]]), np.array([[j]])
    because: list[int] = []
    allowed = begun = False
    for place, term in enumerate(terms):
        if term.heads is not None and head not in term.heads:
            continue
        cell = bool(np.all(term.rule.allowed(at_i, at_j, columns))) != term.negated
        if begun and term.join == "or":
            because = [] if allowed or cell else [*because, place]
            allowed = allowed or cell
        elif allowed or not begun:
            allowed, because = cell, [] if cell else [place]
        begun = True
    return because
