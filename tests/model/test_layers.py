"""Layers of a session: which belong together, and why there is no rollout over some."""

from __future__ import annotations

import numpy as np
import pytest

from attn_gui.model.exercise import Exercise
from attn_gui.model.experiment import Experiment
from attn_gui.model.layer_place import LayerPlace
from attn_gui.model.layers import layer_name, rollout_reason, stack_of
from attn_gui.model.session import NamedExperiment, Session


def layer(number: int, module: str = "layer.{}.attention", n: int = 3, **place: object) -> NamedExperiment:
    e = Experiment.from_weights(np.full((2, n, n), 1 / n))
    return NamedExperiment(f"Layer {number + 1}", e, place=LayerPlace(number, module.format(number), **place))  # type: ignore[arg-type]


def test_layers_of_one_stack_in_their_order() -> None:
    decoder = [layer(k, "decoder.{}.self") for k in range(2)]
    other = [layer(0, batch=1), layer(0, kind="cross")]
    session = Session((layer(2), *decoder, layer(0), *other, layer(1)), current=0)
    assert stack_of(session) == [3, 6, 0]
    assert stack_of(Session(session.experiments, current=2)) == [1, 2]
    assert rollout_reason(session) is None


def test_why_there_is_no_rollout() -> None:
    lone = NamedExperiment("lone", Experiment.from_tokens("ab", np.eye(2)))
    reasons = {
        "no layer": Session((lone,)),
        "self-attention": Session((layer(0, kind="cross"), layer(1, kind="cross"))),
        "one layer only": Session((layer(0), lone)),
        "Rollout needs 3 queries and 3 keys in every layer; Layer 2 has 4 queries and 4 keys": Session(
            (layer(0), layer(1, n=4))
        ),
    }
    for reason, session in reasons.items():
        assert reason in str(rollout_reason(session))


def test_a_cache_is_no_square() -> None:
    e = Experiment.from_weights(np.full((1, 2, 4), 0.25), past=2)
    session = Session(tuple(NamedExperiment("x", e, place=LayerPlace(k)) for k in range(2)))
    assert "2 queries and 4 keys" in str(rollout_reason(session))


def test_what_an_exercise_hides_is_not_rolled_out() -> None:
    e = Experiment.from_tokens("ab", np.eye(2))
    asked = [NamedExperiment("x", e, place=LayerPlace(k), exercise=Exercise(("N",))) for k in range(2)]
    assert "exercise" in str(rollout_reason(Session(tuple(asked))))


@pytest.mark.parametrize(("number", "name"), [(0, "L1"), (11, "L12")])
def test_short_names(number: int, name: str) -> None:
    assert layer_name(layer(number), 5) == name
    assert layer_name(NamedExperiment("x", layer(0).experiment), 5) == "6"
    assert layer_name(layer(number, batch=0), 5) == name
    assert layer_name(layer(number, batch=1, kind="cross"), 5) == f"{name}×·i2"
