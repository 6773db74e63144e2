"""Errors carried forward are told from fresh ones; Karina's printed tables are what they are."""

from __future__ import annotations

import math

import numpy as np
import pytest

from attn_gui.compute.check import check
from attn_gui.compute.trace import trace
from attn_gui.files import examples
from attn_gui.files.answers import printed_tables
from attn_gui.model.check import Checked, GivenTable, Verdict
from attn_gui.model.experiment import Experiment
from tests.compute.check.test_causes import FRAME, MASKED, PLAIN, RAW, A, K, Q, V, alone, given, softmax

KARINA = np.array([[1, 0], [0, 1], [1, 1], [1, 1], [0.5, 1]])
PRINTED = np.array(
    [
        [0.71, 0.0, 0.71, 0.71, 0.35],
        [0.0, 0.71, 0.71, 0.71, 0.71],
        [0.71, 0.71, 1.42, 1.42, 1.06],
        [0.71, 0.71, 1.42, 1.42, 1.06],
        [0.35, 0.71, 1.06, 1.06, 0.89],
    ]
)
PRINTED_RIGHT = (np.abs(KARINA @ KARINA.T / math.sqrt(2) - PRINTED) <= 0.005).astype(int)


def judged(*tables: GivenTable, e: Experiment = PLAIN) -> tuple[Checked, ...]:
    return check(trace(e), tables)


def test_weights_follow_from_scores_that_were_rounded() -> None:
    rounded = A.round(1)
    scores, weights = judged(given("A", rounded, 1), given("N", softmax(rounded), 4))
    assert scores.is_right
    assert weights.cause is None and weights.count(Verdict.WRONG) == 0 and weights.count(Verdict.CARRIED) > 10
    assert weights.carried is not None and weights.carried.own == ("A",) and weights.carried.rounded
    assert "follow from your own A, which is right but rounded." in weights.summary
    row, column = np.argwhere(weights.verdicts == Verdict.CARRIED)[0]
    assert weights.words_at(row, column).startswith("follows from your own A, which is rounded, ")


def test_weights_follow_from_scores_that_are_mistaken() -> None:
    mistaken = A.copy()
    mistaken[2] += [0.5, 0, 0, -0.7, 0]
    scores, weights = judged(given("A", mistaken, 4), given("N", softmax(mistaken.round(4)), 3))
    assert scores.count(Verdict.WRONG) == 2
    assert weights.count(Verdict.WRONG) == 0 and weights.count(Verdict.CARRIED) > 0
    assert set(np.argwhere(weights.verdicts == Verdict.CARRIED)[:, 0]) == {2}  # rows are by themselves
    assert weights.carried is not None and not weights.carried.rounded


def test_a_fresh_error_is_told_from_what_is_carried_forward() -> None:
    mistaken = A.copy()
    mistaken[2, 0] += 0.5
    made = softmax(mistaken.round(4))
    made[4, 4] += 0.1
    _, weights = judged(given("A", mistaken, 4), given("N", made, 4))
    wrong = np.argwhere(weights.verdicts == Verdict.WRONG)
    np.testing.assert_array_equal(wrong, [[4, 4]])
    assert weights.words_at(4, 4) == "wrong, 0.1 too large"
    assert "1 is wrong. No known cause fits." in weights.summary


def test_the_slip_behind_an_earlier_table_goes_on_before_its_rounding() -> None:
    scores, weights = judged(given("A", RAW, 1), given("N", softmax(RAW), 6))
    assert scores.cause is not None and scores.cause.name == "scale_forgotten"
    assert weights.count(Verdict.WRONG) == 0 and weights.carried is not None
    assert weights.carried.own == ("A",) and not weights.carried.rounded


def test_the_latest_table_that_something_follows_from_counts() -> None:
    scores, weights = A + np.array([[0.5], [0], [0.1], [0], [0]]) * np.arange(5), softmax(A) + 0.01
    scores = scores.round(3)
    out_of_weights = [given("A", scores, 3), given("N", weights, 3), given("output", weights.round(3) @ V, 4)]
    out_of_scores = [*out_of_weights[:2], given("output", softmax(scores) @ V, 4)]
    for tables, own in ((out_of_weights, ("N",)), (out_of_scores, ("A",))):
        *_, output = judged(*tables)
        assert output.count(Verdict.WRONG) == 0
        assert output.carried is not None and output.carried.own == own


def test_a_stage_may_follow_from_two_tables() -> None:
    q, k = (Q + 0.25).round(2), (K - 0.5).round(2)
    *_, scores = judged(given("Q", q, 2), given("K", k, 2), given("raw", q @ k.T, 5))
    assert scores.count(Verdict.CARRIED) == 25
    assert scores.carried is not None and scores.carried.own == ("Q", "K")
    assert "25 follow from your own Q and K." in scores.summary


def test_the_order_that_tables_are_given_in_does_not_matter() -> None:
    tables = [given("N", softmax(A.round(1)), 4), given("A", A.round(1), 1)]
    weights, scores = judged(*tables)
    assert (weights.name, scores.name) == ("N", "A")
    assert weights.carried is not None


