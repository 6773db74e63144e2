"""The line of why for every way to score: each step follows from the one before, to the decimals shown."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.compute.reading import read_cell
from attn_gui.compute.trace import trace
from attn_gui.model.biases.additive import Additive
from attn_gui.model.experiment import Experiment
from attn_gui.model.normalisers.entmax15 import Entmax15
from attn_gui.model.normalisers.sigmoid import Sigmoid
from attn_gui.model.normalisers.softmax_one import SoftmaxOne
from attn_gui.model.normalisers.sparsemax import Sparsemax
from attn_gui.model.precision import Precision
from attn_gui.model.scoring import Scoring
from attn_gui.views.figures import figure
from attn_gui.views.why_line import derivation
from tests.strategies import experiments

Q, K = [[1.0, 0.5], [0.5, 1.0]], [[1.0, 0.0], [1.0, 1.0]]
EXP = ["exp = 2.89"]  # of 1.5 / sqrt(2); the other key's is exp(1 / sqrt(2)) = 2.03


def steps(**scoring: Any) -> list[str]:
    """What follows q·k = 1.5 of the first query and the second key."""
    e = Experiment.from_qkv(Q, K, K, scoring=Scoring(**scoring), precision=Precision.FLOAT64)
    told = derivation(e, read_cell(trace(e), 0, 0, 1), 2)
    assert told[1:3] == ["“t1” → “t2”", "q·k = 1.0×1.0 + 0.5×1.0 = 1.5"]
    return told[3:]


def bias(value: float) -> Additive:
    return Additive(np.full((2, 2), value))


@pytest.mark.parametrize(
    ("scoring", "expected"),
    [
        ({}, ["÷ √2 = 1.06", *EXP, "÷ 4.92 (the row's sum) = 0.59"]),
        ({"temperature": 0.5}, ["÷ √2 ÷ 0.5 = 2.12", "exp = 8.34", "÷ 12.46 (the row's sum) = 0.67"]),
        (
            {"scale": 2.0, "temperature": 0.5, "softcap": 4.0},
            ["× 2 ÷ 0.5 = 6.00", "softcap 4 = 3.62", "exp = 37.36", "÷ 58.40 (the row's sum) = 0.64"],
        ),
        (
            {"biases": (bias(-0.5),)},
            ["÷ √2 = 1.06", "bias −0.5 = 0.56", "exp = 1.75", "÷ 2.98 (the row's sum) = 0.59"],
        ),
        (
            {"biases": (bias(1.0), bias(-0.75)), "softcap": 10.0},
            ["÷ √2 = 1.06", "softcap 10 = 1.06", "bias +0.25 = 1.31", "exp = 3.69", "÷ 6.30 (the row's sum) = 0.59"],
        ),
        ({"normaliser": Sparsemax()}, ["÷ √2 = 1.06", "sparsemax = 0.68"]),
        ({"normaliser": Entmax15(), "sinks": (0.25,)}, ["÷ √2 = 1.06", "entmax₁.₅ with sink 0.25 = 0.56"]),
        ({"normaliser": Sigmoid()}, ["÷ √2 = 1.06", "sigmoid(it) = 0.74"]),
        ({"normaliser": Sigmoid(-1.5)}, ["÷ √2 = 1.06", "sigmoid(it − 1.5) = 0.39"]),
        ({"normaliser": SoftmaxOne()}, ["÷ √2 = 1.06", *EXP, "÷ 5.92 (1 + the row's sum) = 0.49"]),
        (
            {"normaliser": SoftmaxOne(), "sinks": (0.5,)},
            ["÷ √2 = 1.06", *EXP, "÷ 7.57 (1 + the row's sum with the sink's 1.65) = 0.38"],
        ),
        ({"sinks": (0.5,)}, ["÷ √2 = 1.06", *EXP, "÷ 6.57 (the row's sum with the sink's 1.65) = 0.44"]),
        (
            {"scale": 60.0, "sinks": (100.0,)},
            [
                "× 60 = 90.00",
                "exp(it − sink 100.00) = 0.00",
                "÷ 1.00 (the row's sum with the sink's 1.00) = 4.54e−05",
            ],
        ),
        (
            {"scale": 100.0, "sinks": (100.0,)},
            [
                "× 100 = 150.00",
                "exp(it − row maximum 150.00) = 1.00",
                "÷ 1.00 (the row's sum with the sink's 0.00) = 1.00",
            ],
        ),
    ],
)
def test_every_step_is_said(scoring: dict[str, Any], expected: list[str]) -> None:
    assert steps(**scoring) == expected


@given(experiments(), st.data())
def test_whatever_the_scoring_the_last_step_is_the_weight(e: Experiment, data: st.DataObject) -> None:
    i, j = data.draw(st.integers(0, e.n_q - 1)), data.draw(st.integers(0, e.n_k - 1))
    reading = read_cell(trace(e), data.draw(st.integers(0, e.heads - 1)), i, j)
    told = derivation(e, reading, 4)
    assert told[0] == figure(reading.N, 4)
    if reading.allowed:
        rounded = "" if e.precision in (Precision.FLOAT64, Precision.FLOAT32) else f" in {e.precision}"
        assert told[-1].endswith(f" = {figure(reading.N, 4)}{rounded}")
        # the score stands in the step before those of the normaliser
        before = {"softmax": -3, "softmax_one": -3}.get(e.scoring.normaliser.kind, -2)
        assert told[before].endswith(f" = {figure(reading.A, 4)}")
    else:
        assert told[2].startswith("masked by ")
        assert told[3].endswith(figure(reading.A, 4))
