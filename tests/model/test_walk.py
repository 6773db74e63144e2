"""The walk: which stages it stops at, and what each number there comes from, for every variant and scoring."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from attn_gui.compute.trace import trace
from attn_gui.model import walk
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal
from attn_gui.model.precision import Precision
from attn_gui.model.scoring import Scoring
from attn_gui.model.stage_shape import stage_shape, stages_of
from attn_gui.model.stages import STAGES
from attn_gui.model.walk import Place
from tests.strategies import experiments

KARINA = ("karina", "is", "to", "the", "store"), [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 1.0], [0.5, 1.0]]
ORDER = tuple(STAGES)

places = st.builds(Place, st.integers(0, 3), st.integers(0, 9), st.integers(0, 9), st.integers(0, 19))


def bounded(e: Experiment, place: Place) -> Place:
    """As the player has it: within the heads, queries and keys; the dimension is whatever it was elsewhere."""
    return Place(min(place.head, e.heads - 1), min(place.query, e.n_q - 1), min(place.key, e.n_k - 1), place.dimension)


def test_the_stops_are_the_stages_that_do_something() -> None:
    plain = Experiment.from_tokens(*KARINA)
    assert walk.stops(plain) == ("X", "Q", "K", "V", "raw", "scaled", "N", "head_output")
    capped = replace(plain, scoring=Scoring(softcap=2.0), rule=Causal("top-left"))
    assert walk.stops(capped) == ("X", "Q", "K", "V", "raw", "scaled", "capped", "A_masked", "N", "head_output")
    heads = Experiment.from_tokens(*KARINA, heads=2)
    assert walk.stops(heads)[-3:] == ("head_output", "concat", "output")
    vectors = np.ones((1, 3, 2))
    given_qkv = Experiment.from_qkv(vectors, vectors, vectors)
    assert walk.stops(given_qkv) == ("Q", "K", "V", "raw", "scaled", "N", "head_output")
    hiding = replace(plain, hidden=frozenset({"N", "head_output", "output"}))
    assert walk.stops(hiding) == ("X", "Q", "K", "V", "raw", "scaled")


@given(experiments())
@settings(max_examples=40)
def test_stops_follow_the_computation_and_miss_no_part_that_there_is(e: Experiment) -> None:
    stops = walk.stops(e)
    assert list(stops) == sorted(stops, key=ORDER.index), "in the order of the computation"
    assert set(stops) <= set(stages_of(e))
    assert ("capped" in stops) == (e.scoring.softcap is not None)
    assert ("A" in stops) == bool(e.scoring.biases)
    assert ("output" in stops) == (e.weights is not None and e.weights.W_O is not None)
    assert ("concat" in stops) == e.variant.is_multi_head
    assert {"Q", "K", "V", "raw", "scaled", "N", "head_output"} <= set(stops)
    everything = all(e.allowed(slice(0, e.n_q), slice(0, e.n_k), head).all() for head in range(e.heads))
    assert "A_masked" in stops or everything, "a mask that forbids something has its stop"


@given(experiments(), places, st.data())
@settings(max_examples=40)
def test_every_cell_of_a_stage_is_reached_by_going_on(e: Experiment, place: Place, data: st.DataObject) -> None:
    stage = data.draw(st.sampled_from(walk.stops(e)))
    rows, columns = stage_shape(e, stage)
    place = walk.moved(e, stage, bounded(e, place), -(rows * columns))
    seen = [walk.cell(e, stage, place)]
    for _ in range(rows * columns - 1):
        place = walk.moved(e, stage, place, 1)
        assert place == bounded(e, place), "within the bounds"
        seen.append(walk.cell(e, stage, place))
    assert seen == [(row, column) for row in range(rows) for column in range(columns)]
    assert walk.cell(e, stage, walk.moved(e, stage, place, 1)) == seen[-1], "the last cell is the end"


@given(experiments(Precision.FLOAT64), places)
@settings(max_examples=40)
def test_a_number_follows_from_what_is_lit_for_it(e: Experiment, place: Place) -> None:
    """Computed anew in float64 from nothing but the parts that are lit."""
    stages, place = trace(e), bounded(e, place)

    def part(lit: walk.Lit) -> np.ndarray:
        if e.weights is not None and lit.stage.startswith("W_"):
            array = e.weights.get(lit.stage).array()
        elif STAGES[lit.stage].square:
            array = stages.matrix(lit.stage, place.head).block(slice(0, e.n_q), slice(0, e.n_k))
        else:
            array = stages.stage(lit.stage, place.head if STAGES[lit.stage].per_head else None)
        rows = slice(None) if lit.row is None else lit.row
        return array[rows, slice(None) if lit.column is None else lit.column]

    for stage in walk.stops(e):
        *operands, result = walk.lit(e, stage, place)
        assert result.result and not any(lit.result for lit in operands)
        assert (result.row, result.column) == walk.cell(e, stage, place)
        value, parts = part(result), [part(lit) for lit in operands]
        np.testing.assert_equal(value, part(replace(result, stage=stage)), "the output is the last stage")
        bias_of = {"Q_projected": "Q", "K_projected": "K"}.get(stage, stage)
        if len(operands) == 2 and operands[1].stage.startswith("W_"):
            b = e.weights.get(f"b_{'O' if stage == 'output' else bias_of}")
            added = 0 if b is None else b.array()[0, operands[1].column]
            np.testing.assert_allclose(value, parts[0] @ parts[1] + added, rtol=1e-9, atol=1e-9)
        elif stage == "raw":
            np.testing.assert_allclose(value, parts[0] @ parts[1], rtol=1e-9, atol=1e-9)
        elif stage == "scaled":
            np.testing.assert_allclose(value, parts[0] * e.scale, rtol=1e-9, atol=1e-12)
        elif stage == "head_output":
            np.testing.assert_allclose(value, parts[0] @ parts[1], rtol=1e-9, atol=1e-9)
        elif stage == "concat":
            assert value == parts[0]
        elif stage == "A":
            bias = stages.matrix("bias", place.head).block(slice(result.row, result.row + 1), slice(0, e.n_k))
            np.testing.assert_allclose(value, parts[0] + bias[0, result.column], rtol=1e-9, atol=1e-12)
        elif stage == "A_masked":
            assert value in (parts[0], -np.inf)
