"""What a session holds, in lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attn_gui.model.experiment import Experiment, GivenQKV
from attn_gui.model.masks import rule_to_plain
from attn_gui.model.session import Session

SHOWN_TOKENS = 12


def summary(session: Session) -> Iterator[str]:
    """Lines that describe each experiment; the current one is marked."""
    count = len(session.experiments)
    for index, named in enumerate(session.experiments):
        mark = " (current)" if count > 1 and index == session.current else ""
        yield f"{printable(named.name)}{mark}"
        yield from (f"  {line}" for line in _described(named.experiment))
        if named.note:
            yield f"  note       {printable(named.note)}"


def _described(e: Experiment) -> Iterator[str]:
    yield f"variant    {e.variant.label}"
    yield f"tokens     {_tokens(e.tokens.tokens)}"
    if e.variant.is_cross:
        yield f"context    {_tokens(e.keys.tokens)}"
    kv_heads = f" ({e.kv_heads} for keys and values)" if e.kv_heads != e.heads else ""
    yield f"heads      {e.heads}{kv_heads}"
    widths = "" if isinstance(e.source, GivenQKV) else f"d_model {e.d_model}, "
    yield f"sizes      {widths}d_k {e.d_k}, d_v {e.d_v}"
    yield f"source     {_source(e)}"
    yield f"mask       {_mask(e)}"
    softcap = "" if e.scoring.softcap is None else f", softcap {e.scoring.softcap:.6g}"
    yield f"scale      {e.scale:.6g}{softcap}"
    yield f"precision  {e.precision}"


def _tokens(tokens: Sequence[str]) -> str:
    more = f" … and {len(tokens) - SHOWN_TOKENS} more" if len(tokens) > SHOWN_TOKENS else ""
    return f"{len(tokens)}: {' '.join(printable(token) for token in tokens[:SHOWN_TOKENS])}{more}"


def _source(e: Experiment) -> str:
    if e.weights is None:
        return "given Q, K and V"
    return "token embeddings and " + ", ".join(name for name, _ in e.weights.items())


def _mask(e: Experiment) -> str:
    parameters = {name: value for name, value in rule_to_plain(e.rule).items() if name != "kind"}
    said = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in parameters.items())
    count = len(e.painted.rectangles)
    painted = f", {count} rectangle{'s' if count > 1 else ''} painted by hand" if count else ""
    return f"{e.rule.title}{f' ({said})' if said else ''}{painted}"


def printable(text: str) -> str:
    """``text`` with what a terminal would obey (line ends, escape sequences) written as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
