"""The sentence, the line of why, the status line: words made of numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from pytestqt.qtbot import QtBot

from attn_gui.files import examples
from attn_gui.model.edits import set_cells
from attn_gui.model.errors import TooLarge
from attn_gui.model.masks import Causal
from attn_gui.model.precision import Precision
from attn_gui.model.scoring import Scoring
from attn_gui.views.context import Context
from attn_gui.views.figures import common_decimals, percentages, shown
from attn_gui.views.sentence_bar import SentenceBar
from attn_gui.views.status import Status
from attn_gui.views.why_line import WhyLine


def plain(rich: str) -> str:
    return re.sub(r"<[^>]+>", "", rich).replace("&nbsp;", " ").replace("  ", " ")


def start(context: Context, wait_traced: Callable[[], None]) -> None:
    context.document.start()
    wait_traced()


def test_the_sentence_says_what_is_looks_at(context: Context, qtbot: QtBot, wait_traced: Callable[[], None]) -> None:
    bar = SentenceBar(context)
    qtbot.addWidget(bar)
    start(context, wait_traced)
    # softmax of row 2 of the Karina example: 0.1097 and four times 0.2226
    assert bar.sentence.accessibleName() == "“is” looks at karina 11%, is 22%, to 22%, the 22%, store 22%."
    context.selection.set_cell(0, 0)
    qtbot.waitUntil(lambda: bar.sentence.accessibleName().startswith("“karina” looks at karina 24%, is 12%"))


def test_the_sentence_of_a_masked_row(context: Context, qtbot: QtBot, wait_traced: Callable[[], None]) -> None:
    bar = SentenceBar(context)
    qtbot.addWidget(bar)
    e = context.document.experiment
    context.document.apply("mask", replace(e, painted=e.painted.with_cells([(1, j) for j in range(5)], False)))
    start(context, wait_traced)
    assert "may look at nothing" in bar.sentence.accessibleName()


def test_the_sentence_leaves_out_masked_keys_and_sums_up_many(
    context: Context, qtbot: QtBot, wait_traced: Callable[[], None]
) -> None:
    bar = SentenceBar(context)
    qtbot.addWidget(bar)
    context.document.apply("mask", replace(context.document.experiment, rule=Causal()))
    start(context, wait_traced)
    assert re.fullmatch(r"“is” looks at karina \d+%, is \d+%\.", bar.sentence.accessibleName())
    context.document.apply_named("animal", examples.load("animal"))
    context.selection.set_cell(7, 1)
    wait_traced()
    qtbot.waitUntil(lambda: "In head 1, “it” looks at “animal”" in bar.sentence.accessibleName())
    spoken = bar.sentence.accessibleName()
    assert re.search(r"3 others 4\.5%\.$", spoken)
    assert "“the” (1) " in spoken and "“the” (5) " in spoken, "names that occur twice have their place behind them"
    assert "“didn't” " in spoken, "where one key is no plain word, all stand in quotes"


def test_why_shows_the_arithmetic_of_the_cell(context: Context, qtbot: QtBot, wait_traced: Callable[[], None]) -> None:
    why = WhyLine(context)
    qtbot.addWidget(why)
    start(context, wait_traced)
    text = plain(why.line.text())
    total = 1 + 4 * math.exp(1 / math.sqrt(2))
    assert "Why 0.2226?" in text
    assert "q·k = 0×1 + 1×1 = 1" in text
    assert "÷ √2 = 0.7071" in text
    assert f"exp = {math.exp(1 / math.sqrt(2)):.4f}" in text
    assert f"÷ {total:.4f} (the row's sum) = {math.exp(1 / math.sqrt(2)) / total:.4f}" in text


def test_why_of_a_masked_cell_says_so_and_what_the_score_would_be(
    context: Context, qtbot: QtBot, wait_traced: Callable[[], None]
) -> None:
    why = WhyLine(context)
    qtbot.addWidget(why)
    context.document.apply("mask", replace(context.document.experiment, rule=Causal()))
    start(context, wait_traced)
    text = plain(why.line.text())
    assert "masked by “Causal”" in text
    assert "would be 0.7071" in text


def test_what_leaves_the_range_of_the_precision_is_said(
    context: Context, qtbot: QtBot, wait_traced: Callable[[], None]
) -> None:
    bar, why = SentenceBar(context), WhyLine(context)
    for view in (bar, why):
        qtbot.addWidget(view)
    e = set_cells(context.document.experiment, "tokens", 1, 0, 1e30)
    context.document.apply("large", replace(e, precision=Precision.FLOAT16))
    start(context, wait_traced)
    qtbot.waitUntil(lambda: "range of float16" in bar.sentence.accessibleName())
    assert "a larger precision" in bar.sentence.accessibleName()
    assert "range of float16" in plain(why.line.text())


def test_why_with_softcap_scale_large_scores_and_the_mean(
    context: Context, qtbot: QtBot, wait_traced: Callable[[], None]
) -> None:
    why = WhyLine(context)
    qtbot.addWidget(why)
    context.document.apply("cap", replace(context.document.experiment, scoring=Scoring(scale=2.0, softcap=3.0)))
    start(context, wait_traced)
    assert f"softcap 3 = {3 * math.tanh(2 / 3):.4f}" in plain(why.line.text())
    context.document.apply("large", replace(context.document.experiment, scoring=Scoring(scale=500.0)))
    wait_traced()
    qtbot.waitUntil(lambda: "row maximum 500.0000" in plain(why.line.text()))
    context.document.apply_named("cat", examples.load("cat"))
    context.selection.set_head("mean")
    wait_traced()
    qtbot.waitUntil(lambda: "mean over heads (" in plain(why.line.text()))


def test_status_says_whether_rows_sum_to_one(context: Context, qtbot: QtBot, wait_traced: Callable[[], None]) -> None:
    status = Status(context)
    qtbot.addWidget(status)
    start(context, wait_traced)
    assert status.facts.text() == "5 tokens  ·  d 2  ·  float32 on CPU  ·  rows sum to 1"
    e = context.document.experiment
    context.document.apply("mask", replace(e, painted=e.painted.with_cells([(2, j) for j in range(5)], False)))
    wait_traced()
    assert "1 row fully masked, other rows sum to 1" in status.facts.text()


def test_a_computation_too_large_says_so_and_keeps_the_last_result(
    context: Context, qtbot: QtBot, wait_traced: Callable[[], None]
) -> None:
    status = Status(context)
    qtbot.addWidget(status)
    start(context, wait_traced)
    kept = context.feed.trace
    context.feed.failed.emit(TooLarge("A and N", 8_600_000_000, 1_000_000_000))
    assert "needs 8.6 GB; 1 GB may be used" in status.notice.text()
    assert "The last result is still shown" in status.notice.text()
    assert context.feed.trace is kept


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e12, max_value=1e12), st.integers(0, 12))
def test_shown_rounds_as_python_does_and_never_writes_a_minus_zero(value: float, decimals: int) -> None:
    text = shown(value, decimals)
    form = "f" if abs(value) < 1e9 else "e"
    assert float(text.replace("−", "-")) == float(f"{value:.{decimals}{form}}")
    assert not text.startswith("−") or float(text.replace("−", "-")) != 0


def test_what_is_not_a_number_is_written_in_words() -> None:
    assert [shown(v, 2) for v in (math.nan, math.inf, -math.inf)] == ["nan", "∞", "−∞"]


@given(st.lists(st.integers(-10_000, 10_000), min_size=1), st.integers(1, 4))
def test_common_decimals_are_enough_and_not_more(numbers: list[int], places: int) -> None:
    values = np.array(numbers) / 10**places
    found = common_decimals(values, most=6)
    assert np.array_equal(values.round(found), values.round(6))
    assert found == 1 or not np.array_equal(values.round(found - 1), values.round(6))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9).filter(lambda parts: sum(parts) > 0.01))
def test_percentages_of_a_whole_add_up_to_about_100_and_equal_parts_are_alike(parts: list[float]) -> None:
    shares = [part / math.fsum(parts) for part in parts]
    told = percentages(shares)
    numbers = [0.0 if text.startswith("<") else float(text.rstrip("%")) for text in told]
    assert abs(sum(numbers) - 100) <= 1.5
    for share, text, number in zip(shares, told, numbers, strict=True):
        assert abs(number - share * 100) <= 0.5 + 1e-9
        assert (text in ("0%", "0.0%")) == (share == 0), "what is not zero is never written as 0%"
        assert all(other == text for at, other in zip(shares, told, strict=True) if at == share)


def test_many_small_parts_do_not_seem_to_be_more_than_the_whole() -> None:
    assert percentages([0.11, 0.2225, 0.2225, 0.2225, 0.2225]) == ["11%", "22%", "22%", "22%", "22%"]
    assert percentages([0.82, 0.04, *[0.0155] * 6, 0.047]) == ["82.0%", "4.0%", *["1.6%"] * 6, "4.7%"]


def test_percentages_of_a_part_add_up_to_the_part() -> None:
    assert percentages([0.25, 0.125]) == ["25%", "12%"]
    assert percentages([0.0]) == ["0%"]


def test_why_tells_very_small_numbers_as_the_read_out_does_and_zero_in_one_way(
    context: Context, qtbot: QtBot, wait_traced: Callable[[], None]
) -> None:
    why = WhyLine(context)
    qtbot.addWidget(why)
    e = set_cells(context.document.experiment, "tokens", 1, [0, 1], [0.0, 4.0])
    context.document.apply("large", set_cells(e, "tokens", 0, [0, 1], [1.5, 0.0]))
    context.selection.set_cell(1, 0)
    start(context, wait_traced)
    qtbot.waitUntil(lambda: "karina" in plain(why.line.text()))
    text = plain(why.line.text())
    weight = re.search(r"Why (\S+)\?", text)
    assert weight is not None and text.endswith(f"= {weight[1]}")
    assert "e−" in weight[1]
    zeros = re.findall(r"(?<![\d.])[0.]+(?![\d.e])", text)
    assert set(zeros) <= {"0", "."} and "0" in zeros
