"""A right table is called right at any number of decimals, whatever the experiment; a wrong cell is called wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from attn_gui.compute.check import check
from attn_gui.compute.check.chain import Chain
from attn_gui.compute.check.setting import Setting
from attn_gui.compute.trace import trace
from attn_gui.model.check import GivenTable, Verdict
from attn_gui.model.experiment import Experiment
from attn_gui.model.precision import Precision
from attn_gui.model.stage_shape import stages_of
from attn_gui.model.stages import STAGES
from tests.reference import reference
from tests.strategies import experiments


def table(stage: str, head: int, values: NDArray[np.float64], decimals: int) -> GivenTable:
    return GivenTable.of(stage, head, [[f"{value:.{decimals}f}" for value in row] for row in values])


@given(experiments(), st.data())
@settings(max_examples=14)
def test_a_right_table_is_right_at_one_to_six_decimals(e: Experiment, data: st.DataObject) -> None:
    traced = trace(e)
    decimals = data.draw(st.integers(1, 6))
    head = data.draw(st.integers(0, e.heads - 1))
    tables = [table(name, head, traced.stage(name, head), decimals) for name in stages_of(e)]
    for checked in check(traced, tables):
        assert checked.is_right, (checked.name, checked.summary)
        assert checked.cause is None and checked.carried is None


@given(experiments(), st.integers(1, 6))
@settings(max_examples=8)
def test_what_is_worked_out_exactly_is_right_too(e: Experiment, decimals: int) -> None:
    exact = reference(replace(e, precision=Precision.FLOAT64))
    for name in stages_of(e):
        stage = exact.stages[name]
        of_first = table(name, 0, stage[0] if STAGES[name].per_head else stage, decimals)
        assert check(trace(e), [of_first])[0].is_right, name


@given(experiments())
@settings(max_examples=20)
def test_the_chain_is_the_formula(e: Experiment) -> None:
    e = replace(e, precision=Precision.FLOAT64)
    exact, chain = reference(e), Chain(Setting(e))
    for name in stages_of(e):
        np.testing.assert_allclose(chain[name].numpy(), exact.stages[name], rtol=1e-9, atol=1e-9, err_msg=name)


@given(experiments(precision=Precision.FLOAT64), st.integers(1, 6), st.data())
@settings(max_examples=14)
def test_a_cell_that_is_off_by_two_of_the_last_place_is_wrong(
    e: Experiment, decimals: int, data: st.DataObject
) -> None:
    traced = trace(e)
    name = data.draw(st.sampled_from([n for n in stages_of(e) if traced.stage(n, 0).size]))
    values = traced.stage(name, 0).copy()
    cells = np.argwhere(np.isfinite(values))
    if not len(cells):
        return
    row, column = data.draw(st.sampled_from(cells.tolist()))
    values[row, column] += data.draw(st.sampled_from([-2, 2])) * 10.0**-decimals
    (checked,) = check(traced, [table(name, 0, values, decimals)])
    wrong = np.zeros(values.shape, bool)
    wrong[row, column] = True
    np.testing.assert_array_equal(checked.verdicts == Verdict.WRONG, wrong)
    np.testing.assert_array_equal(checked.verdicts == Verdict.RIGHT, ~wrong)
    assert abs(abs(checked.differences[row, column]) - 2 * 10.0**-decimals) <= 0.5 * 10.0**-decimals + 1e-9


def test_either_rounding_of_a_half_is_right() -> None:
    e = Experiment.from_tokens("ab", [[0.125], [0.375]], precision=Precision.FLOAT64)
    for text, verdict in (("0.12", Verdict.RIGHT), ("0.13", Verdict.RIGHT), ("0.11", Verdict.WRONG)):
        (checked,) = check(trace(e), [GivenTable.of("V", 0, [[text], ["0.375"]])])
        assert checked.verdicts[0, 0] == verdict, text


def test_each_cell_counts_at_its_own_decimals_and_a_bare_zero_at_those_of_its_table() -> None:
    e = Experiment.from_tokens("ab", [[1 / 3, 0.04], [2 / 3, 0.004]], precision=Precision.FLOAT64)
    cells = [["0.3", "0"], ["0,6667", ""]]
    (checked,) = check(trace(e), [GivenTable.of("V", 0, cells)])
    expected = [[Verdict.RIGHT, Verdict.WRONG], [Verdict.RIGHT, Verdict.BLANK]]
    assert checked.verdicts.tolist() == expected
    assert checked.summary.startswith("2 of 3 right, 1 not answered.")


def test_a_masked_score_may_be_given_as_minus_infinity_or_as_it_was_before_the_mask() -> None:
    from attn_gui.model.masks import Causal

    e = Experiment.from_tokens("ab", [[1.0], [2.0]], rule=Causal(), precision=Precision.FLOAT64)
    for masked in ("-inf", "−∞", "-1e9", "2.0"):
        (checked,) = check(trace(e), [GivenTable.of("A", 0, [["1.0", masked], ["2.0", "4.0"]])])
        assert checked.is_right, masked
    (checked,) = check(trace(e), [GivenTable.of("A_masked", 0, [["1.0", "2.0"], ["2.0", "4.0"]])])
    assert checked.verdicts[0, 1] == Verdict.WRONG


def test_the_mean_over_the_heads_is_checked_as_such() -> None:
    random = np.random.RandomState(3)
    e = Experiment.from_qkv(*(random.standard_normal((2, 4, 3)) for _ in "QKV"))
    traced = trace(e)
    mean = traced.stage("N").astype(float).mean(axis=0)
    cells = [[f"{value:.4f}" for value in row] for row in mean]
    whole, first = check(traced, [GivenTable("N", "mean", tuple(map(tuple, cells))), GivenTable.of("N", 0, cells)])
    assert whole.is_right and whole.name == "N, mean over heads"
    assert not first.is_right and first.name == "N of head 1"


def test_what_cannot_be_checked_says_why_and_the_rest_is_checked() -> None:
    e = Experiment.from_tokens("ab", [[1.0], [2.0]])
    right = GivenTable.of("V", 0, [["1.0"], ["2.0"]])
    tables = [
        GivenTable.of("bias", 0, [["1"]]),
        GivenTable("N", 3, (("1", "1"), ("1", "1"))),
        GivenTable("V", "mean", (("1",), ("2",))),
        GivenTable.of("V", 0, [["1.0"]]),
        right,
    ]
    *refused, last = check(trace(e), tables)
    assert [checked.fault for checked in refused] == [
        "This experiment has no stage bias",
        "There is no head 4: there are 1",
        "V has no mean over the heads: choose one of them",
        "Expected 2 × 1 numbers for V, received 1 × 1",
    ]
    assert all(checked.summary == checked.fault and not checked.verdicts.size for checked in refused)
    assert last.is_right


def test_too_many_scores_are_refused_in_words() -> None:
    n = 520
    e = Experiment.from_qkv(*(np.zeros((n, 1)) for _ in "QKV"))
    (checked,) = check(trace(e), [GivenTable.of("V", 0, [["0"]] * n)])
    assert checked.fault == "Too large to check: 270,400 scores over all heads, at most 262,144"


def test_text_that_is_no_number_is_wrong() -> None:
    e = Experiment.from_tokens("ab", [[1.0], [2.0]])
    (checked,) = check(trace(e), [GivenTable.of("V", 0, [["one"], ["2.0"]])])
    assert checked.verdicts.tolist() == [[Verdict.WRONG], [Verdict.RIGHT]]
    assert checked.words_at(0, 0) == "wrong"


def test_what_leaves_the_range_of_its_numbers_is_right_as_the_window_shows_it() -> None:
    Q = np.array([[300.0, 300.0], [1.0, 1.0]])
    e = Experiment.from_qkv(Q, Q, Q, precision=Precision.FLOAT16)
    traced = trace(e)
    assert np.isposinf(traced.stage("raw", 0)[0, 0])
    for text in ("inf", "180000"):
        (checked,) = check(traced, [GivenTable.of("raw", 0, [[text, "600"], ["600", "2"]])])
        assert checked.is_right, checked.summary
    (weights,) = check(traced, [GivenTable.of("N", 0, [["nan", "0"], ["1", "0"]])])
    assert np.isnan(traced.stage("N", 0)[0, 0]) == (weights.words_at(0, 0) == "right")


def test_a_number_that_is_none_is_wrong_where_there_is_one() -> None:
    e = Experiment.from_tokens("ab", [[1.0], [2.0]])
    (checked,) = check(trace(e), [GivenTable.of("N", 0, [["nan", "0.73"], ["0.12", "0.88"]])])
    assert checked.words_at(0, 0) == "wrong" and checked.score == "3 of 4 right"


def test_nothing_is_right_by_an_exponent() -> None:
    e = Experiment.from_tokens("ab", [[1.0], [2.0]])
    for text in ("0e9", "0.0e9"):
        (checked,) = check(trace(e), [GivenTable.of("N", 0, [[text] * 2] * 2)])
        assert checked.count(Verdict.RIGHT) == 0, text
