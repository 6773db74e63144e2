"""A part of one row of a stage, as the walk shows it."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from attn_gui.compute.trace import trace
from attn_gui.model.experiment import Experiment
from attn_gui.model.stage_shape import stage_shape, stages_of
from attn_gui.model.stages import STAGES
from attn_gui.model.vector import LONGEST, Vector, VectorAsk
from tests.answering import answered
from tests.strategies import experiments


def read(experiment: Experiment, ask: VectorAsk) -> tuple[np.ndarray, Vector]:
    stages = trace(experiment)
    vector = answered(stages, ask)
    assert isinstance(vector, Vector)
    return stages.stage(ask.stage, vector.ask.head if STAGES[ask.stage].per_head else None), vector


@given(experiments(), st.data())
@settings(max_examples=30)
def test_it_is_the_part_of_the_row_around_the_number(e: Experiment, data: st.DataObject) -> None:
    stage = data.draw(st.sampled_from([name for name in stages_of(e) if not STAGES[name].square]))
    ask = VectorAsk(stage, data.draw(st.integers(0, 5)), data.draw(st.integers(0, 9)), data.draw(st.integers(0, 20)))
    whole, vector = read(e, ask)
    rows, width = stage_shape(e, stage)
    assert vector.width == width and len(vector.values) == min(width, LONGEST)
    assert vector.ask.row == min(ask.row, rows - 1) and vector.ask.column == min(ask.column, width - 1)
    assert vector.first <= vector.ask.column < vector.first + len(vector.values) <= width
    np.testing.assert_array_equal(vector.values, whole[vector.ask.row, vector.first :][:LONGEST])


def test_the_number_is_in_the_middle_of_a_long_row() -> None:
    e = Experiment.from_tokens(["a"], np.arange(64.0)[np.newaxis])
    _, vector = read(e, VectorAsk("Q", 0, 0, 30))
    assert vector.values.tolist() == [28, 29, 30, 31, 32]
    _, vector = read(e, VectorAsk("Q", 0, 0, 63))
    assert vector.values.tolist() == [59, 60, 61, 62, 63]
