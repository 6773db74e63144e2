"""The told shape of a stage is that of the array that the computation makes."""

from __future__ import annotations

import numpy as np
import pytest

from attn_gui.compute.trace import trace
from attn_gui.model.experiment import Experiment
from attn_gui.model.initialise import initial_weights
from attn_gui.model.stage_shape import stage_axes, stage_shape
from attn_gui.model.stages import STAGES
from attn_gui.model.tokens import TokenSequence


def experiments() -> list[Experiment]:
    X = np.arange(20.0).reshape(5, 4)
    context = TokenSequence.of("uvw", np.arange(18.0).reshape(3, 6))
    wide = initial_weights("normal", 4, 6, 2, kv_heads=1, d_k=3, d_v=5)
    random = np.random.RandomState(0)
    return [
        Experiment.from_tokens("abcde", X),
        Experiment.from_tokens("abcde", X, heads=2),
        Experiment.from_tokens("abcde", X, wide, context=context, heads=2, kv_heads=1),
        Experiment.from_qkv(random.rand(2, 5, 3), random.rand(1, 4, 3), random.rand(1, 4, 2)),
    ]


@pytest.mark.parametrize("experiment", experiments(), ids=["self", "multi-head", "cross", "given"])
def test_shapes_are_those_of_the_trace(experiment: Experiment) -> None:
    computed = trace(experiment)
    for name in STAGES:
        if name == "context" and not experiment.variant.is_cross:
            continue
        assert stage_shape(experiment, name) == computed.stage(name, 0).shape, name


def test_axes_are_called_by_what_they_count() -> None:
    own, _, cross, _ = experiments()
    assert stage_axes(own, "Q") == ("tokens", "d_k")
    assert stage_axes(own, "K") == ("tokens", "d_k")
    assert stage_axes(cross, "K") == ("context", "d_k")
    assert stage_axes(cross, "V") == ("context", "d_v")
    assert stage_axes(cross, "Q") == ("tokens", "d_k")
    assert stage_axes(own, "N") == ("queries", "keys")
    assert stage_axes(own, "head_output") == ("tokens", "d_v")
