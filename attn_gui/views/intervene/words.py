"""Changes inside a model, and what came of them, in words."""

from __future__ import annotations

from collections.abc import Sequence

from attn_gui.model.experiment import Experiment
from attn_gui.model.intervention import (
    Action,
    ChangeMask,
    ChangeTemperature,
    Forbid,
    Guesses,
    Outcome,
    ReplaceBy,
    Site,
    SwitchOff,
    TokenOdds,
    experiment_at,
    site_of,
)
from attn_gui.model.session import Session
from attn_gui.views.figures import figure

REPLACEMENTS = {
    "mean": ("Its &mean over the text", "its mean over the text"),
    "even": ("&Even weights", "even weights"),
    "shown": ("What the &window shows", "what the window shows"),
}
NOTHING_CHANGED = "No change yet: this is what the model says by itself."
IDLE, OFF = "already masked: no effect", "switched off: no effect"
SAME = "Every number that comes out is the same as before."
POOLED = {"mean": "the mean of its tokens’ last states", "first": "the last state of its first token"}


def described(action: Action, session: Session, others: Sequence[Action] = ()) -> str:
    """What the change does and where, beside ``others`` that are in force: “Layer 2, head 5: off”."""
    places = [index for index in range(len(session.experiments)) if site_of(session, index) in action.sites]
    text = action.text
    at = next((index for index in places if text in (None, text_of(session, index))), None)
    where = "every layer" if len(action.sites) > 1 else "a layer" if at is None else layer_name(session, at)
    heads = action.heads
    if heads is None:
        of = "every head"
    else:
        of = f"head{'s' if len(heads) > 1 else ''} {' and '.join(str(head + 1) for head in heads)}"
    told = f"{where}, {of}: {_what(action, None if at is None else session.experiments[at].experiment)}"
    if text is not None and texts_of(session) > 1:
        told += f" (text {text + 1})"
    if why := why_idle(action, session, others):
        told += f" ({why})"
    return f"{told[:1].upper()}{told[1:]}"


def why_idle(action: Action, session: Session, others: Sequence[Action] = ()) -> str:
    """Why the change has no effect beside ``others`` that are in force, "" where it may have one."""
    if _is_off(action, session, others):
        return OFF
    return IDLE if _is_masked(action, session, others) else ""


def _is_off(action: Action, session: Session, others: Sequence[Action]) -> bool:
    """Whether every head that the change is for is switched off, which comes after all other changes of a head."""
    if isinstance(action.change, SwitchOff):
        return False
    off = [each for each in others if isinstance(each.change, SwitchOff) and each.text in (None, action.text)]

    def covered(site: Site) -> bool:
        here = [each.heads for each in off if site in each.sites]
        if None in here:
            return True
        index = experiment_at(session, site, action.text or 0)
        if action.heads is None and index is None:
            return False
        every = range(session.experiments[index].experiment.heads) if index is not None else ()
        heads = every if action.heads is None else action.heads
        return set(heads) <= {head for heads in here for head in heads or ()}

    return bool(off) and all(map(covered, action.sites))


def _is_masked(action: Action, session: Session, others: Sequence[Action]) -> bool:
    """Whether the change forbids a pair that the model's own mask forbids in every layer, head and text it is for.

    Where ``others`` change the mask there, it does not stay as it is.
    """
    change = action.change
    if not isinstance(change, Forbid):
        return False
    if any(isinstance(other.change, ChangeMask) and set(other.sites) & set(action.sites) for other in others):
        return False
    found = []
    for index, named in enumerate(session.experiments):
        e = named.experiment if named.original is None else named.original
        of_it = action.text in (None, text_of(session, index)) and site_of(session, index) in action.sites
        if not of_it:
            continue
        if change.query >= e.n_q or change.key >= e.n_k:
            return False
        cell = slice(change.query, change.query + 1), slice(change.key, change.key + 1)
        heads = range(e.heads) if action.heads is None else action.heads
        found += [not e.allowed(*cell, head).any() for head in (heads if e.rule.per_head else heads[:1])]
    return bool(found) and all(found)


def layer_name(session: Session, index: int) -> str:
    """What the layer is called, whichever text of a batch it read."""
    return session.experiments[index].name.partition(" · ")[0]


def text_of(session: Session, index: int) -> int:
    """Which text of the batch the experiment at ``index`` read, from 0."""
    place = session.experiments[index].place
    return 0 if place is None or place.batch is None else place.batch


def texts_of(session: Session) -> int:
    """How many texts the model read."""
    return 1 if session.model is None else max(1, len(session.model.texts))


def pair_words(experiment: Experiment, query: int, key: int) -> str:
    """“is” to “the”, of a query and a key."""
    return f"“{experiment.tokens.tokens[query]}” to “{experiment.keys.tokens[key]}”"


def place_words(odds: TokenOdds, masked: bool) -> str:
    """Where a model guesses: after 5 “the”."""
    return f"{'at' if masked else 'after'} {odds.place + 1} “{odds.at}”"


def summary(outcome: Outcome, odds: TokenOdds | None, decimals: int) -> str:
    """What came out, in a sentence or two; ``odds`` are those that are shown."""
    result = outcome.result
    if not outcome.actions:
        first = NOTHING_CHANGED
    elif outcome.same:
        first = SAME
    elif isinstance(result, Guesses):
        assert odds is not None
        strongest = max((each for text in result.texts for each in text), key=lambda each: each.divergence)
        first = f"KL divergence here {figure(odds.divergence, decimals)} nats"
        if strongest is not odds:
            first += f", largest {place_words(strongest, result.masked)}: {figure(strongest.divergence, decimals)}"
        first += "."
    else:
        least = figure(min(float(moved) for moved in result.moved), decimals)
        if len(result.moved) == 1:
            first = f"The cosine of the text with itself as it was is {least}."
        else:
            first = f"The text that moved most has a cosine of {least} with itself as it was."
    if isinstance(result, Guesses):
        return first
    return f"{first} A text’s embedding is {POOLED[result.pooling]}."


def _what(action: Action, experiment: Experiment | None) -> str:
    change = action.change
    if isinstance(change, SwitchOff):
        return "off"
    if isinstance(change, ReplaceBy):
        return f"replaced by {REPLACEMENTS[change.by][1]}"
    if isinstance(change, ChangeMask):
        return f"mask {change.rule.title.lower()}"
    if isinstance(change, ChangeTemperature):
        return f"temperature {change.temperature:g}"
    assert isinstance(change, Forbid)
    if experiment is None or change.query >= experiment.n_q or change.key >= experiment.n_k:
        return f"{change.query + 1} may not attend to {change.key + 1}"
    return f"no {pair_words(experiment, change.query, change.key)}"
