"""What an exercise hides, no trace gives away, whoever asks."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from attn_gui.compute.answers import answer
from attn_gui.compute.trace import trace
from attn_gui.model import asks
from attn_gui.model.check import CheckAsk, GivenTable
from attn_gui.model.errors import HiddenStage
from attn_gui.model.exercise import ASKABLE, hidden_by
from attn_gui.model.experiment import Experiment
from attn_gui.model.question import question_of
from attn_gui.model.stage_shape import computed_stages_of
from attn_gui.model.stages import STAGES
from attn_gui.model.trace import Trace

E = Experiment.from_tokens("abcd", np.random.RandomState(1).standard_normal((4, 4)), heads=2)
SQUARE = [name for name in computed_stages_of(E) if STAGES[name].square]
# of every row a block at a time
STREAMED = 0


def ended(steps: Generator[Any, Any, Any]) -> Any:
    while True:
        try:
            next(steps)
        except StopIteration as finished:
            return finished.value


def hiding(stage: str, memory: int | None = None) -> Trace:
    return trace(replace(E, hidden=hidden_by([stage])), memory=memory)


@pytest.mark.parametrize("memory", [None, STREAMED])
@pytest.mark.parametrize("stage", ASKABLE)
def test_hidden_stages_are_refused_and_others_are_as_ever(stage: str, memory: int | None) -> None:
    open_trace, sealed = trace(E, memory=memory), hiding(stage, memory)
    for name in computed_stages_of(E):
        if name in sealed.experiment.hidden:
            with pytest.raises(HiddenStage):
                sealed.stage(name)
        else:
            np.testing.assert_array_equal(sealed.stage(name, 1), open_trace.stage(name, 1))
        if name in SQUARE and name in sealed.experiment.hidden:
            with pytest.raises(HiddenStage):
                sealed.matrix(name, "mean")
    assert not sealed.empty_rows(0).any()
    assert (stage == "output" or stage == "V") == ("N" not in sealed.experiment.hidden)
    if "N" in sealed.experiment.hidden:
        with pytest.raises(HiddenStage):
            sealed.row_sums(0)


ASKS = [
    *(asks.PictureAsk(stage) for stage in ("A_masked", "N", "output")),
    *(asks.StageAsk(stage) for stage in ("head_output", "concat", "output")),
    *(asks.BlockAsk(stage, 0, (0, 2), (0, 2)) for stage in ("raw", "A", "A_masked", "N")),
    asks.CellAsk(0, 1, 1),
    asks.CellAsk("mean", 1, 1),
    asks.RowAsk(0, 1),
    asks.RowSumsAsk("mean"),
    asks.SumAsk("N", 0, (0,), (1,)),
    asks.StatisticsAsk(),
    CheckAsk((GivenTable("A", 0, (("1", "1", "1", "1"),) * 4),)),
]


@pytest.mark.parametrize("ask", ASKS, ids=repr)
def test_no_ask_is_answered_with_what_is_hidden(ask: Any) -> None:
    assert ended(answer(trace(E), ask)) is not None
    assert ended(answer(hiding("A"), ask)) is None


def test_an_ask_of_another_kind_is_refused_while_anything_is_hidden() -> None:
    class Novel:
        head = 0

    assert ended(answer(hiding("output"), Novel())) is None  # type: ignore[arg-type]


def test_what_is_not_hidden_is_answered() -> None:
    sealed = hiding("N")
    assert ended(answer(sealed, asks.PictureAsk("A_masked"))) is not None
    assert ended(answer(sealed, asks.StageAsk("V"))) is not None
    assert ended(answer(sealed, asks.PictureAsk("N"))) is None


def test_no_convention_is_looked_for_in_what_is_hidden() -> None:
    with pytest.raises(HiddenStage):
        question_of(replace(E, hidden=hidden_by(["N"])), weights=np.full((2, 4, 4), 0.25))
