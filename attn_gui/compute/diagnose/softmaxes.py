"""Dimensions of the softmax: by which formula, over what, and what comes of nothing but -inf."""

from __future__ import annotations

from dataclasses import replace

import torch

from attn_gui.compute import attention
from attn_gui.compute.diagnose.dimension import Dimension
from attn_gui.compute.diagnose.inputs import Block
from attn_gui.compute.diagnose.state import State
from attn_gui.model.diagnosis import Choice
from attn_gui.model.experiment import Experiment
from attn_gui.model.normalisers import Normaliser
from attn_gui.model.normalisers.softmax import Softmax

KEYS, QUERIES, HEADS = -1, -2, -3  # axes of [heads, rows, n_k]
CODE = {
    "softmax": "torch.softmax(scores, dim=-1)",
    "softmax_one": "exp(scores) / (1 + exp(scores).sum(-1)), Miller's softmax1",
    "sigmoid": "torch.sigmoid(scores)",
    "sparsemax": "entmax.sparsemax(scores, dim=-1)",
    "entmax15": "entmax.entmax15(scores, dim=-1)",
}


def of_sinks(e: Experiment) -> Dimension:
    """Whether the experiment's learned sinks take part."""
    if e.scoring.sinks is None:
        return Dimension("sinks", _take_sinks)
    meaning = "Only keys take part in the softmax."
    written = "torch.softmax(scores, dim=-1) without cat([scores, sinks])"
    return Dimension("sinks", _take_sinks, (Choice("sinks", "absent", "no sinks", meaning, written),))


def _take_sinks(block: Block, state: State, choice: Choice | None) -> State:
    return state if choice is None else replace(state, sinks=False)


def of_normaliser(e: Experiment) -> Dimension:
    """What makes weights of scores."""
    choices = []
    own = e.scoring.normaliser
    for kind in sorted(Normaliser.kinds, key=lambda kind: kind != Softmax.kind):
        part = Normaliser.kinds[kind]
        if kind != own.kind and part.can_start():
            title = f"{part.title[:1].lower()}{part.title[1:]}"
            meaning = f"{part.about}: {part.formula}."
            choices.append(Choice("normaliser", kind, title, meaning, CODE.get(kind, ""), part()))
    return Dimension("normaliser", _choose, tuple(choices))


def _choose(block: Block, state: State, choice: Choice | None) -> State:
    return state if choice is None else replace(state, normaliser=choice.value)


def of_axis(e: Experiment) -> Dimension:
    """Over what weights sum to 1."""
    choices = [
        Choice(
            "axis",
            "queries",
            "softmax over queries",
            "The weights of each key sum to 1 over the queries, and those of a query to anything.",
            "softmax(scores, dim=-2) in place of dim=-1",
            QUERIES,
        )
    ]
    if e.heads > 1:
        over_heads = Choice(
            "axis",
            "heads",
            "softmax over heads",
            "The weights of each query and key sum to 1 over the heads.",
            "softmax(scores, dim=1) on [batch, heads, n_q, n_k], or dim=0 without a batch",
            HEADS,
        )
        choices.append(over_heads)
    return Dimension("axis", _normalise, tuple(choices), whole=frozenset({"queries"}))


def _normalise(block: Block, state: State, choice: Choice | None) -> State:
    axis = KEYS if choice is None else choice.value
    forbidding = state.allowed is not None and not state.late
    A = state.stage("A").movedim(axis, -1)
    nothing = torch.isneginf(A).all(dim=-1, keepdim=True) if forbidding else None
    N = _weights(block, state, A, nothing, axis).movedim(-1, axis)
    if state.late and state.allowed is not None:
        N = N * state.allowed.to(N.dtype)
    if nothing is not None:
        nothing = nothing.movedim(-1, axis) if bool(nothing.any()) else None
    return replace(state, N=N, axis=axis, nothing=nothing)


def _weights(block: Block, state: State, A: torch.Tensor, nothing: torch.Tensor | None, axis: int) -> torch.Tensor:
    inputs = block.inputs
    scoring = inputs.experiment.scoring
    working = inputs.working
    if inputs.level.rounding == "scores":
        A = A.to(working)
    normaliser = scoring.normaliser if state.normaliser is None else state.normaliser
    sinks = None
    if state.sinks and normaliser.sinks and scoring.sinks is not None and axis == KEYS:
        sinks = block.of_heads(torch.tensor(scoring.sinks, dtype=working, device=A.device)[:, None, None])
    if normaliser.kind == Softmax.kind and sinks is None:
        return attention.softmax(A, nothing, working)
    return attention.weights(A, normaliser, sinks, nothing, working)


def of_nothing() -> Dimension:
    """What a softmax gives of nothing but -inf."""
    nan = Choice(
        "nothing",
        "nan",
        "NaN where everything is masked",
        "A softmax over nothing but −∞ is 0/0; here it gives 0.",
        "torch.softmax after masked_fill(-inf), in a row without an allowed key",
        torch.nan,
    )
    uniform = Choice(
        "nothing",
        "uniform",
        "equal weights where everything is masked",
        "Where nothing is allowed, masked keys share the weight evenly: their scores are all the same large number.",
        "masked_fill(~mask, -1e9) or torch.finfo(dtype).min in place of -inf",
    )
    return Dimension("nothing", _fill, (nan, uniform), lambda block, state: state.nothing is not None)


def _fill(block: Block, state: State, choice: Choice | None) -> State:
    if choice is None or state.nothing is None:
        return state
    N = state.stage("N")
    value = 1 / N.shape[state.axis] if choice.value is None else choice.value
    return replace(state, N=N.masked_fill(state.nothing, value), nothing=None)
