"""What a session holds, in lines of text, says what was chosen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from attn_gui.files.summary import summary
from attn_gui.model.biases.additive import Additive
from attn_gui.model.biases.alibi import ALiBi
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal, Combined, SlidingWindow, Term
from attn_gui.model.masks.dilated import Dilated
from attn_gui.model.normalisers.sigmoid import Sigmoid
from attn_gui.model.positions.learned import Learned
from attn_gui.model.qk_norm.rms_norm import RMSNorm
from attn_gui.model.rotary.frequencies import Frequencies
from attn_gui.model.scoring import Scoring
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.model.sources import AppendedKey
from attn_gui.model.table import Table
from attn_gui.model.tokens import TokenSequence
from tests.strategies import experiments


def lines(e: Experiment) -> dict[str, str]:
    """The lines by their first word or words."""
    _, *described = summary(Session((NamedExperiment("n", e),)))
    return {line[2:13].strip(): line[13:] for line in described}


X = np.eye(4)


@pytest.mark.parametrize(
    ("scoring", "name", "said"),
    [
        (Scoring(), "scale", "0.5"),
        (Scoring(temperature=2.0), "scale", "0.25 (with temperature 2)"),
        (Scoring(scale=1.0, softcap=30.0), "scale", "1, softcap 30"),
        (Scoring(biases=(ALiBi(), Additive(X))), "bias", "ALiBi, Additive (cells 4 x 4)"),
        (Scoring(position=Learned(np.ones((9, 4)))), "position", "Learned table (table 9 x 4)"),
        (Scoring(qk_norm=RMSNorm(1e-6, np.ones(4))), "qk norm", "RMS norm (eps 1e-06, gain q 4)"),
        (Scoring(rotary=Frequencies(width=2, base=500.0)), "rotary", "Rotary (width 2, base 500)"),
        (Scoring(rotary=Frequencies()), "rotary", "Rotary"),
        (Scoring(normaliser=Sigmoid(-1.5)), "normaliser", "Sigmoid (shift -1.5)"),
        (Scoring(sinks=(0.25,)), "normaliser", "Softmax, sinks 0.25"),
    ],
)
def test_the_scoring(scoring: Scoring, name: str, said: str) -> None:
    assert lines(Experiment.from_tokens("abcd", X, scoring=scoring))[name] == said


def test_masks_that_are_joined() -> None:
    terms = (Term(Causal()), Term(SlidingWindow(2), "or", True, (0, 2)), Term(Dilated()))
    said = lines(Experiment.from_tokens("abcd", X, heads=4, rule=Combined(terms)))["mask"]
    assert said.startswith(
        "Causal (alignment top-left) or not Sliding window (window 2, two sided no) in heads 1, 3 and "
    )
    assert lines(Experiment.from_tokens("abcd", X))["mask"] == "None"


def test_where_keys_and_values_come_from() -> None:
    key = AppendedKey("bias", Table.of(np.ones((1, 4))), Table.of(np.ones((1, 4))))
    cached = Experiment.from_tokens("abcd", X, past=TokenSequence.of("xy", np.ones((2, 4))), appended=(key,))
    assert lines(cached)["cache"] == "2: x y"
    assert lines(cached)["appended"] == "1: bias"
    own = Experiment.from_tokens("abcd", X)
    own = replace(own, values=TokenSequence.of("abcd", np.ones((4, 4))))
    assert lines(own)["sizes"] == "d_model 4, values of their own of 4, d_k 4, d_v 4"
    crossing = Experiment.from_tokens("ab", X[:2], context=TokenSequence.of("uvw", np.ones((3, 5))))
    assert lines(crossing)["sizes"] == "d_model 4, d_context 5, d_k 4, d_v 4"
    grouped = Experiment.from_tokens("abcd", X, heads=4, kv_heads=2)
    assert lines(grouped)["heads"] == "4 (2 for keys and values)"


@given(experiments())
def test_every_experiment_can_be_told(e: Experiment) -> None:
    found = lines(e)
    for field in ("variant", "tokens", "heads", "sizes", "source", "mask", "scale", "normaliser", "precision"):
        assert found[field]
    assert ("cache" in found) == (e.past is not None)
    assert ("bias" in found) == bool(e.scoring.biases)
