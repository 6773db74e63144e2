"""A session as a value."""

from __future__ import annotations

from attn_gui.model.experiment import Experiment
from attn_gui.model.session import NamedExperiment, Session


def test_what_a_notebook_shows_of_it_is_a_line() -> None:
    layers = tuple(NamedExperiment(f"Layer {k}", Experiment.from_weights([[1.0]])) for k in range(1, 13))
    assert repr(Session(layers[:1])) == "<Session of 1 experiment: Layer 1>"
    assert repr(Session(layers)) == "<Session of 12 experiments: Layer 1 … Layer 12>"
