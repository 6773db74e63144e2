"""The told shape of a stage is that of the array that the computation makes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from attn_gui.compute.trace import trace
from attn_gui.model.biases.alibi import ALiBi
from attn_gui.model.experiment import Experiment
from attn_gui.model.positions.sinusoidal import Sinusoidal
from attn_gui.model.rotary.frequencies import Frequencies
from attn_gui.model.scoring import Scoring
from attn_gui.model.stage_shape import stage_axes, stage_shape, stages_of
from attn_gui.model.stages import STAGES
from attn_gui.model.tokens import TokenSequence
from attn_gui.model.variant import Variant
from tests.strategies import experiments

X = np.arange(20.0).reshape(5, 4)
SELF = Experiment.from_tokens("abcde", X)
CROSS = Experiment.from_tokens("abcde", X, context=TokenSequence.of("uvw", np.ones((3, 4))))
CACHED = replace(SELF, past=TokenSequence.of("p", np.ones((1, 4))))
PLAIN = ("X", "Q", "K", "V", "raw", "scaled", "capped", "A", "A_masked", "N", "head_output", "concat", "output")


@given(experiments())
def test_shapes_are_those_of_the_trace(e: Experiment) -> None:
    computed, there = trace(e), stages_of(e)
    for name in there:
        assert stage_shape(e, name) == computed.stage(name, 0).shape, name
    for name in set(STAGES) - set(there):
        with pytest.raises(KeyError):
            computed.stage(name)


def test_which_stages_there_are() -> None:
    def beside_the_plain(e: Experiment) -> set[str]:
        assert set(PLAIN) - set(stages_of(e)) <= {"X"}
        assert list(stages_of(e)) == [name for name in STAGES if name in stages_of(e)], "in order"
        return set(stages_of(e)) - set(PLAIN)

    def scored(**fields: object) -> Experiment:
        return replace(SELF, scoring=Scoring(**fields))  # type: ignore[arg-type]

    assert beside_the_plain(SELF) == set()
    assert beside_the_plain(CROSS) == {"context"}
    assert beside_the_plain(CACHED) == {"context"}
    assert beside_the_plain(replace(SELF, values=TokenSequence.of("abcde", X))) == {"values"}
    assert beside_the_plain(scored(position=Sinusoidal())) == {"X_in"}
    assert beside_the_plain(replace(CROSS, scoring=Scoring(position=Sinusoidal()))) == {"context", "X_in", "context_in"}
    assert beside_the_plain(scored(rotary=Frequencies())) == {"Q_projected", "K_projected"}
    assert beside_the_plain(scored(biases=(ALiBi(),))) == {"bias"}
    given_qkv = Experiment.from_qkv(X, X[:3], X[:3])
    assert given_qkv.variant is Variant.CROSS
    assert beside_the_plain(given_qkv) == set()
    assert "X" not in stages_of(given_qkv)


def test_axes_are_called_by_what_they_count() -> None:
    assert stage_axes(SELF, "Q") == ("tokens", "d_k")
    assert stage_axes(SELF, "K") == ("tokens", "d_k")
    assert stage_axes(CROSS, "K") == ("context", "d_k")
    assert stage_axes(CROSS, "V") == ("context", "d_v")
    assert stage_axes(CROSS, "Q") == ("tokens", "d_k")
    assert stage_axes(CACHED, "K") == ("keys", "d_k")
    assert stage_axes(CACHED, "context") == ("keys", "d_context")
    assert stage_axes(SELF, "N") == ("queries", "keys")
    assert stage_axes(SELF, "head_output") == ("tokens", "d_v")
