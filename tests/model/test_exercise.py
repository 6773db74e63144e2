from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attn_gui.compute.check.chain import NEEDS
from attn_gui.model.check import GivenTable
from attn_gui.model.errors import ExperimentError
from attn_gui.model.exercise import ASKABLE, Exercise, Tally, askable, hidden_by
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal
from attn_gui.model.recipe import DRAWN, Recipe
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.model.stage_shape import computed_stages_of, stages_of
from attn_gui.model.tokens import TokenSequence
from attn_gui.model.weights import Weights

RECIPE = Recipe("seed", DRAWN, -20, 20, 1)


def small(**fields: object) -> Experiment:
    X = np.random.RandomState(0).standard_normal((3, 4))
    return Experiment.from_tokens("abc", X, **fields)  # type: ignore[arg-type]


def downstream(stage: str) -> set[str]:
    """Every stage that is computed from ``stage``, by what check my work computes them from."""
    found = {stage}
    while more := {name for name, needs in NEEDS.items() if found & set(needs)} - found:
        found |= more
    return found


@pytest.mark.parametrize("stage", ASKABLE)
def test_all_that_is_made_of_a_blank_stage_is_hidden(stage: str) -> None:
    assert downstream(stage) <= hidden_by([stage])


@pytest.mark.parametrize("stage", ASKABLE)
def test_nothing_hidden_is_given_or_comes_of_what_is_not_asked(stage: str) -> None:
    hidden = hidden_by([stage])
    assert not hidden & {"X", "context", "values", "X_in", "context_in", "bias"}
    assert {"Q", "K", "V"} & hidden <= {stage}


def test_what_says_the_same_is_hidden_with_it() -> None:
    assert {"raw", "scaled", "capped"} <= hidden_by(["A"])
    assert {"head_output", "concat"} <= hidden_by(["output"])
    assert "N" not in hidden_by(["output"]) and "A" not in hidden_by(["N"])


def test_stages_that_are_hidden_are_none_of_the_experiment() -> None:
    e = replace(small(), hidden=hidden_by(["N"]))
    assert set(stages_of(e)) == set(computed_stages_of(e)) - {"N", "head_output", "concat", "output"}


def test_an_experiment_hides_what_its_exercise_says_and_nothing_else() -> None:
    exercise = Exercise(("A", "N"))
    named = NamedExperiment("x", small(), exercise=exercise)
    assert named.experiment.hidden == hidden_by(["A"])
    edited = Session((named,)).with_experiment(small(rule=Causal()))
    assert edited.experiment.hidden == hidden_by(["A"])
    assert replace(named, exercise=exercise.opening(["A"])).experiment.hidden == hidden_by(["N"])
    assert replace(named, exercise=exercise.opening(["A", "N"])).experiment.hidden == frozenset()
    assert NamedExperiment("y", named.experiment).experiment.hidden == frozenset()


def test_a_stage_opened_early_stays_hidden_while_one_before_it_is_blank() -> None:
    assert "N" in Exercise(("A", "N")).opening(["N"]).hidden


@pytest.mark.parametrize(
    "fields",
    [
        {"asked": ()},
        {"asked": ("N", "A")},
        {"asked": ("X",)},
        {"decimals": 0},
        {"decimals": 7},
        {"tries": 0},
        {"opened": ("V",)},
        {"student": "s" * 201},
        {"answers": (GivenTable("V", 0, ()),)},
        {"answers": (GivenTable("A", 0, ()), GivenTable("A", 0, (("1",),)))},
    ],
)
def test_what_is_no_exercise_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(ExperimentError):
        Exercise(**{"asked": ("A", "N")} | fields)  # type: ignore[arg-type]


def test_answers_by_stage_and_head() -> None:
    e = small(heads=2)
    table = GivenTable("A", 1, (("1", "", ""), ("", "", ""), ("", "", "2")))
    exercise = Exercise(("A", "N")).with_answer(table)
    assert exercise.answer(e, "A", 1) == table
    assert exercise.answer(e, "A", 0).is_blank and exercise.answer(e, "A", 0).shape == (3, 3)
    assert exercise.with_answer(replace(table, cells=(("", " "),))).answers == ()


def test_query_heads_that_share_a_key_head_share_its_table() -> None:
    e = Experiment.from_tokens("ab", np.eye(2, 8), heads=4, kv_heads=2)
    assert [Exercise(("K",)).answer(e, "K", head).head for head in range(4)] == [0, 0, 2, 2]
    assert len(Exercise(("K",)).tables(e)) == 2


