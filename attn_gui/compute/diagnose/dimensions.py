"""Everything that programs do in different ways, in the order of the computation."""

from __future__ import annotations

from collections.abc import Iterator

from attn_gui.compute.diagnose.dimension import Dimension
from attn_gui.compute.diagnose.heads_and_positions import of_heads, of_norm, of_product, of_rotary
from attn_gui.compute.diagnose.inputs import Inputs
from attn_gui.compute.diagnose.masks import Masks, of_lateness
from attn_gui.compute.diagnose.outputs import of_gathering, of_merging, of_projection
from attn_gui.compute.diagnose.scaling import of_bias, of_scale, of_softcap, of_softcap_order
from attn_gui.compute.diagnose.softmaxes import of_axis, of_normaliser, of_nothing, of_sinks
from attn_gui.model.question import Question


def dimensions(question: Question, inputs: Inputs) -> list[Dimension | str]:
    """The dimensions that the given numbers depend on, each name of a given stage where its numbers are there."""
    asked = [name for name, _ in question.given()]
    steps = list(_all(question, inputs))
    last = steps.index(asked[-1])
    return [step for step in steps[: last + 1] if isinstance(step, Dimension) or step in asked]


def _all(question: Question, inputs: Inputs) -> Iterator[Dimension | str]:
    e = question.experiment
    yield of_heads(e)
    yield of_norm(e)
    yield of_rotary(e, question.bases)
    yield of_product(e)
    yield of_scale(e)
    yield of_softcap(e)
    yield of_softcap_order(e)
    yield of_bias(e)
    yield Masks(inputs, question.masked).dimension()
    yield of_lateness()
    yield "scores"
    yield of_sinks(e)
    yield of_normaliser(e)
    yield of_axis(e)
    yield of_nothing()
    yield "weights"
    yield of_gathering()
    yield of_merging(question)
    yield of_projection(question)
    yield "output"
