"""Dimensions of the output: how heads are put side by side, and the projection after that."""

from __future__ import annotations

from dataclasses import replace

from attn_gui.compute import attention
from attn_gui.compute.diagnose.dimension import Dimension
from attn_gui.compute.diagnose.inputs import Block
from attn_gui.compute.diagnose.softmaxes import KEYS
from attn_gui.compute.diagnose.state import State
from attn_gui.model.diagnosis import Choice
from attn_gui.model.experiment import Experiment
from attn_gui.model.question import Question


def of_gathering() -> Dimension:
    """``N V``, which everybody does alike."""
    return Dimension("values", _gather)


def _gather(block: Block, state: State, choice: Choice | None) -> State:
    N, V = state.stage("N"), state.V
    if N.dtype is not V.dtype:  # weights that were not rounded
        V = V.to(N.dtype)
    # a row without weights gathers nothing, whatever V holds
    empty = state.nothing if state.axis == KEYS else None
    gathered = attention.head_output(N, V, empty, block.inputs.working)
    return replace(state, head_output=gathered, output=gathered)


def of_merging(question: Question) -> Dimension:
    """How the heads' outputs are put side by side, where they were given so."""
    e = question.experiment
    if not question.joined or e.heads == 1 or e.n_q == 1:
        return Dimension("merging", _merge)
    reshaped = Choice(
        "merging",
        "reshaped",
        "heads merged without transposing",
        "The heads' outputs are read one head after the other as rows, which mixes queries.",
        "out.reshape(n, d_model) on [heads, n, d_v] in place of out.transpose(0, 1).reshape(n, d_model)",
    )
    return Dimension("merging", _merge, (reshaped,), whole=frozenset({"reshaped"} if projects(question) else ()))


def _merge(block: Block, state: State, choice: Choice | None) -> State:
    return state if choice is None else replace(state, reshaped=True)


def projects(question: Question) -> bool:
    """Whether the output that was given may be one after W_O."""
    weights = question.experiment.weights
    W_O = None if weights is None else weights.W_O
    return W_O is not None and question.joined and question.output is not None and W_O.width == question.output.shape[1]


def of_projection(question: Question) -> Dimension:
    """Whether, and how, W_O follows."""
    if not projects(question):
        return Dimension("projection", lambda block, state, choice: state)
    return Dimension("projection", _project, tuple(_projections(question.experiment)))


def _projections(e: Experiment) -> list[Choice]:
    weights = e.weights
    assert weights is not None and weights.W_O is not None  # there is something to project with
    rows, columns = weights.W_O.shape
    choices = []
    if rows == columns:
        choices.append(
            Choice(
                "projection",
                "absent",
                "no W_O",
                "The heads side by side are the output: nothing is multiplied after that.",
                "the output before self.out_proj",
            )
        )
        choices.append(
            Choice(
                "projection",
                "transposed",
                "W_O transposed",
                "The output is multiplied by the transpose of W_O: nn.Linear stores its weight as [out, in].",
                "concat @ out_proj.weight in place of concat @ out_proj.weight.T",
            )
        )
    if weights.b_O is not None:
        meaning = "W_O is used and its bias is not."
        choices.append(Choice("projection", "no bias", "no b_O", meaning, "nn.Linear(d_model, d_model, bias=False)"))
    return choices


def _project(block: Block, state: State, choice: Choice | None) -> State:
    name = None if choice is None else choice.name
    if name == "absent":
        return state
    gathered = state.stage("head_output")
    joined = gathered.reshape(gathered.shape[1], -1) if state.reshaped else attention.concat(gathered)
    W_O, b_O = block.inputs.W_O, block.inputs.b_O
    assert W_O is not None  # an experiment that projects has one
    W_O = W_O.T if name == "transposed" else W_O
    b_O = None if name == "no bias" else b_O
    output = attention.output(joined, W_O.to(joined.dtype), b_O, block.inputs.working)
    return replace(state, projected=True, output=output)
