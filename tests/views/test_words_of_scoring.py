"""Sentence, status line and sums of rows where weights need not sum to 1."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from attn_gui.compute.trace import trace
from attn_gui.model.answers import RowSums
from attn_gui.model.experiment import Experiment
from attn_gui.model.normalisers.entmax15 import Entmax15
from attn_gui.model.normalisers.sigmoid import Sigmoid
from attn_gui.model.normalisers.softmax_one import SoftmaxOne
from attn_gui.model.scoring import Scoring
from attn_gui.model.sources import AppendedKey
from attn_gui.model.table import Table
from attn_gui.views.context import Context
from attn_gui.views.heatmap.sums import SumColumn, sum_text
from attn_gui.views.sentence_bar import SentenceBar
from attn_gui.views.status import Status, row_sum_fact

Traced = Callable[[], None]

FREE = [Scoring(normaliser=Sigmoid(-1.0)), Scoring(normaliser=SoftmaxOne()), Scoring(sinks=(0.7,))]


@pytest.mark.parametrize("scoring", FREE)
def test_the_sentence_ends_with_what_the_row_sums_to(
    context: Context, qtbot: QtBot, wait_traced: Traced, scoring: Scoring
) -> None:
    bar = SentenceBar(context)
    qtbot.addWidget(bar)
    e = replace(context.document.experiment, scoring=scoring)
    context.document.apply("scoring", e)
    context.document.start()
    wait_traced()
    spoken = bar.sentence.accessibleName()
    N = trace(e).stage("N", 0)[1].astype(float)
    told = re.findall(r"(?:karina|is|to|the|store) (\S+?)[,\s]", spoken.partition("looks at")[2])
    if N.sum() <= 1:
        assert told == [f"{round(100 * weight)}%" for weight in N]
    else:  # no parts of a whole
        assert told == [f"{weight:.2f}" for weight in N]
    assert spoken.endswith(f" (row sums to {N.sum():.2f}).")
    assert f"(row sums to {N.sum():.2f})" in bar.sentence.text()


def test_weights_that_are_no_parts_of_a_whole_are_told_as_numbers(
    context: Context, qtbot: QtBot, wait_traced: Traced
) -> None:
    bar = SentenceBar(context)
    qtbot.addWidget(bar)
    N = np.full((2, 20), 3.25, np.float32)
    N[1] = [-0.5, 0.25, *[0.0] * 17, 0.001]
    context.document.apply("given", Experiment.from_weights(N))
    context.selection.set_cell(0, 0)
    context.document.start()
    wait_traced()
    assert "%" not in bar.sentence.accessibleName()
    assert "12 others 39.00 (row sums to 65.00)." in bar.sentence.accessibleName()
    context.selection.set_cell(1, 0)
    qtbot.waitUntil(lambda: "0.25" in bar.sentence.accessibleName())
    assert "%" not in bar.sentence.accessibleName()
    assert "<0.01" in bar.sentence.accessibleName()


def test_the_sentence_says_nothing_of_sums_where_they_are_1(
    context: Context, qtbot: QtBot, wait_traced: Traced
) -> None:
    bar = SentenceBar(context)
    qtbot.addWidget(bar)
    context.document.apply("entmax", replace(context.document.experiment, scoring=Scoring(normaliser=Entmax15())))
    context.document.start()
    wait_traced()
    assert bar.sentence.accessibleName().startswith("“is” looks at")
    assert "sums to" not in bar.sentence.accessibleName()


@pytest.mark.parametrize(
    ("scoring", "name"), list(zip(FREE, ["sigmoid", "softmax₁", "softmax with sinks"], strict=True))
)
def test_the_status_line_says_between_what_the_rows_sum_to_and_why(
    context: Context, qtbot: QtBot, wait_traced: Traced, scoring: Scoring, name: str
) -> None:
    status = Status(context)
    qtbot.addWidget(status)
    e = replace(context.document.experiment, scoring=scoring)
    context.document.apply("scoring", e)
    context.document.start()
    wait_traced()
    sums = trace(e).row_sums(0)
    assert status.facts.text().endswith(f"rows sum to {sums.min():.2f} to {sums.max():.2f} ({name})")
    assert "⚠" not in status.facts.text()


def sums_of(values: list[float], empty: list[bool], judged: bool) -> RowSums:
    off = [judged and not none and value != 1 for value, none in zip(values, empty, strict=True)]
    return RowSums(0, np.array(values), np.array(empty), judged, np.array(off))


def test_rows_that_are_masked_whole_are_left_out_of_the_range() -> None:
    sigmoid = Experiment.from_tokens(["a"], [[1.0]], scoring=Scoring(normaliser=Sigmoid()))
    some = sums_of([0.0, 0.5, 2.25], [True, False, False], False)
    assert row_sum_fact(some, sigmoid) == "⚠ 1 row fully masked, rows sum to 0.50 to 2.25 (sigmoid)"
    assert row_sum_fact(sums_of([0.0], [True], False), sigmoid) == "⚠ 1 row fully masked"
    assert row_sum_fact(sums_of([0.5, 0.5], [False, False], False), sigmoid) == "rows sum to 0.50 (sigmoid)"
    given = Experiment.from_weights([[0.25]])
    assert row_sum_fact(sums_of([0.25], [False], False), given) == "rows sum to 0.25 (weights as given)"
    assert "masked in some heads" in row_sum_fact(
        sums_of([0.5], [False], False), Experiment.from_tokens(["a"], [[1.0]])
    )


def test_sums_that_need_not_be_1_are_shown_unjudged(context: Context, qtbot: QtBot) -> None:
    holder = Status(context)
    qtbot.addWidget(holder)
    column = SumColumn(context.look, holder)
    free = sums_of([1.0, 0.25, 12.5, 1.0], [False] * 4, False)
    column.show_sums(free, 4)
    assert [sum_text(free, i, 4) for i in range(4)] == ["1", "0.2500", "12.5000", "1"]
    assert column.accessibleDescription() == "rows need not sum to 1"
    room = column.needed_width - 16
    assert room >= column.fontMetrics().horizontalAdvance("12.5000")
    column.show_sums(sums_of([1.0, 0.25, 12.5, 1.0], [False] * 4, True), 4)
    assert column.accessibleDescription() == "2 of 4 rows do not sum to 1"
    column.show_sums(sums_of([1.0, 1.0], [False] * 2, True), 4)
    assert column.accessibleDescription() == "every row sums to 1"
    column.show_sums(sums_of([1.0, 1.0], [False] * 2, False), 4)
    assert column.accessibleDescription() == "rows need not sum to 1"


def test_a_long_name_is_cut_in_the_sentence_and_whole_beside_it(
    context: Context, qtbot: QtBot, wait_traced: Traced
) -> None:
    bar = SentenceBar(context)
    qtbot.addWidget(bar)
    bar.resize(1600, 60)  # room for every key
    name = "<i>a key that no token has, with a long name</i>"
    key = AppendedKey(name, Table.of(np.ones((1, 2))), Table.of(np.ones((1, 2))))
    context.document.apply("key", replace(context.document.experiment, appended=(key,), scoring=FREE[0]))
    context.document.start()
    wait_traced()
    assert f"“{name}” " in bar.sentence.accessibleName()
    assert "“&lt;i&gt;a key that no token …”" in bar.sentence.text()
    assert "(row sums to " in bar.sentence.text()
    assert "with a long name&lt;/i&gt;”" in bar.sentence.toolTip()
    context.document.undo_stack.undo()
    wait_traced()
    assert bar.sentence.toolTip() == ""


def test_sums_that_show_to_be_beside_1_are_not_called_1() -> None:
    def fact(*values: float) -> str:
        few_bits = RowSums(0, np.array(values), np.array(values) == 0, True, np.zeros(len(values), bool))
        return row_sum_fact(few_bits, Experiment.from_tokens(["a"], [[1.0]]))

    assert fact(1.0, 1.00002) == "rows sum to 1"
    assert fact(0.9985, 1.0) == "rows sum to 1 within 0.002"
    assert fact(0.0, 0.9998) == "⚠ 1 row fully masked, other rows sum to 1 within 0.001"
