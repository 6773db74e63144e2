"""Dimensions of the scores before the mask: scale, softcap, bias."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import torch

from attn_gui.compute import attention
from attn_gui.compute.diagnose.dimension import Dimension
from attn_gui.compute.diagnose.inputs import Block
from attn_gui.compute.diagnose.state import State
from attn_gui.model.diagnosis import Choice
from attn_gui.model.experiment import Experiment

# Gemma 2 caps attention at 50, Grok-1 at 30
USUAL_CAPS = {50.0: "attn_logit_softcapping=50.0 in Gemma 2", 30.0: "30 * tanh(logits / 30) in Grok-1"}


def of_scale(e: Experiment) -> Dimension:
    """What dot products are multiplied by."""
    choices, known = [], [e.scale]
    for choice in _scales(e):
        if not any(math.isclose(choice.value, scale, rel_tol=1e-9) for scale in known):
            known.append(choice.value)
            choices.append(choice)
    return Dimension("scale", _scale, tuple(choices))


def _scales(e: Experiment) -> Iterator[Choice]:
    d_k, d_model = e.d_k, e.heads * e.d_k
    yield Choice(
        "scale",
        "1/sqrt(d_k)",
        "scale 1/√d_k",
        f"Dot products are divided by the root of one head's size, {d_k}.",
        "scores / math.sqrt(head_dim), as scaled_dot_product_attention does by default",
        1 / math.sqrt(d_k),
    )
    yield Choice(
        "scale",
        "1/sqrt(d_model)",
        "scale 1/√d_model",
        f"Dot products are divided by the root of all heads' size together, {d_model}, and not of one head's, {d_k}.",
        "scores / math.sqrt(embed_dim) in place of math.sqrt(head_dim)",
        1 / math.sqrt(d_model),
    )
    yield Choice(
        "scale",
        "1",
        "no scale",
        "Dot products are used as they are.",
        "scores = q @ k.transpose(-1, -2), as T5 does; scaled_dot_product_attention(.., scale=1.0)",
        1.0,
    )
    yield Choice(
        "scale",
        "1/d_k",
        "scale 1/d_k",
        f"Dot products are divided by one head's size, {d_k}, and not by its root: the scale applied twice.",
        "scores / head_dim, as muP does; or q / math.sqrt(head_dim) and the same again on the scores",
        1 / d_k,
    )


def _scale(block: Block, state: State, choice: Choice | None) -> State:
    scale = block.inputs.experiment.scale if choice is None else choice.value
    scaled = attention.scaled_scores(state.stage("raw"), scale, block.inputs.working)
    return replace(state, scaled=scaled, A=scaled, size=state.size * abs(scale))


def of_softcap(e: Experiment) -> Dimension:
    """Whether scores are softcapped, and at what."""
    own = e.scoring.softcap
    choices = []
    if own is not None:
        meaning = "Scores are not bounded."
        choices.append(Choice("softcap", "absent", "no softcap", meaning, "no cap * tanh(scores / cap)"))
    for cap, code in USUAL_CAPS.items():
        if cap != own:
            meaning = f"Scores are brought between −{cap:g} and {cap:g} by {cap:g} · tanh(score / {cap:g})."
            choices.append(Choice("softcap", f"{cap:g}", f"softcap {cap:g}", meaning, code, cap))
    return Dimension("softcap", _plan_cap, tuple(choices))


def _plan_cap(block: Block, state: State, choice: Choice | None) -> State:
    return replace(state, cap=block.inputs.experiment.scoring.softcap if choice is None else choice.value)


def of_softcap_order(e: Experiment) -> Dimension:
    """Whether the softcap comes before the mask or after it."""
    after = Choice(
        "softcap order",
        "after the mask",
        "softcap after the mask",
        "The mask's −∞ goes through the softcap as well and becomes −cap: masked keys keep some weight.",
        "cap * tanh(scores.masked_fill(~mask, -inf) / cap)",
    )
    return Dimension("softcap order", _cap, (after,), _can_be_late)


def _can_be_late(block: Block, state: State) -> bool:
    return state.cap is not None


def _cap(block: Block, state: State, choice: Choice | None) -> State:
    if choice is not None or state.cap is None:
        return state
    capped = attention.capped_scores(state.stage("A"), state.cap, block.inputs.working)
    return replace(state, A=capped, cap=None)


def of_bias(e: Experiment) -> Dimension:
    """Whether the experiment's bias is added."""
    if not e.scoring.biases:
        return Dimension("bias", _add_bias)
    titles = " and ".join(bias.title for bias in e.scoring.biases)
    meaning = f"Nothing is added to the scores; here {titles} is."
    return Dimension("bias", _add_bias, (Choice("bias", "absent", "no bias", meaning, "scores without + bias"),))


def _add_bias(block: Block, state: State, choice: Choice | None) -> State:
    bias = block.inputs.bias
    if bias is None or choice is not None:
        return state
    cut = block.cut(bias)
    A = attention.biased_scores(state.stage("A"), cut)
    largest = torch.where(torch.isfinite(cut), cut, 0.0).abs().amax()
    return replace(state, A=A, size=state.size + float(largest))
