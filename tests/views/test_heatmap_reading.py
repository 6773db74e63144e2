"""What is said of a cell: on hover, from the keyboard, to a screen reader; and sums of what was picked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFontMetrics
from pytestqt.qtbot import QtBot

from attn_gui.model.answers import RowSums
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal, Combined, Padding, SlidingWindow, Term
from attn_gui.model.tokens import TokenSequence
from attn_gui.views.context import Context
from attn_gui.views.heatmap.heatmap import Heatmap
from attn_gui.views.heatmap.sums import sum_text
from attn_gui.views.why_line import WhyLine
from tests.views.conftest import KARINA
from tests.views.heatmaps import LEFT, Pair, place, random_experiment, reference

Key = Qt.Key


@pytest.fixture
def pair(qtbot: QtBot, context: Context) -> Pair:
    return Pair(qtbot, context)


def karina(**fields: object) -> Experiment:
    return Experiment.from_tokens(*KARINA, **fields)


def hover(qtbot: QtBot, heatmap: Heatmap, i: int, j: int) -> None:
    qtbot.mouseMove(heatmap.plot, place(heatmap, i, j))


def line(heatmap: Heatmap) -> str:
    return heatmap.footer.line.sentence.full


def test_the_published_weight_is_read_out(qtbot: QtBot, context: Context, pair: Pair) -> None:
    pair.show_experiment(karina())
    context.selection.set_cell(1, 3)
    assert line(pair.N.heatmap) == "query is → key the: 0.2226"
    assert line(pair.A.heatmap) == "query is → key the: 0.7071"


def test_hovering_one_reads_out_both(qtbot: QtBot, context: Context, pair: Pair) -> None:
    experiment = random_experiment(7)
    pair.show_experiment(experiment)
    A, N, _ = reference(experiment)
    for i, j in ((0, 0), (3, 6), (6, 2)):
        hover(qtbot, pair.A.heatmap, i, j)
        assert context.selection.hover == (i, j)
        assert line(pair.N.heatmap) == f"query q{i} → key q{j}: {N[i, j]:.4f}"
        assert line(pair.A.heatmap) == f"query q{i} → key q{j}: {A[i, j]:.4f}".replace("-", "−")
    hover(qtbot, pair.N.heatmap, 5, 1)
    assert line(pair.A.heatmap).startswith("query q5 → key q1: ")
    qtbot.mouseMove(pair.N.heatmap.plot, QPoint(2, 2))
    assert context.selection.hover is None


def test_decimals_are_those_of_the_settings(context: Context, pair: Pair) -> None:
    pair.show_experiment(karina())
    context.selection.set_cell(1, 3)
    context.settings.decimals = 6
    _, N, _ = reference(karina())
    assert line(pair.N.heatmap) == f"query is → key the: {N[1, 3]:.6f}"
    context.settings.decimals = 1
    assert line(pair.N.heatmap) == "query is → key the: 0.2"
    assert pair.N.heatmap.plot.accessibleDescription().endswith("weight 0.2, allowed")


def test_what_decimals_would_hide_is_written_with_an_exponent(context: Context, pair: Pair) -> None:
    pair.show_experiment(Experiment.from_tokens(["a", "b"], [[4.0], [-4.0]]))
    context.selection.set_cell(0, 1)
    assert line(pair.N.heatmap) == f"query a → key b: {1 / (1 + np.exp(32)):.3e}".replace("e-", "e−")


def test_a_masked_cell_tells_by_what_and_what_it_would_have_been(qtbot: QtBot, context: Context, pair: Pair) -> None:
    pair.show_experiment(karina(rule=Causal()))
    hover(qtbot, pair.A.heatmap, 1, 3)
    expected = "query is → key the: masked by “Causal”; its score would be 0.7071"
    qtbot.waitUntil(lambda: line(pair.A.heatmap) == expected)
    qtbot.waitUntil(lambda: line(pair.N.heatmap) == expected)
    for width in range(460, 48, -4):
        # parts are left out, none is put in other words
        words = []
        for heatmap in (pair.A.heatmap, pair.N.heatmap):
            shown = heatmap.footer.line
            shown.resize(width, shown.height())
            words.append(shown.text())
        assert words[0] == words[1]
        assert QFontMetrics(shown.font()).horizontalAdvance(words[0]) <= width
        rest = iter(expected)
        assert all(letter in rest for letter in words[0])
    hover(qtbot, pair.A.heatmap, 3, 1)
    assert line(pair.A.heatmap) == "query the → key is: 0.7071"


def test_what_masks_a_cell_is_named_as_the_line_of_why_does(qtbot: QtBot, context: Context, pair: Pair) -> None:
    why = WhyLine(context)
    qtbot.addWidget(why)
    rule = Combined((Term(Causal()), Term(SlidingWindow(1))))
    e = karina(rule=rule)
    pair.show_experiment(replace(e, painted=e.painted.with_cells([(0, 0), (0, 4)], False)))
    reasons = {(0, 3): "by “Causal”", (4, 1): "by “Sliding window”", (0, 0): "by hand", (0, 4): "by hand"}
    for cell, by in reasons.items():
        context.selection.set_cell(*cell)
        qtbot.waitUntil(lambda by=by: f": masked {by}; its score would be " in line(pair.N.heatmap))
        qtbot.waitUntil(lambda by=by: f"masked {by}, so its weight is 0" in why.line.accessibleName())


def test_in_the_mean_what_masks_a_cell_in_any_head_is_named(qtbot: QtBot, context: Context, pair: Pair) -> None:
    rule = Combined((Term(Causal(), heads=(0,)), Term(SlidingWindow(1), heads=(1,))))
    X = np.random.default_rng(0).standard_normal((5, 6))
    pair.show_experiment(Experiment.from_tokens("abcde", X, heads=2, rule=rule))
    context.selection.set_head("mean")
    context.selection.set_cell(0, 3)
    qtbot.waitUntil(lambda: "masked by “Causal” and “Sliding window”; " in line(pair.N.heatmap))


def test_a_cell_too_small_for_a_pixel_is_asked_for(qtbot: QtBot, context: Context, pair: Pair) -> None:
    experiment = random_experiment(1500)
    pair.show_experiment(experiment)
    A, N, _ = reference(experiment)
    context.selection.set_cell(703, 1204)
    number = f"{A[703, 1204]:.4f}".replace("-", "−")
    qtbot.waitUntil(lambda: line(pair.A.heatmap) == f"query q703 → key q1204: {number}")
    exact = f"{N[703, 1204]:.3e}".replace("e-", "e−") if N[703, 1204] < 5e-5 else f"{N[703, 1204]:.4f}"
    qtbot.waitUntil(lambda: line(pair.N.heatmap) == f"query q703 → key q1204: {exact}")


def test_several_keys_are_summed_and_called_a_sum(qtbot: QtBot, context: Context, pair: Pair) -> None:
    experiment = random_experiment(6)
    pair.show_experiment(experiment)
    A, N, _ = reference(experiment)
    context.selection.set_cell(2, 1)
    context.selection.pick(frozenset(), frozenset({0, 3, 5}))
    expected = f"sum over 3 keys for 'q2': {N[2, [0, 3, 5]].sum():.4f}"
    qtbot.waitUntil(lambda: line(pair.N.heatmap) == expected)
    score = f"{A[2, [0, 3, 5]].sum():.4f}".replace("-", "−")
    qtbot.waitUntil(lambda: line(pair.A.heatmap) == f"sum over 3 keys for 'q2': {score}")
    context.selection.set_cell(4, 1)
    qtbot.waitUntil(lambda: line(pair.N.heatmap) == f"sum over 3 keys for 'q4': {N[4, [0, 3, 5]].sum():.4f}")
    context.selection.pick(frozenset({0, 1}), frozenset())
    qtbot.waitUntil(lambda: line(pair.N.heatmap) == f"sum over 2 queries for key 'q1': {N[:2, 1].sum():.4f}")
    context.selection.pick(frozenset({0, 1}), frozenset({2, 3}))
    total = N[:2, 2:4].sum()
    qtbot.waitUntil(lambda: line(pair.N.heatmap) == f"sum over 2 queries × 2 keys: {total:.4f}")
    context.selection.pick(frozenset({1}), frozenset({2}))
    assert line(pair.N.heatmap).startswith("query q4 → key q1: ")


def test_a_sum_of_scores_leaves_masked_cells_out(qtbot: QtBot, context: Context, pair: Pair) -> None:
    pair.show_experiment(karina(rule=Causal()))
    context.selection.set_cell(1, 0)
    context.selection.pick(frozenset(), frozenset({0, 1, 2}))
    wanted = "sum over 3 keys for 'is': 0.7071 (1 masked left out)"
    qtbot.waitUntil(lambda: line(pair.A.heatmap) == wanted)


def test_the_keyboard_moves_the_selected_cell(qtbot: QtBot, context: Context, pair: Pair) -> None:
    pair.show_experiment(random_experiment(30, 12))
    plot, selection = pair.A.heatmap.plot, context.selection
    plot.setFocus()
    control = Qt.KeyboardModifier.ControlModifier
    selection.set_cell(4, 5)
    for key, modifiers, cell in (
        (Key.Key_Right, Qt.KeyboardModifier.NoModifier, (4, 6)),
        (Key.Key_Down, Qt.KeyboardModifier.NoModifier, (5, 6)),
        (Key.Key_Left, Qt.KeyboardModifier.NoModifier, (5, 5)),
        (Key.Key_Up, Qt.KeyboardModifier.NoModifier, (4, 5)),
        (Key.Key_End, Qt.KeyboardModifier.NoModifier, (4, 11)),
        (Key.Key_Right, Qt.KeyboardModifier.NoModifier, (4, 11)),
        (Key.Key_Home, Qt.KeyboardModifier.NoModifier, (4, 0)),
        (Key.Key_End, control, (29, 11)),
        (Key.Key_Home, control, (0, 0)),
        (Key.Key_Down, control, (29, 0)),
    ):
        qtbot.keyClick(plot, key, modifiers)
        assert (selection.query, selection.key) == cell


def test_page_keys_move_by_what_is_in_sight_and_bring_it_there(qtbot: QtBot, context: Context, pair: Pair) -> None:
    pair.show_experiment(random_experiment(60))
    context.bands.show_rows(0, 12)
    plot, selection = pair.A.heatmap.plot, context.selection
    selection.set_cell(0, 0)
    qtbot.keyClick(plot, Key.Key_PageDown)
    step = selection.query
    assert 8 <= step <= 12
    for _ in range(3):
        qtbot.keyClick(plot, Key.Key_PageDown)
        top, bottom = context.bands.visible
        assert top <= selection.query
        assert selection.query + 1 <= bottom
    assert selection.query == 4 * step
    qtbot.keyClick(plot, Key.Key_PageUp)
    assert selection.query == 3 * step


def test_shift_and_arrows_pick_what_is_passed(qtbot: QtBot, context: Context, pair: Pair) -> None:
    pair.show_experiment(random_experiment(8))
    plot, selection = pair.N.heatmap.plot, context.selection
    selection.set_cell(3, 2)
    for _ in range(3):
        qtbot.keyClick(plot, Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert selection.keys == {2, 3, 4, 5}
    qtbot.keyClick(plot, Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    assert selection.queries == {3, 4}
    qtbot.keyClick(plot, Key.Key_Escape)
    assert (selection.queries, selection.keys) == (frozenset(), frozenset())
    qtbot.keyClick(plot, Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClick(plot, Key.Key_Right)
    assert selection.keys == frozenset()


def test_a_screen_reader_hears_the_cell(context: Context, pair: Pair) -> None:
    pair.show_experiment(karina())
    context.selection.set_cell(1, 3)
    assert pair.N.heatmap.plot.accessibleName() == "Weights N, heatmap"
    assert pair.N.heatmap.plot.accessibleDescription() == "query is, key the, head 1, weight 0.2226, allowed"
    assert pair.A.heatmap.plot.accessibleDescription() == "query is, key the, head 1, score 0.7071, allowed"
    pair.show_experiment(karina(rule=Causal()))
    context.selection.set_cell(0, 4)
    assert pair.N.heatmap.plot.accessibleDescription() == "query karina, key store, head 1, weight 0, masked"
    assert pair.A.heatmap.plot.accessibleDescription() == "query karina, key store, head 1, masked"


def test_the_mean_over_heads_is_named(context: Context, pair: Pair) -> None:
    X = np.random.default_rng(0).standard_normal((4, 4))
    pair.show_experiment(Experiment.from_tokens("abcd", X, heads=2))
    context.selection.set_head("mean")
    pair.settle()
    assert "mean over heads" in pair.N.heatmap.plot.accessibleDescription()
    trace = context.feed.trace
    assert trace is not None
    mean = trace.stage("N").mean(axis=0)
    latest = pair.N.heatmap.pictures.latest
    assert latest is not None
    np.testing.assert_allclose(latest.values, mean, rtol=1e-6)


def test_rows_that_sum_to_one_say_so(context: Context, pair: Pair) -> None:
    pair.show_experiment(random_experiment(12))
    sums = pair.N.heatmap.plot.sums
    assert sums is not None
    assert [sums.text(i) for i in range(12)] == ["1"] * 12
    assert sums.accessibleDescription() == "every row sums to 1"
    assert pair.A.heatmap.plot.sums is None


def test_a_fully_masked_row_is_flagged_by_sign_and_word(context: Context, pair: Pair) -> None:
    tokens = TokenSequence.of(["a", "b"], np.eye(2), pad=[True, True])
    base = Experiment.from_tokens(["a", "b"], np.eye(2))
    pair.show_experiment(Experiment(tokens, base.source, rule=Padding()))
    sums = pair.N.heatmap.plot.sums
    assert sums is not None
    assert sums.text(0) == "⚠ all masked"
    assert "2 of 2 rows" in sums.accessibleDescription()
    assert sums.width() >= sums.needed_width > 44
    assert sums.geometry().right() == pair.N.heatmap.plot.width() - 1


@pytest.mark.parametrize(
    ("value", "off", "expected"),
    [(1.0, False, "1"), (0.99999994, False, "1"), (0.9961, False, "0.9961"), (1.09, True, "⚠ off: 1.0900")],
)
def test_a_sum_is_written_as_it_is(value: float, off: bool, expected: str) -> None:
    sums = RowSums(0, np.array([value]), np.array([False]), True, np.array([off]))
    assert sum_text(sums, 0, 4) == expected


def test_a_sum_that_is_off_by_less_than_the_decimals_show_is_written_out() -> None:
    sums = RowSums(0, np.array([1.000004]), np.array([False]), True, np.array([True]))
    assert sum_text(sums, 0, 4) == "⚠ off: 1.000004"


def test_clicking_a_cell_selects_it_and_drops_the_picks(qtbot: QtBot, context: Context, pair: Pair) -> None:
    pair.show_experiment(random_experiment(6))
    context.selection.pick(frozenset({1, 2}), frozenset())
    qtbot.mouseClick(pair.N.heatmap.plot, LEFT, pos=place(pair.N.heatmap, 4, 2))
    assert (context.selection.query, context.selection.key) == (4, 2)
    assert context.selection.queries == frozenset()
    assert pair.N.heatmap.plot.hasFocus()


@pytest.mark.parametrize("width", [520, 640, 800, 1000, 1400])
def test_numbers_side_by_side_have_as_many_decimals(pair: Pair, width: int) -> None:
    pair.resize(width, 440)
    pair.show_experiment(random_experiment(5))
    A, N = pair.A.heatmap.plot.numbers, pair.N.heatmap.plot.numbers
    if A.style is not None and N.style is not None:
        assert A.style.most == N.style.most
        assert min(A.possible or 0, N.possible or 0) == A.style.most
