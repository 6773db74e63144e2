"""Walk through in the real window: by keyboard, the trace's numbers, lit in the panels, and nothing left behind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QToolTip
from pytestqt.qtbot import QtBot

from attn_gui.files import examples
from attn_gui.model import walk
from attn_gui.model.exercise import Exercise
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal
from attn_gui.model.qk_norm.rms_norm import RMSNorm
from attn_gui.model.rotary.frequencies import Frequencies
from attn_gui.model.scoring import Scoring
from attn_gui.model.session import Session
from attn_gui.model.stages import STAGES
from attn_gui.views.main_window import MainWindow
from attn_gui.views.walk.walk_bar import WalkBar
from tests.views.window_helpers import karina_window, settle, type_in

Key = Qt.Key


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    def prepare(made: MainWindow) -> None:
        made.context.settings.theme = "light"
        made.context.settings.reduced_motion = True
        made.resize(1280, 720)

    with karina_window(qtbot, tmp_path, prepare) as made:
        yield made


def started(qtbot: QtBot, window: MainWindow) -> WalkBar:
    window.walk_through()
    bar = window.walk
    assert bar is not None and bar.isVisible()
    settle(qtbot, window)
    return bar


def press(qtbot: QtBot, window: MainWindow, key: Key) -> None:
    focused = QApplication.focusWidget()
    assert focused is not None
    qtbot.keyClick(focused, key)
    settle(qtbot, window)


def plain(label: QLabel) -> str:
    return unescape(re.sub(r"<[^>]*>", " ", label.text()))


def numbers(text: str) -> list[float]:
    return [float(found.replace("−", "-")) for found in re.findall(r"−?\d+(?:\.\d+)?(?:e−?\d+)?", text)]


def result(bar: WalkBar) -> float:
    bold = re.findall(r"<b>(.*?)</b>", bar.numbers.steps.text())[-1]
    return float(bold.replace("−", "-").replace("∞", "inf"))


def value(window: MainWindow, bar: WalkBar) -> float:
    trace = window.context.feed.trace
    assert trace is not None
    stage, head, (row, column) = bar.walking.stop, bar.walking.head, bar.walking.cell
    if STAGES[stage].square:
        return float(trace.matrix(stage, head).block(slice(row, row + 1), slice(column, column + 1))[0, 0])
    return float(trace.stage(stage, head if STAGES[stage].per_head else None)[row, column])


def cells(label: QLabel) -> list[list[str]]:
    """The texts of a small table, row by row."""
    rows = re.findall(r"<tr>(.*?)</tr>", label.text())
    return [[unescape(re.sub(r"<[^>]*>", "", cell)) for cell in re.findall(r"<td.*?</td>", row)] for row in rows]


def test_by_keyboard_from_the_menu_to_where_one_was(window: MainWindow, qtbot: QtBot) -> None:
    table, document = window.formula.tokens.table, window.context.document
    session = document.session
    table.setFocus()
    qtbot.keyClick(table, Key.Key_F5)
    bar = window.walk
    assert bar is not None and bar.isVisible() and bar.scrubber.hasFocus() and not window.why.isVisible()
    titles = [bar.title.text()]
    for _ in bar.walking.stops[1:]:
        press(qtbot, window, Key.Key_Right)
        titles.append(bar.title.text())
    assert titles == [
        "Embeddings",
        "Queries",
        "Keys",
        "Values",
        "Scores: q · k",
        "Scale: ÷ √d_k",
        "Weights: softmax",
        "Output: N V",
    ]
    press(qtbot, window, Key.Key_Home)
    assert bar.scrubber.value() == 0 and not bar.back.isEnabled()
    press(qtbot, window, Key.Key_End)
    press(qtbot, window, Key.Key_Left)
    assert bar.title.text() == "Weights: softmax" and bar.what.text() == "“is” → “the”"
    press(qtbot, window, Key.Key_Down)
    assert window.context.selection.key == 4 and bar.what.text() == "“is” → “store”"
    press(qtbot, window, Key.Key_Up)
    press(qtbot, window, Key.Key_Space)
    assert bar.walking.playing and bar.play.text() == "Pause" and bar.play.isChecked()
    press(qtbot, window, Key.Key_Space)
    assert not bar.walking.playing and bar.play.text() == "Play" and not bar.play.isChecked()
    press(qtbot, window, Key.Key_Escape)
    assert not bar.isVisible() and window.why.isVisible() and table.hasFocus()
    assert window.context.highlight.parts == ()
    assert document.session is session and document.undo_stack.count() == 0


def test_the_numbers_of_the_karina_example(window: MainWindow, qtbot: QtBot) -> None:
    """By hand: q = (0, 1), k = (1, 1), 1 / sqrt 2, and the softmax of the row."""
    bar = started(qtbot, window)
    weight = np.exp(0.5**0.5) / (1 + 4 * np.exp(0.5**0.5))
    output = weight * 2.5 + 1 / (1 + 4 * np.exp(0.5**0.5))
    expected = [0, 0, 1, 1, 1, 0.5**0.5, weight, output]
    for index, by_hand in enumerate(expected):
        bar.walking.go_to(index)
        settle(qtbot, window)
        assert result(bar) == pytest.approx(by_hand, abs=5e-5)
        assert result(bar) == pytest.approx(value(window, bar), abs=5e-5)
    assert bar.formula.text() == "o = Σ N v"
    bar.walking.go_to(4)
    settle(qtbot, window)
    assert plain(bar.numbers.steps).replace(" ", "") == "0×1+1×1=1"
    assert numbers(plain(bar.numbers.operands)) == [1, 2, 0, 1, 1, 1, 0, 1], "headings, q, k, products"


@pytest.mark.parametrize("example", [1, 6])
def test_at_every_stage_it_says_what_the_trace_holds(window: MainWindow, qtbot: QtBot, example: int) -> None:
    window.open_example(examples.names()[example])
    e = window.context.document.experiment
    window.context.document.apply("More", replace(e, rule=Causal("top-left"), scoring=Scoring(softcap=5.0)))
    settle(qtbot, window)
    bar = started(qtbot, window)
    seen = []
    for index, stage in enumerate(bar.walking.stops):
        bar.walking.go_to(index)
        bar.walking.another_cell(1)
        settle(qtbot, window)
        assert result(bar) == pytest.approx(value(window, bar), abs=5e-5), stage
        assert bar.formula.text() and bar.what.text()
        if not bar.numbers.operands.isHidden():
            _, above, below, products = ([numbers(text) for text in row[1:]] for row in cells(bar.numbers.operands))
            for (a, b), product in zip(zip(above, below, strict=True), products, strict=True):
                assert (not a and not b) or a[0] * b[0] == pytest.approx(product[0], abs=1e-4), stage
            assert sum(product[0] for product in products) == pytest.approx(result(bar), abs=5e-4)
        shown = not bar.numbers.vector.isHidden()
        assert shown == (stage in ("context", "Q", "K", "V", "concat") or (stage == "head_output" and e.heads > 1)), (
            stage
        )
        if shown:
            assert f"{result(bar):.4f}".rstrip("0").rstrip(".") in plain(bar.numbers.vector).replace("−", "-")
        seen.append(stage)
    assert tuple(seen) == walk.stops(window.context.document.experiment) and "A_masked" in seen
    bar.walking.go_to(seen.index("A_masked"))
    window.context.selection.set_cell(0, 1)
    settle(qtbot, window)
    assert result(bar) == -np.inf and "Causal" in bar.numbers.steps.text()
    window.context.selection.set_cell(1, 0)
    settle(qtbot, window)
    assert plain(bar.numbers.steps).startswith("The mask allows this key") and np.isfinite(result(bar))


def test_operands_are_lit_in_the_panels_and_no_longer_once_one_leaves(window: MainWindow, qtbot: QtBot) -> None:
    bar = started(qtbot, window)
    formula, stops = window.formula, bar.walking.stops
    tokens, output = formula.tokens.table, formula.output.table
    scores, weights = formula.scores.heatmap.plot, formula.weights.heatmap.plot

    def lit(plot: object) -> list[tuple[float, float]]:
        frames = [item for item in plot.lit.items if item.isVisible()]  # type: ignore[attr-defined]
        return [(round(f.rect().width()), round(f.rect().height())) for f in frames]

    def row(plot: object) -> tuple[int, int]:
        grid = plot.grid  # type: ignore[attr-defined]
        return round(grid.covered.width()) - 2, round(grid.cell_height)

    bar.walking.go_to(stops.index("Q"))
    behind = [[tokens.backdrop(tokens.model().index(i, c)) is not None for c in range(3)] for i in range(5)]
    assert behind == [[False, i == 1, i == 1] for i in range(5)], "the row of “is”, without its name"
    bar.walking.go_to(stops.index("N"))
    assert lit(scores) == [row(scores)] and len(lit(weights)) == 1
    assert tokens.backdrop(tokens.model().index(1, 1)) is None
    bar.walking.go_to(stops.index("head_output"))
    assert lit(weights) == [row(weights)] and lit(scores) == []
    assert output.backdrop(output.model().index(1, 0)) is not None
    image = output.viewport().grab().toImage()
    accent = window.context.look.theme.colour("accent")
    place = output.visualRect(output.model().index(1, 0))
    assert image.pixelColor(place.left() + 1, place.center().y()) == accent, "framed in the accent"
    bar.walking.leave()
    assert lit(scores) == lit(weights) == [] and output.backdrop(output.model().index(1, 0)) is None
    assert output.viewport().grab().toImage().pixelColor(place.left() + 1, place.center().y()) != accent


def test_an_edit_is_followed_and_escape_first_belongs_to_the_editor(window: MainWindow, qtbot: QtBot) -> None:
    bar = started(qtbot, window)
    bar.walking.go_to(bar.walking.stops.index("raw"))
    settle(qtbot, window)
    before = result(bar)
    table = window.formula.tokens.table
    type_in(qtbot, table, 3, 2, "4")
    settle(qtbot, window)
    assert bar.what.text() == "“store” → “the”", "Enter went on to the next token"
    assert (before, result(bar)) == (1, 0.5 + 4) and bar.isVisible()
    table.setCurrentIndex(table.model().index(3, 2))
    qtbot.keyClicks(table, "7")
    editor = table.findChild(QLineEdit)
    assert editor is not None
    qtbot.keyClick(editor, Key.Key_Escape)
    assert bar.isVisible(), "Escape gave up the edit alone"
    plot = window.formula.scores.heatmap.plot
    plot.setFocus()
    window.context.document.apply("One token", Experiment.from_tokens(["a"], [[3.0]]))
    settle(qtbot, window)
    assert bar.what.text() == "“a” → “a”" and result(bar) == 9
    qtbot.keyClick(plot, Key.Key_Escape)
    assert not bar.isVisible() and plot.hasFocus(), "what nothing takes leaves the walk, and the focus stays"


def test_the_scrubber_names_its_ticks_and_goes_where_it_is_pressed(window: MainWindow, qtbot: QtBot) -> None:
    bar = started(qtbot, window)
    scrubber = bar.scrubber
    qtbot.mouseClick(scrubber, Qt.MouseButton.LeftButton, pos=QPoint(scrubber.x_of(6) + 3, 14))
    assert bar.walking.stop == "N" and scrubber.accessibleDescription() == "7 of 8: Weights: softmax"
    at = QPoint(scrubber.x_of(4), 14)
    QApplication.sendEvent(scrubber, QHelpEvent(QEvent.Type.ToolTip, at, scrubber.mapToGlobal(at)))
    assert QToolTip.text() == "5. Scores: q · k"
    QToolTip.hideText()
    for width in (900, 400, 170):
        scrubber.resize(width, scrubber.height())
        places = scrubber.places()
        assert any(stop == scrubber.value() for stop, _ in places), "the present stage always has its name"
        assert all(scrubber.rect().contains(place) for _, place in places)
        assert all(not a.intersects(b) for i, (_, a) in enumerate(places) for _, b in places[:i])


def test_f6_comes_to_the_bar_and_its_buttons_answer_to_the_arrows(window: MainWindow, qtbot: QtBot) -> None:
    bar = started(qtbot, window)
    window.formula.output.table.setFocus()
    press(qtbot, window, Key.Key_F6)
    focused = QApplication.focusWidget()
    assert focused is not None and bar.isAncestorOf(focused)
    bar.play.setFocus()
    press(qtbot, window, Key.Key_Right)
    assert bar.walking.index == 1 and bar.play.hasFocus()
    press(qtbot, window, Key.Key_Space)
    assert bar.walking.playing
    bar.walking.leave()


def test_what_an_exercise_hides_is_not_walked_through(window: MainWindow, qtbot: QtBot) -> None:
    bar = started(qtbot, window)
    bar.pace.setCurrentIndex(0)
    assert bar.walking.pace == 8
    document = window.context.document
    document.open(Session((replace(document.session.named, exercise=Exercise(("N",))),)), None)
    settle(qtbot, window)
    assert not bar.isVisible() and not bar.walking.active and window.context.highlight.parts == ()
    assert not window.why.isVisible(), "the line of why is hidden as well"
    focused = QApplication.focusWidget() or window
    qtbot.keyClick(focused, Key.Key_F5)
    assert not bar.isVisible()


def test_a_long_derivation_is_paged_through_and_gives_way_to_the_next(window: MainWindow, qtbot: QtBot) -> None:
    document = window.context.document
    scoring = Scoring(qk_norm=RMSNorm(1e-3), rotary=Frequencies())
    document.apply("Turned", replace(document.experiment, scoring=scoring))
    settle(qtbot, window)
    bar = started(qtbot, window)
    bar.walking.go_to(bar.walking.stops.index("Q"))
    settle(qtbot, window)
    scroll = bar.numbers._scroll.verticalScrollBar()
    assert scroll.maximum() > 0 and scroll.value() == 0, "longer than the bar"
    for _ in range(4):
        press(qtbot, window, Key.Key_PageDown)
    assert scroll.value() == scroll.maximum(), "to the last line"
    press(qtbot, window, Key.Key_PageUp)
    assert scroll.value() < scroll.maximum()
    press(qtbot, window, Key.Key_Right)
    assert bar.walking.stop == "K" and scroll.value() == 0


WIDE = "a_token_with_a_very_long_name_that_goes_on"


@pytest.mark.parametrize(("theme", "size"), [("light", (1280, 720)), ("dark", (1280, 720)), ("contrast", (960, 640))])
def test_nothing_is_cut_or_covered(window: MainWindow, qtbot: QtBot, theme: str, size: tuple[int, int]) -> None:
    window.context.settings.theme = theme
    window.resize(*size)
    random = np.random.RandomState(0)
    many = Experiment.from_tokens([WIDE, "is", "to"], random.standard_normal((3, 64)) * 99, heads=4)
    experiments = [window.context.document.experiment, many]
    for experiment in experiments:
        window.context.document.apply("Look", experiment)
        settle(qtbot, window)
        bar = started(qtbot, window)
        heights = set()
        for index in range(len(bar.walking.stops)):
            bar.walking.go_to(index)
            settle(qtbot, window)
            heights.add(bar.height())
            formula = window.formula
            assert formula.height() >= formula.minimumHeight()
            assert formula.geometry().bottom() < bar.geometry().top(), "the panels are not covered"
            assert window.rect().contains(bar.rect().translated(bar.mapTo(window, QPoint(0, 0))))
            assert window.size().toTuple() == size, "the window did not have to grow"
            for label in (bar.title, bar.what, bar.numbers.operands, bar.numbers.vector):
                if not label.isHidden():
                    assert label.sizeHint().width() <= label.width(), (label.text(), bar.walking.stop)
                    assert label.sizeHint().height() <= label.height()
            assert bar.formula.drawn == bar.formula.text()
            inner, steps = bar.numbers.steps.parentWidget(), bar.numbers.steps
            assert inner is not None and steps.width() <= inner.width(), "what is long is wrapped, and can be scrolled"
        assert len(heights) == 1, "it does not jump from stage to stage"
        bar.walking.leave()
