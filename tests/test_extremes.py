"""Numbers at the ends of every range go through without a warning, which stderr would be littered with."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from attn_gui.compute.answers import answer
from attn_gui.compute.trace import trace
from attn_gui.files.export import FORMS, export_folder
from attn_gui.files.layout import distinct_stages_of
from attn_gui.model.answers import Reading, Row
from attn_gui.model.asks import Ask, CellAsk, PictureAsk, RowAsk, RowSumsAsk, StageAsk, SumAsk
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal
from attn_gui.model.picture import ColourMapping
from attn_gui.model.precision import Precision
from attn_gui.model.scoring import Scoring
from attn_gui.model.session import NamedExperiment
from attn_gui.model.stage_shape import stages_of
from attn_gui.model.stages import STAGES
from attn_gui.model.trace import Pooling
from attn_gui.views.figures import common_decimals
from attn_gui.views.sentence_bar import sentence
from attn_gui.views.spans import span_of
from attn_gui.views.why_line import derivation

EXTREMES = [7e4, 3e38, -1e154, 1.7e308, 5e-324]


def experiment(value: float, precision: Precision, softcap: float | None) -> Experiment:
    X = np.random.RandomState(1).standard_normal((6, 6))
    X[:3] = [[value, -value, 1, value, 0, value], [value, value, 0, -value, 1, 2], [0, -value, 3, 4, value, 5]]
    return Experiment.from_tokens(
        list("abcdef"), X, rule=Causal(), precision=precision, scoring=Scoring(softcap=softcap), heads=1
    )


def asks(e: Experiment) -> Iterator[Ask]:
    for stage in stages_of(e):
        yield StageAsk(stage)
        for pooling, mapping, diverging in product(get_args(Pooling), get_args(ColourMapping), (False, True)):
            for size in ((2, 2), (512, 512)):
                yield PictureAsk(stage, size=size, pooling=pooling, mapping=mapping, diverging=diverging)
        if STAGES[stage].square:
            yield PictureAsk(stage, "mean", size=(2, 2), pooling="mean")
            yield SumAsk(stage, 0, tuple(range(e.n_q)), tuple(range(e.n_k)))
    for i, j in product(range(e.n_q), range(e.n_k)):
        for head in (0, "mean"):
            yield CellAsk(head, i, j)
    for i in range(e.n_q):
        yield RowAsk(0, i)
    yield RowSumsAsk(0)


@pytest.mark.parametrize("precision", Precision)
@pytest.mark.parametrize("value", EXTREMES)
def test_no_number_is_too_large_or_too_small(value: float, precision: Precision, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for softcap in (None, 50.0):
            e = experiment(value, precision, softcap)
            found = trace(e)
            for ask in asks(e):
                said = answer(found, ask)
                if isinstance(said, Reading):
                    assert all(derivation(e, said, 17))
                elif isinstance(said, Row):
                    assert all(sentence(e, said, "red", "grey"))
            for stage in stages_of(e):
                numbers = found.stage(stage, 0) if STAGES[stage].per_head else found.stage(stage)
                assert span_of(numbers, 17).decimals >= common_decimals(numbers, 17)
        for form in FORMS:
            for _ in export_folder(found, NamedExperiment("", e), tmp_path / form, distinct_stages_of(e), form):
                pass
