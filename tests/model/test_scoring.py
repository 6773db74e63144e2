"""Scoring: what it may be, and what follows from it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.compute.trace import trace
from attn_gui.model.biases.additive import Additive
from attn_gui.model.biases.alibi import ALiBi
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.normalisers import Normaliser
from attn_gui.model.normalisers.sigmoid import Sigmoid
from attn_gui.model.normalisers.softmax import Softmax
from attn_gui.model.normalisers.softmax_one import SoftmaxOne
from attn_gui.model.normalisers.sparsemax import Sparsemax
from attn_gui.model.parts import LARGEST_NUMBER
from attn_gui.model.positions.learned import Learned
from attn_gui.model.precision import Precision
from attn_gui.model.qk_norm.rms_norm import RMSNorm
from attn_gui.model.rotary.imported import ImportedRotary
from attn_gui.model.scoring import SMALLEST, Scoring


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
        ({"temperature": 0.0}, "temperature: expected a number from 1e-30 to 1e30, received 0.0"),
        ({"temperature": -1.0}, "temperature: expected a number from 1e-30 to 1e30, received -1.0"),
        ({"temperature": math.inf}, "temperature: expected a number from 1e-30 to 1e30, received inf"),
        ({"temperature": 1e-320}, "temperature: expected a number from 1e-30 to 1e30, received 1e-320"),
        ({"softcap": 1e300}, "softcap: expected a number from 1e-30 to 1e30, received 1e+300"),
        ({"softcap": 1e-50}, "softcap: expected a number from 1e-30 to 1e30, received 1e-50"),
        ({"scale": 1e300}, "scale: expected a number from -1e30 to 1e30, received 1e+300"),
        ({"scale": -math.inf}, "scale: expected a number from -1e30 to 1e30, received -inf"),
        (
            {"scale": -1e20, "temperature": 1e-20},
            "scale: expected at most 1e30 after division by the temperature, 1e-20, received -1e+40",
        ),
        ({"sinks": (1e300,)}, "sink of head 1: expected a number from -1e30 to 1e30, received 1e+300"),
        ({"sinks": (0.0, math.nan)}, "sink of head 2: expected a number from -1e30 to 1e30, received nan"),
        ({"sinks": (0.0,), "normaliser": Sigmoid()}, "sinks: expected none with Sigmoid, received 1"),
    ],
)
def test_what_it_cannot_be_is_refused_in_words(fields: Any, words: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        Scoring(**fields)
    assert str(caught.value) == words


def bounded(least: float) -> st.SearchStrategy[float]:
    """A size anywhere within the limits, and the limits themselves."""
    sizes = st.sampled_from([least, LARGEST_NUMBER]) | st.floats(math.log10(least), 30).map(lambda power: 10**power)
    return sizes.filter(lambda size: least <= size <= LARGEST_NUMBER)


signed = st.just(0.0) | st.tuples(bounded(1e-300), st.sampled_from([-1, 1])).map(math.prod)


@given(
    st.none() | signed,
    st.none() | bounded(SMALLEST),
    bounded(SMALLEST),
    st.none() | st.tuples(signed),
    st.sampled_from(sorted(Normaliser.kinds)),
    st.sampled_from(Precision),
)
def test_whatever_may_be_set_no_row_is_nan(
    scale: float | None,
    softcap: float | None,
    temperature: float,
    sinks: tuple[float, ...] | None,
    kind: str,
    precision: Precision,
) -> None:
    normaliser = Normaliser.of_kind(kind)()
    sinks = sinks if normaliser.sinks else None
    if abs(scale or 0) / temperature > LARGEST_NUMBER:
        with pytest.raises(ExperimentError, match="scale: expected at most 1e30 after division by the temperature"):
            Scoring(scale, softcap, temperature, normaliser=normaliser, sinks=sinks)
        return
    scoring = Scoring(scale, softcap, temperature, normaliser=normaliser, sinks=sinks)
    X = np.random.RandomState(0).uniform(-1, 1, (4, 2))
    # scores that 16 bits can hold: what leaves their range is shown as infinite, as it is
    e = Experiment.from_tokens("abcd", X, scoring=scoring, precision=precision)
    largest = float(np.finfo(np.float16).max) if precision is Precision.FLOAT16 else 3e38
    if abs(scoring.scale_for(2)) * 4 < largest:
        assert np.isfinite(trace(e).stage("N", 0)).all()


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
