"""A convention put in force: the experiment that computes as somebody else's program does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from attn_gui.model.biases.additive import Additive
from attn_gui.model.diagnosis import Choice, Convention
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.given import given
from attn_gui.model.masks import Causal, Combined, Imported, MaskRule, SlidingWindow, Term
from attn_gui.model.painted import Painted
from attn_gui.model.scoring import Scoring
from attn_gui.model.sources import AppendedKey, FromTokens, kv_parts, with_parts
from attn_gui.model.table import Table

GIVEN = " and given"
# the cells of a mask that has no name of its own are written out; more would make an experiment too heavy to carry
MOST_CELLS = 1 << 24


def with_convention(experiment: Experiment, convention: Convention) -> Experiment:
    """``experiment`` as ``convention`` has it.

    Raises ExperimentError for a choice that no experiment can be set to, since it is a mistake and not a way of
    computing attention (softmax over queries, say).
    """
    e = experiment
    for choice in convention.choices:
        edit = _EDITS.get(choice.dimension)
        if edit is None:
            raise _inexpressible(choice)
        e = edit(e, choice)
    return e


def inexpressible(experiment: Experiment, convention: Convention) -> str | None:
    """Why ``experiment`` cannot be set to ``convention``, as a sentence; None where it can."""
    try:
        with_convention(experiment, convention)
    except ExperimentError as error:
        return f"{error.field[:1].upper()}{error.field[1:]} cannot be set: {error.received}."
    return None


def _inexpressible(choice: Choice) -> ExperimentError:
    return ExperimentError(choice.title, "a setting of experiments", "there is no setting for it")


def _scoring(change: Callable[[Scoring, Choice], Scoring]) -> Callable[[Experiment, Choice], Experiment]:
    return lambda e, choice: replace(e, scoring=change(e.scoring, choice))


def _normaliser(scoring: Scoring, choice: Choice) -> Scoring:
    return replace(scoring, normaliser=choice.value, sinks=scoring.sinks if choice.value.sinks else None)


def _precision(e: Experiment, choice: Choice) -> Experiment:
    if choice.value is None:
        raise _inexpressible(choice)
    return replace(e, precision=choice.value)


def _rotary(e: Experiment, choice: Choice) -> Experiment:
    rotary, start = choice.value or (None, e.offset)
    scoring = replace(e.scoring, rotary=rotary)
    if start == e.offset:
        return replace(e, scoring=scoring)
    alone = e.variant.is_cross and e.scoring.position.kind == "none"
    if not alone:
        received = (
            "tokens are queries and keys at once" if not e.variant.is_cross else "their embeddings would move too"
        )
        raise ExperimentError(choice.title, "queries whose positions nothing else depends on", received)
    moved = e.query_positions + (start - e.offset)
    return replace(e, tokens=e.tokens.with_column("position", moved), scoring=scoring)


def _tiled(e: Experiment, choice: Choice) -> Experiment:
    """As many kv heads as query heads, each kv head in turn."""
    copies = e.heads // e.kv_heads

    def tiled(table: Table) -> Table:
        return Table.of(np.tile(table.array(), (1, copies)))

    appended = tuple(AppendedKey(key.name, tiled(key.K), tiled(key.V)) for key in e.appended)
    if not isinstance(e.source, FromTokens):
        parts = {name: given(np.tile(part, (copies, 1, 1)), name) for name, part in kv_parts(e.source).items()}
        return replace(e, kv_heads=e.heads, source=with_parts(e.source, parts), appended=appended)
    weights = e.source.weights
    for name in ("W_K", "W_V", "b_K", "b_V"):
        table = weights.get(name)
        if table is not None:
            weights = weights.with_table(name, tiled(table))
    return replace(e, kv_heads=e.heads, source=FromTokens(weights), appended=appended)


def _projection(e: Experiment, choice: Choice) -> Experiment:
    weights = e.weights
    if weights is None or weights.W_O is None:
        raise _inexpressible(choice)
    if choice.name == "transposed":
        return replace(e, source=FromTokens(weights.with_table("W_O", Table.of(weights.W_O.array().T))))
    if choice.name == "absent":
        weights = weights.with_table("W_O", Table.of(np.eye(len(weights.W_O))))
    return replace(e, source=FromTokens(replace(weights, b_O=None)))


def _mask(e: Experiment, choice: Choice) -> Experiment:
    name = choice.name
    if name == "multiplied":
        raise _inexpressible(choice)
    if name == "absent":
        return replace(e, rule=MaskRule(), painted=Painted())
    if name == "added":
        bias = Additive(_cells(e).astype(np.float64))
        scoring = replace(e.scoring, biases=(*e.scoring.biases, bias))
        return replace(e, rule=MaskRule(), painted=Painted(), scoring=scoring)
    if name == "inverted":
        return _inverted(e)
    if name in ("window shorter", "window longer"):
        return _with_window(e, choice)
    if name == "strictly causal":
        return _with_cells(e, np.tri(e.n_q, e.n_k - len(e.appended), -1, dtype=bool))
    causal = Causal("bottom-right" if "bottom-right" in name else "top-left")
    if not name.endswith(GIVEN):
        return replace(e, rule=causal, painted=Painted())
    if e.painted:
        both = _cells(e) & _cells(replace(e, rule=causal, painted=Painted()))
        return replace(_with_cells(e, both), painted=_of_appended(e))
    terms = e.rule.terms if isinstance(e.rule, Combined) else (Term(e.rule),)
    return replace(e, rule=Combined((*terms, Term(causal))))


def _inverted(e: Experiment) -> Experiment:
    if e.painted or isinstance(e.rule, Combined):
        return _with_cells(e, ~_cells(e))
    if isinstance(e.rule, Imported):
        return replace(e, rule=Imported(~e.rule.cells))
    return replace(e, rule=Combined((Term(e.rule, negated=True),)))


def _with_window(e: Experiment, choice: Choice) -> Experiment:
    if isinstance(e.rule, SlidingWindow) and not e.painted:
        return replace(e, rule=replace(e.rule, window=choice.value.window))
    cells = choice.value.cells(e.n_q, e.n_k - len(e.appended))
    return replace(_with_cells(e, cells), painted=_of_appended(e))


def _with_cells(e: Experiment, cells: NDArray[np.bool_]) -> Experiment:
    return replace(e, rule=Imported(cells), painted=Painted())


def _of_appended(e: Experiment) -> Painted:
    """What is painted on keys that are no token's, which no rule concerns."""
    first = e.n_k - len(e.appended)
    cut = [r._replace(left=max(r.left, first)) for r in e.painted.rectangles]
    return Painted(tuple(r for r in cut if r.left < r.right))


