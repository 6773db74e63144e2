"""What an experiment keeps when its shapes change: each thing that still fits, by itself."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Combined, MaskRule
from attn_gui.model.scoring import Scoring
from attn_gui.model.sources import FromTokens

OPTIONAL: dict[str, Any] = {"past": None, "appended": (), "rule": MaskRule(), "scoring": Scoring()}


def fields_of(experiment: Experiment) -> dict[str, Any]:
    """The arguments that would make ``experiment``."""
    return {f.name: getattr(experiment, f.name) for f in fields(experiment) if f.init}


def with_what_fits(draft: dict[str, Any]) -> Experiment:
    """The experiment of ``draft``'s fields, without those of mask, scoring, cache and appended keys that do not fit.

    Raises ExperimentError where the rest does not go together.
    """
    # given keys are those of the cache too: without it they would be too many
    given = {"past": draft["past"]} if not isinstance(draft["source"], FromTokens) else {}
    made = Experiment(**draft | OPTIONAL | given)
    for name in ("past", "appended"):
        made = _tried(made, **{name: draft[name]})
    made = _tried(made, rule=_of_heads(draft["rule"], made.heads))
    scoring: Scoring = draft["scoring"]
    # the normaliser first: sinks depend on it
    for name in ("normaliser", *(f.name for f in fields(scoring) if f.name not in ("normaliser", "biases", "sinks"))):
        part = getattr(scoring, name)
        if name == "position":
            part = part.reaching(made.last_position)
        made = _tried(made, scoring=replace(made.scoring, **{name: part}))
    for bias in scoring.biases:
        made = _tried(made, scoring=replace(made.scoring, biases=(*made.scoring.biases, bias)))
    if scoring.sinks is not None:
        sinks = (*scoring.sinks, *[0.0] * made.heads)[: made.heads]
        made = _tried(made, scoring=replace(made.scoring, sinks=sinks))
    return made


def _tried(experiment: Experiment, **changes: Any) -> Experiment:
    try:
        return replace(experiment, **changes)
    except ExperimentError:
        return experiment


def _of_heads(rule: MaskRule, heads: int) -> MaskRule:
    """``rule`` without what it says of heads that there are no longer."""
    if not isinstance(rule, Combined):
        return rule
    terms = []
    for term in rule.terms:
        kept = None if term.heads is None else tuple(head for head in term.heads if head < heads)
        if kept != ():
            terms.append(replace(term, heads=kept))
    return Combined(tuple(terms)) if terms else MaskRule()
