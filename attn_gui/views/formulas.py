"""The formula of the experiment at hand, part by part: what has no part in it is left out."""

from __future__ import annotations

from collections.abc import Iterator

from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Combined, MaskRule
from attn_gui.model.parts import Part
from attn_gui.model.scoring import Scoring
from attn_gui.views.figures import MINUS


def figure(value: float) -> str:
    """A number of a formula."""
    return f"{value:g}".replace("-", MINUS)


def scaled(scoring: Scoring, product: str, dot: str = "·", over: str = "/") -> str:
    """``product`` times the scale, divided by the temperature."""
    temperature = figure(scoring.temperature)
    if scoring.scale is None:
        below = "√d_k" if scoring.temperature == 1 else f"({temperature}{dot}√d_k)"
        return f"{product}{over}{below}"
    text = product if scoring.scale == 1 else f"{figure(scoring.scale)}{dot}{product}"
    return text if scoring.temperature == 1 else f"{text}{over}{temperature}"


def scores(experiment: Experiment) -> str:
    """How ``experiment`` comes to its scores, on one line."""
    scoring = experiment.scoring
    if not experiment.has_scores:
        return "not given"
    text = scaled(scoring, "QKᵀ") if experiment.has_queries else "given"
    if scoring.softcap is not None:
        cap = figure(scoring.softcap)
        text = f"{cap}·tanh({text} / {cap})"
    bias = " + bias" if scoring.biases else ""
    masked = ", masked" if is_masked(experiment) else ""
    return f"A = {text}{bias}{masked}"


def weights(experiment: Experiment) -> str:
    """How its scores become weights."""
    return f"N = {normalised(experiment.scoring)}" if experiment.has_scores else "N given"


def normalised(scoring: Scoring) -> str:
    """``softmax(A)``, ``softmax(A, sink)``, ``sigmoid(A − 2)``."""
    return scoring.normaliser.written("A" if scoring.sinks is None else "A, sink")


def output(experiment: Experiment) -> str:
    """What the weights make of the values."""
    if not experiment.has_values:
        return "no values"
    if not experiment.variant.is_multi_head:
        return "N V"
    weights = experiment.weights
    if weights is None or weights.W_O is None:
        return "concat(N V)"
    return "concat(N V) W_O" + (" + b_O" if weights.b_O is not None else "")


def scores_explained(experiment: Experiment) -> str:
    """The line of the scores, and below it what bias and mask are."""
    biases = [f"bias: {_explained(bias)}" for bias in experiment.scoring.biases]
    mask = [f"masked: {', '.join(_masks(experiment))}"] if is_masked(experiment) else []
    return "\n".join([scores(experiment), *biases, *mask])


def weights_explained(experiment: Experiment) -> str:
    """The line of the weights, and below it what normalises them."""
    scoring = experiment.scoring
    if not experiment.has_scores:
        return f"{weights(experiment)}\nshown as they are, whatever their rows sum to"
    lines = [weights(experiment), _explained(scoring.normaliser)]
    if scoring.sinks is not None:
        lines.append("sink: one more score in each row; what it takes goes nowhere")
    return "\n".join(lines)


def is_masked(experiment: Experiment) -> bool:
    """Whether a mask was chosen or painted."""
    return any(_masks(experiment))


def _masks(e: Experiment) -> Iterator[str]:
    nothing = e.rule.kind == MaskRule.kind or (isinstance(e.rule, Combined) and not e.rule.terms)
    if not nothing:
        yield e.rule.title
    if any(not rectangle.allowed for rectangle in e.painted.rectangles):
        yield "cells painted by hand"


def _explained(part: Part) -> str:
    return f"{part.title}: {part.formula}" if part.formula else part.title
