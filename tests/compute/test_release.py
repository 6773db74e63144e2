"""A trace that nobody holds any more gives its memory back at once: dragging makes many of them."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import numpy as np
import pytest

from attn_gui.compute.picture import picture
from attn_gui.compute.reading import read_cell
from attn_gui.compute.trace import trace
from attn_gui.model.asks import PictureAsk
from attn_gui.model.biases.alibi import ALiBi
from attn_gui.model.biases.relative_buckets import RelativeBuckets
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal, Combined, Imported, MaskRule, Padding, Term
from attn_gui.model.normalisers.sparsemax import Sparsemax
from attn_gui.model.qk_norm.rms_norm import RMSNorm
from attn_gui.model.rotary.frequencies import Frequencies
from attn_gui.model.scoring import Scoring


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


SCORING = Scoring(
    biases=(ALiBi(), RelativeBuckets(np.ones((8, 2)))), rotary=Frequencies(), qk_norm=RMSNorm(), normaliser=Sparsemax()
)
RULES = [Causal(), Combined((Term(Padding()), Term(Imported(np.ones((2, 4, 4), bool)))))]


@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize("scoring", [Scoring(), SCORING], ids=["plain", "every part"])
@pytest.mark.parametrize("rule", RULES, ids=["one mask", "a mask a head"])
def test_nothing_waits_for_the_garbage_collector(scoring: Scoring, rule: MaskRule) -> None:
    e = Experiment.from_tokens("abcd", np.eye(4), heads=2, rule=rule, scoring=scoring)
    t = trace(e)
    for head in (0, "mean"):
        for stage in ("N", "raw", "bias") if scoring.biases else ("N", "raw"):
            picture(t, PictureAsk(stage, head).request(e))
        read_cell(t, head, 1, 1)
    watched = [weakref.ref(t), weakref.ref(t._stages)]
    shown = t.stage("N", 0)
    del t
    assert [ref() for ref in watched] == [None, None]
    assert shown[1].sum() == pytest.approx(1)
