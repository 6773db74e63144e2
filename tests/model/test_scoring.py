"""Scoring: what it may be, and what follows from it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attn_gui.model.biases.additive import Additive
from attn_gui.model.biases.alibi import ALiBi
from attn_gui.model.errors import ExperimentError
from attn_gui.model.normalisers import Normaliser
from attn_gui.model.normalisers.sigmoid import Sigmoid
from attn_gui.model.normalisers.softmax import Softmax
from attn_gui.model.normalisers.softmax_one import SoftmaxOne
from attn_gui.model.normalisers.sparsemax import Sparsemax
from attn_gui.model.positions.learned import Learned
from attn_gui.model.qk_norm.rms_norm import RMSNorm
from attn_gui.model.rotary.imported import ImportedRotary
from attn_gui.model.scoring import Scoring


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, 1 / math.sqrt(8)),
        ({"scale": 0.0}, 0.0),
        ({"scale": 1.0}, 1.0),
        ({"temperature": 2.0}, 1 / math.sqrt(8) / 2),
        ({"scale": 3.0, "temperature": 0.5}, 6.0),
    ],
)
def test_the_scale_for_heads_of_8(fields: Any, expected: float) -> None:
    assert Scoring(**fields).scale_for(8) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"temperature": 0.0}, "temperature: expected a finite number above 0, received 0.0"),
        ({"temperature": -1.0}, "temperature: expected a finite number above 0, received -1.0"),
        ({"temperature": math.inf}, "temperature: expected a finite number above 0, received inf"),
        ({"sinks": (0.0, math.nan)}, "sink of head 2: expected a finite number, received nan"),
        ({"sinks": (0.0,), "normaliser": Sigmoid()}, "sinks: expected none with Sigmoid, received 1"),
    ],
)
def test_what_it_cannot_be_is_refused_in_words(fields: Any, words: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        Scoring(**fields)
    assert str(caught.value) == words


@pytest.mark.parametrize(
    ("normaliser", "sinks", "sums", "plain"),
    [
        (Softmax(), None, True, True),
        (Softmax(), (0.0,), False, False),
        (SoftmaxOne(), None, False, False),
        (Sparsemax(), None, True, False),
        (Sigmoid(), None, False, False),
    ],
)
def test_whether_rows_sum_to_one(normaliser: Normaliser, sinks: Any, sums: bool, plain: bool) -> None:
    scoring = Scoring(normaliser=normaliser, sinks=sinks)
    assert (scoring.sums_to_one, scoring.is_plain) == (sums, plain)


def test_biases_of_cells_follow_their_tokens() -> None:
    scoring = Scoring(biases=(ALiBi(), Additive(np.array([[1.0, 2], [3, 4]]))))
    moved = scoring.rearranged([1, 0], [0, 1])
    assert moved.biases[0] == ALiBi()
    assert isinstance(moved.biases[1], Additive)
    assert moved.biases[1].cells.tolist() == [[3, 4], [1, 2]]
    plain = Scoring(scale=2.0)
    assert plain.rearranged([1, 0], [0, 1]) is plain


def test_it_tells_every_array_that_it_holds() -> None:
    table = np.ones((3, 2))
    scoring = Scoring(
        biases=(Additive(table),),
        position=Learned(table),
        qk_norm=RMSNorm(gain_k=table[0]),
        rotary=ImportedRotary(cos=table, sin=table),
    )
    assert len(list(scoring.arrays())) == 5
    assert list(replace(scoring, biases=(), position=Scoring().position, qk_norm=None, rotary=None).arrays()) == []