def _cells(e: Experiment) -> NDArray[np.bool_]:
    """The mask of ``e`` cell by cell, without appended keys: [n_q, n_k], or [heads, n_q, n_k] where heads differ."""
    tokens = e.n_k - len(e.appended)
    heads = e.heads if e.rule.per_head else 1
    if heads * e.n_q * tokens > MOST_CELLS:
        received = f"the mask has {heads * e.n_q * tokens:,} cells to write out"
        raise ExperimentError("mask cell by cell", f"at most {MOST_CELLS:,} cells", received)
    cells = np.stack([e.allowed(slice(0, e.n_q), slice(0, tokens), head) for head in range(heads)])
    return cells if heads > 1 else cells[0]


_EDITS: dict[str, Callable[[Experiment, Choice], Experiment]] = {
    "kv_heads": _tiled,
    "qk_norm": _scoring(lambda scoring, choice: replace(scoring, qk_norm=None)),
    "rotary": _rotary,
    "scale": _scoring(lambda scoring, choice: replace(scoring, scale=choice.value, temperature=1.0)),
    "softcap": _scoring(lambda scoring, choice: replace(scoring, softcap=choice.value)),
    "bias": _scoring(lambda scoring, choice: replace(scoring, biases=())),
    "mask": _mask,
    "sinks": _scoring(lambda scoring, choice: replace(scoring, sinks=None)),
    "normaliser": _scoring(_normaliser),
    "projection": _projection,
    "precision": _precision,
}
