"""What a comparison says."""

from __future__ import annotations

import math

import pytest

from attn_gui.compute.trace import trace
from attn_gui.control.comparing import common
from attn_gui.model.comparison import Comparison, Figures, Largest, RowFigures, Side
from attn_gui.model.experiment import Experiment
from attn_gui.views.compare import words


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    one, other = (Experiment.from_tokens(["a", "<b>"], [[1.0], [x]]) for x in (2.0, 3.0))
    return Comparison(Side(trace(one), 0), Side(trace(other), 0), "N")


def said(comparison: Comparison, figures: Figures) -> str:
    tables = common(comparison, comparison.left.experiment), common(comparison, comparison.right.experiment)
    return words.summed_up(comparison, tables, words.side_names(comparison), figures, 4)


def test_a_change() -> None:
    assert words.change((0.2384, True), (0.2226, True), True, 4) == "0.2384 → 0.2226 (−0.0158)"
    assert words.change((0.5, True), (0.75, True), False, 2) == "0.50 → 0.75 (+0.25)"
    assert words.change((0.5, True), (0.5, True), False, 2) == "0.50 → 0.50 (0)"
    assert words.change((0.0, False), (0.25, True), True, 2) == "masked → 0.25 (+0.25)"
    assert words.change((-math.inf, False), (0.25, True), False, 2) == "masked → 0.25"
    assert words.change((0.0, False), (0.0, False), True, 2) == "masked on both sides"
    assert words.change((math.nan, True), (0.25, True), True, 2) == "nan → 0.25"


def test_a_cell_of_a_table() -> None:
    def told(stage: str, found: tuple[float, bool] | None, difference: bool) -> str:
        return words.table_cell(stage, "Present", ("is", "the"), found, 4, difference=difference)

    assert told("N", (0.2226, True), False) == "Present, query is, key the, weight 0.2226, allowed"
    assert told("N", (0.0, False), False) == "Present, query is, key the, weight 0, masked"
    assert told("N", (-0.0158, True), True) == "Present, query is, key the, difference of weights −0.0158"
    assert told("A", (-math.inf, False), True) == "Present, query is, key the, masked"
    assert told("V", (0.5, True), False) == "Present, key is, the, value of values 0.5000"
    assert told("N", None, True) == "Present, query is, key the"


def test_one_of_them_is_told_as_one() -> None:
    one, two = (Experiment.from_tokens(names, [[1.0]] * len(names)) for names in ("a", "ab"))
    c = Comparison(Side(trace(one), 0), Side(trace(two), 0), "N")
    assert words.left_out(c, words.side_names(c)).endswith(
        "the first 1 × 1: 1 query pinned, 2 present, 1 key pinned, 2 present"
    )


def test_the_figures(comparison: Comparison) -> None:
    largest = Largest(-0.25, 0, 1, 0.5, 0.25)
    rows = RowFigures(0.3, 1, 0.2, 2, all_rows=2)
    text = said(comparison, Figures(largest, rows, "outputs of 2 and of 3 numbers", 2, 2, 1, 0, True))
    assert '<b>0.2500</b> at <a href="cell 0 1">a → &lt;b&gt;</a>, 0.5000 → 0.2500' in text
    assert "1 cell masked on one side only" in text
    assert 'KL(present ‖ pinned): mean 0.2000, largest <b>0.3000</b> nats at <a href="query 1">&lt;b&gt;</a>' in text
    assert "Cosine of outputs: outputs of 2 and of 3 numbers" in text
    assert "not finite" not in text and "rows)" not in text


def test_what_the_figures_leave_out(comparison: Comparison) -> None:
    endless = RowFigures(math.inf, 0, math.inf, 0, infinite=2, first_infinite=1, left_out=1, all_rows=900)
    text = said(comparison, Figures(None, endless, endless, 3, 900, 0, 2, False))
    assert "No cell can be compared (in 3 of 900 rows)" in text
    assert '<b>∞</b> for 2 queries, the first <a href="query 1">' in text
    assert "none for 1 query" in text and "2 not finite, left out" in text
    same = Figures(Largest(0.0, 0, 0, 1.0, 1.0), "x", "y", 2, 2, 0, 0, True)
    assert said(comparison, same).startswith("No difference  ·")
    itself = Comparison(comparison.left, comparison.left, "N")
    assert said(itself, same).startswith("No difference yet: change something")


def test_two_that_are_alike_have_no_query_that_differs_most(comparison: Comparison) -> None:
    none, alike = RowFigures(0.0, 0, 0.0, 2, all_rows=2), RowFigures(1 - 2e-16, 1, 1.0, 2, all_rows=2)
    found = Largest(0.0, 0, 0, 1.0, 1.0)
    assert said(comparison, Figures(found, none, alike, 2, 2, 0, 0, True)) == "No difference"
    # the weights are the same, and what is gathered with them is not
    turned = RowFigures(0.5, 1, 0.75, 2, all_rows=2)
    text = said(comparison, Figures(found, none, turned, 2, 2, 0, 0, True))
    assert "KL(present ‖ pinned): 0 for every query" in text
    assert 'smallest <b>0.5000</b> at <a href="query 1">' in text
    some = RowFigures(1.0, 0, 1.0, 1, left_out=1, all_rows=2)
    text = said(comparison, Figures(found, none, some, 2, 2, 1, 0, True))
    assert text.endswith("Cosine of outputs: 1 for 1 query; none for 1 query")


def test_where_some_are_infinite_no_finite_one_is_called_the_largest(comparison: Comparison) -> None:
    rows = RowFigures(0.3, 1, 0.2, 5, infinite=4, first_infinite=0, all_rows=9)
    text = said(comparison, Figures(None, rows, rows, 9, 9, 0, 0, True))
    told = (
        'KL(present ‖ pinned): <b>∞</b> for 4 queries, the first <a href="query 0">a</a>; mean of the other 5: 0.2000'
    )
    assert told + " nats" in text and "largest" not in text and "0.3000" not in text
    one = RowFigures(0.3, 1, 0.3, 1, infinite=1, first_infinite=0, all_rows=2)
    text = said(comparison, Figures(None, one, one, 2, 2, 0, 0, True))
    assert '<b>∞</b> for 1 query: <a href="query 0">a</a>; of the other one 0.3000 nats' in text


def test_the_size_of_what_is_pinned_is_told_when_it_is_much(comparison: Comparison) -> None:
    assert words.held(comparison, 99 << 20) == ""
    assert words.held(comparison, 412 << 20) == "Pinned: about 412 MB"
