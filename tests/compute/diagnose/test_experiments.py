"""Questions about experiments: their own numbers are the standard, and a convention put in force is one found again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from attn_gui.compute.diagnose import diagnose_steps
from attn_gui.compute.diagnose.levels import Level
from attn_gui.compute.diagnose.search import Search
from attn_gui.compute.trace import trace
from attn_gui.model.convention_edit import inexpressible, with_convention
from attn_gui.model.diagnosis import Choice, Convention, Diagnosis
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal, Combined, Imported, SlidingWindow
from attn_gui.model.painted import Painted
from attn_gui.model.precision import Precision
from attn_gui.model.question import Question, question_of
from attn_gui.model.variant import Variant
from attn_gui.model.weights import Weights
from tests.strategies import experiments

STAGES = {"scores": "A_masked", "weights": "N", "output": "output"}


def ask(question: Question) -> Diagnosis:
    steps, parts = diagnose_steps(question), []
    while True:
        try:
            parts.append(next(steps))
        except StopIteration as finished:
            assert parts == sorted(parts)
            assert all(0 <= part < 1 for part in parts)
            return finished.value


def choices_of(e: Experiment) -> list[Choice]:
    question = question_of(e, output=np.zeros((e.n_q, trace(e).stage("output").shape[1])))
    return [choice for each in Search(question, Level(Precision.FLOAT64), "cpu").dimensions for choice in each.choices]


@settings(max_examples=40)
@given(experiments(), st.sampled_from(list(STAGES)))
def test_what_the_program_itself_computed_is_the_standard(e: Experiment, asked: str) -> None:
    numbers = trace(e).stage(STAGES[asked])
    if e.precision in (Precision.BFLOAT16, Precision.FLOAT16):
        numbers = numbers.astype(np.float32)
    diagnosis = ask(question_of(e, **{asked: numbers}))
    assert diagnosis.matches
    rest = [choice for match in diagnosis.matches for choice in match.choices if choice.dimension != "precision"]
    assert rest == []


@settings(max_examples=40, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(st.data())
def test_a_convention_that_is_put_in_force_is_found_again(data: st.DataObject) -> None:
    e = data.draw(experiments(precision=Precision.FLOAT64))
    choice = data.draw(st.sampled_from(choices_of(e)))
    assume(inexpressible(e, Convention((choice,))) is None)
    output = trace(with_convention(e, Convention((choice,)))).stage("output")
    diagnosis = ask(question_of(e, output=output))
    assert diagnosis.matches
    changes = min(len(match.choices) for match in diagnosis.matches)
    assert changes <= 1
    for match in diagnosis.matches:
        if inexpressible(e, match) is None:
            again = trace(with_convention(e, match)).stage("output")
            np.testing.assert_allclose(again, output, rtol=0, atol=1e-9 * max(1, np.abs(output).max()))
    if changes == 1:
        same = [match for match in diagnosis.matches if match.choices == (choice,)]
        assert same or any(len(match.choices) == 1 for match in diagnosis.matches)


@pytest.fixture
def multi_head() -> Experiment:
    random = np.random.RandomState(2)
    weights = Weights.of(**{f"W_{letter}": random.standard_normal((6, 6)) for letter in "QKVO"}, b_O=np.ones((1, 6)))
    return Experiment.from_tokens(
        "abcde", random.standard_normal((5, 6)), weights, heads=3, precision=Precision.FLOAT64
    )


@pytest.mark.parametrize(
    ("name", "title"), [("absent", "no W_O"), ("transposed", "W_O transposed"), ("no bias", "no b_O")]
)
def test_what_comes_after_the_heads(multi_head: Experiment, name: str, title: str) -> None:
    weights = multi_head.weights
    assert weights is not None and weights.W_O is not None
    concat = trace(multi_head).stage("concat")
    output = {
        "absent": concat,
        "transposed": concat @ weights.W_O.array().T + 1,
        "no bias": concat @ weights.W_O.array(),
    }[name]
    (match,) = ask(question_of(multi_head, output=output)).matches
    assert match.title == title
    applied = trace(with_convention(multi_head, match)).stage("output")
    np.testing.assert_allclose(applied, output, atol=1e-12)


def test_heads_merged_wrongly_before_W_O(multi_head: Experiment) -> None:
    weights = multi_head.weights
    assert weights is not None and weights.W_O is not None
    merged = trace(multi_head).stage("head_output").reshape(5, 6)
    (match,) = ask(question_of(multi_head, output=merged @ weights.W_O.array() + 1)).matches
    assert match.title == "heads merged without transposing"


def test_an_output_before_W_O_is_known_by_its_width(multi_head: Experiment) -> None:
    narrow = Weights.of(
        **{f"W_{s}": np.random.RandomState(2).standard_normal((6, 6 if s != "O" else 4)) for s in "QKVO"}
    )
    e = replace(multi_head, source=replace(multi_head.source, weights=narrow))
    diagnosis = ask(question_of(e, output=trace(e).stage("concat")))
    assert [match.choices for match in diagnosis.matches] == [()]
    assert any("before W_O" in note for note in diagnosis.notes)


def convention(e: Experiment, title: str) -> Convention:
    return Convention((next(choice for choice in choices_of(e) if choice.title == title),))


def test_masks_keep_their_names_where_they_have_one(multi_head: Experiment) -> None:
    causal = replace(multi_head, rule=Causal())
    inverted = with_convention(causal, convention(causal, "mask inverted")).rule
    assert isinstance(inverted, Combined)
    assert inverted.terms[0].negated
    window = replace(multi_head, rule=SlidingWindow(2))
    assert with_convention(window, convention(window, "window of one key less")).rule == SlidingWindow(1)
    assert with_convention(window, convention(window, "causal mask")).rule == Causal()
    painted = replace(multi_head, rule=SlidingWindow(1, two_sided=True), painted=Painted().with_cells([(0, 3)], True))
    both = with_convention(painted, convention(painted, "mask as given and causal mask"))
    assert isinstance(both.rule, Imported)
    assert not both.painted
    i, j = np.arange(5)[:, None], np.arange(5)[None, :]
    np.testing.assert_array_equal(both.rule.cells, (j <= i) & (j >= i - 1))


def test_what_no_experiment_can_be_set_to_is_said(multi_head: Experiment) -> None:
    over_queries = convention(multi_head, "softmax over queries")
    assert inexpressible(multi_head, over_queries) == (
        "Softmax over queries cannot be set: there is no setting for it."
    )
    with pytest.raises(ExperimentError, match="softmax over queries"):
        with_convention(multi_head, over_queries)
    moved = convention(multi_head, "rotary, halves, queries from position 1")
    assert inexpressible(multi_head, moved) == (
        "Rotary, halves, queries from position 1 cannot be set: tokens are queries and keys at once."
    )


def test_positions_of_queries_can_be_set_where_they_are_their_own() -> None:
    random = np.random.RandomState(6)
    e = Experiment.from_qkv(
        random.standard_normal((2, 3, 4)),
        random.standard_normal((2, 5, 4)),
        random.standard_normal((2, 5, 3)),
        precision=Precision.FLOAT64,
    )
    assert e.variant is Variant.MULTI_HEAD_CROSS
    moved = with_convention(e, convention(e, "rotary, halves, queries from position 2"))
    assert moved.query_positions.tolist() == [2, 3, 4]
    (match,) = ask(question_of(e, weights=trace(moved).stage("N"))).matches
    assert match == convention(e, "rotary, halves, queries from position 2")