def test_a_slip_made_on_ones_own_numbers_is_named() -> None:
    mistaken = (A + np.array([0.5, -0.3, 0.2, 0, 0])[:, None] * np.arange(5)).round(2)
    _, weights = judged(given("A", mistaken, 2), given("N", softmax(mistaken, axis=0), 4))
    assert weights.cause is not None
    assert (weights.cause.name, weights.cause.own) == ("softmax_columns", ("A",))
    assert "fit the softmax taken over columns, not rows, from your own A." in weights.summary


def test_masking_is_part_of_what_follows() -> None:
    mistaken = A.round(1) + 0.3 * np.arange(5)
    weights_of = softmax(np.where(np.tri(5, dtype=bool), mistaken, -np.inf))
    _, weights = judged(given("A", mistaken, 1), given("N", weights_of, 4), e=MASKED)
    assert weights.count(Verdict.WRONG) == 0 and weights.carried is not None


def test_a_blank_cell_is_filled_in_with_the_right_number() -> None:
    mistaken = (A + 0.4 * np.arange(5)).round(2)
    cells = [[f"{value:.2f}" for value in row] for row in mistaken]
    cells[1][3] = ""
    mistaken[1, 3] = A[1, 3]
    _, weights = judged(GivenTable.of("A", 0, cells), given("N", softmax(mistaken), 4))
    assert weights.count(Verdict.WRONG) == 0 and weights.count(Verdict.CARRIED) > 0


def test_heads_follow_from_their_own_tables_and_the_output_from_all() -> None:
    made = [(alone("N", FRAME, h) + 0.1 * (h + 1)).round(2) for h in (0, 1)]
    weights = FRAME.weights
    assert weights is not None and weights.W_O is not None and weights.b_O is not None
    gathered = [made[h] @ alone("V", FRAME, h) for h in (0, 1)]
    output = np.hstack(gathered) @ weights.W_O.array() + weights.b_O.array()
    tables = [
        given("N", made[0], 2),
        given("N", made[1], 2, head=1),
        given("head_output", gathered[0], 4),
        given("head_output", gathered[0], 4, head=1),
        given("output", output, 4),
    ]
    *_, first, second, whole = judged(*tables[:4], tables[4], e=FRAME)
    assert first.count(Verdict.CARRIED) == first.answered
    assert second.count(Verdict.CARRIED) == 0  # what follows from head 1 is no answer for head 2
    assert second.earlier == ("N of head 2",)
    # what head 2 gathered was given too, so that the output follows from that no longer but from the weights it does
    assert whole.count(Verdict.CARRIED) == whole.answered
    assert whole.carried is not None and set(whole.carried.own) == {"N of head 1", "N of head 2"}


def test_what_was_worked_out_with_more_digits_than_were_written_down_follows() -> None:
    weights = FRAME.weights
    assert weights is not None and weights.W_O is not None and weights.b_O is not None
    mistaken = softmax(alone("raw", FRAME, 0))  # the scale forgotten in head 1 alone
    gathered = np.hstack([mistaken @ alone("V", FRAME, 0), alone("head_output", FRAME, 1)])
    output = gathered @ weights.W_O.array() + weights.b_O.array()
    _, whole = judged(given("N", mistaken, 3), given("output", output, 6), e=FRAME)
    assert whole.count(Verdict.CARRIED) == whole.answered
    assert whole.carried is not None and whole.carried.own == ("N of head 1",)


@pytest.fixture(scope="module")
def karina() -> dict[str, Checked]:
    shipped = printed_tables("Karina")
    assert shipped is not None
    results = check(trace(examples.load("karina").experiment), shipped.tables)
    return {result.table.stage: result for result in results}


def test_the_printed_scores_of_karina_took_the_root_of_2_for_1_41(karina: dict[str, Checked]) -> None:
    scores = karina["A"]
    assert scores.summary == "20 of 25 right. All 25 fit √2 taken as 1.41."
    np.testing.assert_array_equal(scores.verdicts, np.array(PRINTED_RIGHT) + 3 * (1 - np.array(PRINTED_RIGHT)))


def test_the_printed_weights_of_karina_follow_from_nothing(karina: dict[str, Checked]) -> None:
    weights = karina["N"]
    assert (weights.count(Verdict.RIGHT), weights.count(Verdict.CARRIED), weights.answered) == (0, 0, 25)
    assert weights.cause is None
    assert weights.summary == (
        "0 of 25 right. It follows neither from your own A nor from the right one. No known cause fits. "
        "The row of “is” sums to 1.09, not to 1."
    )


def test_the_printed_output_of_karina_follows_from_neither_weights(karina: dict[str, Checked]) -> None:
    output = karina["output"]
    assert (output.count(Verdict.RIGHT), output.count(Verdict.CARRIED), output.answered) == (0, 0, 10)
    assert output.summary == (
        "0 of 10 right. It follows neither from your own N nor from the right one. No known cause fits."
    )