def test_fewer_decimals_than_asked_count_as_zeros() -> None:
    cells = ((".2", "0.22261", "1"), ("-0,5", "∞", "2e-1"), ("", "5.", "12"))
    e = small(rule=Causal())
    exercise = Exercise(("A",), decimals=3).with_answer(GivenTable("A", 0, cells))
    (table,) = exercise.tables(e)
    # those above the diagonal are masked, and not asked
    assert table.cells == (("0.200", "", ""), ("-0.500", "∞", ""), ("", "5.000", "12.000"))


def test_what_cannot_be_asked_says_why() -> None:
    reasons = askable(small())
    assert reasons["A"] is None and "identity" in str(reasons["Q"])
    bent = Weights.of(2 * np.eye(4), np.eye(4), np.eye(4), b_V=[0, 0, 0, 1])
    reasons = askable(small(weights=bent))
    assert reasons["Q"] is None and reasons["V"] is None and "identity" in str(reasons["K"])
    given_qkv = Experiment.from_qkv(*np.ones((3, 2, 2)))
    assert askable(given_qkv)["Q"] == "given"
    long = Experiment.from_tokens(["t"] * 50, np.eye(50))
    assert "2,500 numbers to type" in str(askable(long)["A"])
    assert Exercise(("Q", "A")).too_large(long) == "Q" and Exercise(("A",)).too_large(small()) is None


def test_weights_that_are_drawn_anew_are_not_the_identity() -> None:
    assert set(askable(small(), ("weights",)).values()) == {None}
    assert "identity" in str(askable(small(), ("embeddings",))["Q"])


def drawn(recipe: Recipe, experiment: Experiment, student: str) -> list[bytes]:
    return [np.asarray(array).tobytes() for array in recipe.draw(experiment, student).arrays()]


def test_students_get_numbers_of_their_own_and_the_same_each_time() -> None:
    e = small(heads=2, context=TokenSequence.of("de", np.ones((2, 5))))
    seen = {tuple(drawn(RECIPE, e, f"student {number}")) for number in range(40)}
    assert len(seen) == 40
    assert drawn(RECIPE, e, "ann") == drawn(RECIPE, e, "ann")
    assert drawn(RECIPE, e, "ann") != drawn(replace(RECIPE, seed="other"), e, "ann")
    again = RECIPE.draw(RECIPE.draw(e, "bob"), "ann")
    assert [a.tobytes() for a in again.arrays()] == drawn(RECIPE, e, "ann")


def test_the_numbers_of_a_seed_never_change() -> None:
    # worked out by hand once: files that were handed out must be marked by any later version
    data = hashlib.shake_256(b'["seed", "ann", "tokens"]').digest(32)
    units = [int.from_bytes(data[at : at + 8], "little") % 41 - 20 for at in range(0, 32, 8)]
    X = RECIPE.draw(small(), "ann").tokens.embeddings.array()
    assert X[0].tolist() == [unit / 10 for unit in units] == [0.1, -0.9, -1.0, 1.3]


@settings(max_examples=30, deadline=None)
@given(st.integers(-50, 50), st.integers(1, 60), st.integers(0, 3), st.text(max_size=20))
def test_numbers_lie_where_they_should(least: int, span: int, decimals: int, student: str) -> None:
    recipe = Recipe("s", ("embeddings",), least, least + span, decimals)
    e = recipe.draw(small(), student)
    units = e.tokens.embeddings.array() * 10**decimals
    assert np.abs(units - units.round()).max() < 1e-9
    assert least - 1e-9 <= units.min() and units.max() <= least + span + 1e-9
    assert e.weights is not None and np.array_equal(e.weights.W_Q.array(), np.eye(4))


@pytest.mark.parametrize("fields", [{"drawn": ()}, {"least": 3, "most": 3}, {"decimals": 4}, {"seed": "s" * 201}])
def test_what_is_no_recipe_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(ExperimentError):
        replace(RECIPE, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("odd", [None, 3, {"checks": -1, "last": 4, "shown": "yes"}, {"checks": True}, []])
def test_a_tally_of_anything_is_none(odd: object) -> None:
    assert Tally.of({"exercise": odd}) == Tally()


def test_answers_may_be_shown_after_so_many_checks() -> None:
    exercise = Exercise(("A",), tries=2)
    assert [Tally(checks).may_show(exercise) for checks in range(4)] == [False, False, True, True]
    assert not Tally(99).may_show(Exercise(("A",)))
    assert Tally.of({"exercise": Tally(2, "x", True).plain()}) == Tally(2, "x", True)
