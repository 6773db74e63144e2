"""What a session holds, in lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from attn_gui.model.experiment import Experiment
from attn_gui.model.layer_place import LayerPlace
from attn_gui.model.masks.combined import Combined
from attn_gui.model.parts import Part
from attn_gui.model.session import Session
from attn_gui.model.sources import FromTokens, called

SHOWN_TOKENS = 12
# parameters of one part
MANY = 4


def summary(session: Session) -> Iterator[str]:
    """Lines that describe each experiment; the current one is marked."""
    count = len(session.experiments)
    for index, named in enumerate(session.experiments):
        mark = " (current)" if count > 1 and index == session.current else ""
        yield f"{printable(named.name)}{mark}"
        yield from (f"  {line}" for line in _described(named.experiment))
        if named.place is not None:
            yield f"  place      {_place(named.place)}"
        if named.origin is not None:
            yield f"  from       {printable(named.origin.path)}"
        if named.exercise is not None:
            whose = f" by {printable(named.exercise.student)}" if named.exercise.student else ""
            yield f"  exercise   {', '.join(named.exercise.asked)}, to be filled in{whose}"
        if named.note:
            yield f"  note       {printable(named.note)}"


def _place(place: LayerPlace) -> str:
    module = f", {printable(place.module)}" if place.module else ""
    batch = "" if place.batch is None else f", item {place.batch + 1} of the batch"
    return f"layer {place.layer + 1}, {place.kind}-attention{module}{batch}"


def _described(e: Experiment) -> Iterator[str]:
    yield f"variant    {e.variant.label}"
    yield f"tokens     {_tokens(e.tokens.tokens)}"
    if e.variant.is_cross:
        yield f"context    {_tokens(e.present_keys.tokens)}"
    if e.past is not None:
        yield f"cache      {_tokens(e.past.tokens)}"
    if e.appended:
        yield f"appended   {_tokens([key.name for key in e.appended])}"
    kv_heads = f" ({e.kv_heads} for keys and values)" if e.kv_heads != e.heads else ""
    yield f"heads      {e.heads}{kv_heads}"
    sizes = [f"{name} {size}" for name, size in (("d_k", e.d_k), ("d_v", e.d_v)) if size]
    if sizes:
        yield f"sizes      {_widths(e)}{', '.join(sizes)}"
    yield f"source     {_source(e)}"
    if e.has_scores:
        yield f"mask       {_mask(e)}"
        yield from _scoring(e)
    yield f"precision  {e.precision}"


def _tokens(tokens: Sequence[str]) -> str:
    more = f" … and {len(tokens) - SHOWN_TOKENS} more" if len(tokens) > SHOWN_TOKENS else ""
    return f"{len(tokens)}: {' '.join(printable(token) for token in tokens[:SHOWN_TOKENS])}{more}"


def _widths(e: Experiment) -> str:
    if not isinstance(e.source, FromTokens):
        return ""
    context = f", d_context {e.present_keys.width}" if e.variant.is_cross else ""
    values = "" if e.values is None else f", values of their own of {e.values.width}"
    return f"d_model {e.d_model}{context}{values}, "


def _source(e: Experiment) -> str:
    if isinstance(e.source, FromTokens):
        return "token embeddings and " + ", ".join(name for name, _ in e.source.weights.items())
    parts = e.source.parts()
    kinds = dict.fromkeys(array.dtype.name for array in parts.values())
    values = " and values" if "V" in parts else ", no values"
    what = called(e.source) + ("" if e.has_queries else values)
    return f"given {what} ({', '.join(kinds)})"


def _scoring(e: Experiment) -> Iterator[str]:
    scoring = e.scoring
    temperature = "" if scoring.temperature == 1 else f" (with temperature {scoring.temperature:.6g})"
    softcap = "" if scoring.softcap is None else f", softcap {scoring.softcap:.6g}"
    if e.has_queries:
        yield f"scale      {e.scale:.6g}{temperature}{softcap}"
    if scoring.biases:
        yield f"bias       {', '.join(_part(bias) for bias in scoring.biases)}"
    if scoring.position.kind != "none":
        yield f"position   {_part(scoring.position)}"
    for title, part in (("qk norm    ", scoring.qk_norm), ("rotary     ", scoring.rotary)):
        if part is not None:
            yield title + _part(part)
    sinks = "" if scoring.sinks is None else f", sinks {' '.join(f'{sink:.6g}' for sink in scoring.sinks)}"
    yield f"normaliser {_part(scoring.normaliser)}{sinks}"


def _mask(e: Experiment) -> str:
    count = len(e.painted.rectangles)
    painted = f", {count} rectangle{'s' if count > 1 else ''} painted by hand" if count else ""
    return f"{_rules(e)}{painted}"


def _rules(e: Experiment) -> str:
    if not isinstance(e.rule, Combined):
        return _part(e.rule)
    text = ""
    for term in e.rule.terms:
        heads = "" if term.heads is None else f" in heads {', '.join(str(head + 1) for head in term.heads)}"
        text += f"{f' {term.join} ' if text else ''}{'not ' if term.negated else ''}{_part(term.rule)}{heads}"
    return text or e.rule.title


def _part(part: Part) -> str:
    """Its title and parameters; of many, those that are not as they were to begin with."""
    values = {name: getattr(part, name) for name, _ in part.parameters()}
    if len(values) > MANY:
        usual = {each.name: each.default for each in fields(part)}
        values = {name: v for name, v in values.items() if isinstance(v, np.ndarray) or v != usual[name]}
    said = [f"{name.replace('_', ' ')} {_value(value)}" for name, value in values.items() if value is not None]
    told = f" ({', '.join(said)})" if said else ""
    return f"{part.title}{told}"


def _value(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return " x ".join(map(str, value.shape))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return " ".join(map(_value, value)) or "none"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def printable(text: str) -> str:
    """``text`` with what a terminal would obey (line ends, escape sequences) written as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
