"""The flow drawer on real widgets: what is drawn, pointed at, selected, left out, and taken out as a picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QAction, QColor, QGuiApplication, QHelpEvent, QImage, QPainter, QWheelEvent
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot

from attn_gui.compute.trace import trace
from attn_gui.control.notices import Kind
from attn_gui.model.exercise import Exercise
from attn_gui.model.experiment import Experiment
from attn_gui.model.flow import MOST_LINES, MOST_TOKENS, FlowAsk
from attn_gui.model.masks import Causal
from attn_gui.model.painted import Painted
from attn_gui.model.scoring import Scoring
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.model.structured import structured_experiment
from attn_gui.model.trace import Head
from attn_gui.views.context import Context
from attn_gui.views.flow import figure as flow_figure
from attn_gui.views.flow.drawer import HIDDEN, FlowDrawer
from attn_gui.views.flow.legend import MOST_BUTTONS
from attn_gui.views.flow.places import HEADER, Side
from attn_gui.views.flow.threshold import LAST, weight_at, written
from attn_gui.views.flow.words import heads_name
from tests.views.drawer_helpers import asks_recorded, open_experiment, several_heads
from tests.views.window_helpers import karina_window, settle

Traced = Callable[[], None]

THEMES = ("light", "dark", "contrast")


@pytest.fixture
def drawer(context: Context, qtbot: QtBot, wait_traced: Traced) -> FlowDrawer:
    """The drawer open on the Karina example, everything computed and drawn."""
    made = FlowDrawer(context)
    qtbot.addWidget(made)
    made.resize(900, 420)
    context.document.start()
    made.show()
    qtbot.waitExposed(made)
    wait_flow(made, qtbot, wait_traced)
    return made


def wait_flow(drawer: FlowDrawer, qtbot: QtBot, wait_traced: Traced) -> None:
    wait_traced()
    qtbot.waitUntil(lambda: drawer.canvas.flow is not None, timeout=30_000)
    wait_traced()


def show(drawer: FlowDrawer, e: Experiment, qtbot: QtBot, wait_traced: Traced) -> None:
    open_experiment(drawer.context, e)
    wait_flow(drawer, qtbot, wait_traced)


def weighted(rows: list[list[float]]) -> Experiment:
    """An experiment whose weights are ``rows``, each of which sums to 1: the scores are their logarithms."""
    scores = np.log(np.array(rows))
    keys = np.eye(scores.shape[1])
    return Experiment.from_qkv(scores, keys, keys, scoring=Scoring(scale=1.0))


def point(drawer: FlowDrawer, side: Side, index: int) -> QPoint:
    """The middle of a token's name."""
    places = drawer.canvas.places
    x = places.left - 20 if side == "query" else places.right + 20
    return QPoint(round(x), round(places.y(side, index)))


def image_of(drawer: FlowDrawer) -> NDArray[Any]:
    """The canvas as it is drawn, [height, width, 3]."""
    image = drawer.canvas.grab().toImage().convertToFormat(QImage.Format.Format_RGB888)
    assert image.devicePixelRatio() == 1
    data = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return data[:, : 3 * image.width()].reshape(image.height(), image.width(), 3).astype(int)


def inked(drawer: FlowDrawer, query: int, key: int) -> float:
    """How thick the line between two tokens is near its ends and in between, the least of these: pixels of ink."""
    places, theme = drawer.canvas.places, drawer.context.look.theme
    drawn, panel = image_of(drawer), np.array(QColor(theme.panel).getRgb()[:3])
    found = []
    for part in (0.3, 0.4, 0.6, 0.7):
        x = round(places.left + part * (places.right - places.left))
        y = places.y("query", query) * (1 - part) + places.y("key", key) * part
        away = np.abs(drawn[round(y) - 8 : round(y) + 9, x] - panel).max(axis=1)
        found.append(float((away > 40).sum()))
    return min(found)


def test_a_line_is_as_thick_as_its_weight_and_a_masked_cell_has_none(
    drawer: FlowDrawer, qtbot: QtBot, wait_traced: Traced
) -> None:
    # far apart, so that no line crosses those that are looked at; masked cells leave 0.9 and 0.1 alone
    rows = [[0.9, 0.1], [0.1, 0.9]]
    show(drawer, weighted(rows), qtbot, wait_traced)
    drawer.context.selection.set_cell(1, 0)
    for theme in THEMES:
        drawer.context.settings.theme = theme
        drawer.canvas.point_at(("query", 0))
        heavy, light = inked(drawer, 0, 0), inked(drawer, 0, 1)
        assert heavy == pytest.approx(0.9 * drawer.canvas.places.one, abs=1.5)
        assert heavy > light + 4 > 4
    e = drawer.context.document.experiment
    masked = replace(e, painted=Painted().with_cells([(0, 1)], False))
    show(drawer, masked, qtbot, wait_traced)
    drawer.canvas.point_at(("query", 0))
    assert inked(drawer, 0, 0) == pytest.approx(drawer.canvas.places.one, abs=1.5)
    drawer.canvas.point_at(("key", 1))
    assert inked(drawer, 0, 1) == 0 < inked(drawer, 1, 1)


def test_what_is_shown_is_said(drawer: FlowDrawer) -> None:
    assert drawer.told.text() == "Head 1: 25 of 25 lines, 100% of the weight"
    assert drawer.canvas.accessibleDescription() == drawer.told.text()
    assert drawer.canvas.accessibleName()


def test_the_threshold_leaves_lines_out_and_says_how_much(
    drawer: FlowDrawer, qtbot: QtBot, wait_traced: Traced
) -> None:
    N = trace(drawer.context.document.experiment).stage("N", 0).astype(float)
    position = next(stop for stop in range(LAST + 1) if weight_at(stop) > 0.2)
    with asks_recorded(drawer.context.feed) as asked:
        drawer.threshold.slider.setValue(position)
    assert ("flow", FlowAsk((0,), (0, 5), (0, 5), weight_at(position))) in asked
    wait_traced()
    kept = N[weight_at(position) <= N]
    assert 0 < len(kept) < 25
    share = f"{100 * kept.sum() / N.sum():.0f}%"
    assert drawer.told.text() == f"Head 1: {len(kept)} of 25 lines, {share} of the weight"
    assert drawer.threshold.told.text() == written(weight_at(position))
    drawer.threshold.slider.setValue(LAST)
    wait_traced()
    assert drawer.told.text() == "Head 1: 0 of 25 lines, 0% of the weight"
    assert drawer.canvas.flow is not None and len(drawer.canvas.flow.weight) == 0
    assert drawer.context.document.session.view["flow_from"] == LAST
    assert not drawer.context.document.undo_stack.canUndo()


def test_stops_of_the_threshold_rise_to_1() -> None:
    stops = [weight_at(position) for position in range(LAST + 1)]
    assert (stops[0], stops[1], stops[-1]) == (0.0, 1e-4, 1.0)
    assert all(a < b for a, b in pairwise(stops))
    assert all(float(written(stop)) == stop for stop in stops)


def test_pointing_at_a_token_isolates_its_lines(drawer: FlowDrawer, qtbot: QtBot) -> None:
    canvas = drawer.canvas
    before = image_of(drawer)
    qtbot.mouseMove(canvas, point(drawer, "query", 4))
    assert canvas.pointed == ("query", 4) and canvas.isolated is not None
    flow = canvas.flow
    assert flow is not None
    assert set(flow.query[canvas.isolated.chosen].tolist()) == {4}
    assert drawer.told.text() == (
        "Query store looks at to 0.2479, the 0.2479, store 0.2078, is 0.1741, karina 0.1223; "
        "5 of 5 lines, 100% of its weight"
    )
    assert canvas.accessibleDescription() == drawer.told.text()
    assert (image_of(drawer) != before).any()
    qtbot.mouseMove(canvas, point(drawer, "key", 0))
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 1.0], [0.5, 1.0]])
    exponentials = np.exp(X @ X.T / np.sqrt(2))
    column = exponentials[:, 0] / exponentials.sum(axis=1)
    assert drawer.told.text() == (
        "Key karina is looked at by karina 0.2384, to 0.1337, the 0.1337, store 0.1223, is 0.1097; "
        f"5 of 5 lines, sum {column.sum():.4f}"
    )
    qtbot.mouseMove(canvas, QPoint(canvas.width() // 2, 100))
    assert canvas.pointed is None
    assert (image_of(drawer) == before).all()
    qtbot.mouseMove(canvas, point(drawer, "key", 0))
    QApplication.sendEvent(canvas, QEvent(QEvent.Type.Leave))
    assert canvas.pointed is None


def test_weights_stand_at_the_other_end(drawer: FlowDrawer) -> None:
    canvas = drawer.canvas
    places = canvas.places

    def written_at(side: Side) -> bool:
        drawn, panel = image_of(drawer), np.array(QColor(drawer.context.look.theme.panel).getRgb()[:3])
        left = round(places.margin) + 4 if side == "query" else round(places.right + places.labels)
        y = round(places.y(side, 0))
        return bool((np.abs(drawn[y - 6 : y + 6, left : left + 60] - panel) > 60).any())

    assert not written_at("query") and not written_at("key")
    canvas.point_at(("query", 2))
    assert written_at("key") and not written_at("query")
    canvas.point_at(("key", 2))
    assert written_at("query") and not written_at("key")


def test_a_click_selects_and_the_selected_query_is_lit(drawer: FlowDrawer, qtbot: QtBot) -> None:
    canvas, selection = drawer.canvas, drawer.context.selection
    for side, index, cell in (("query", 4, (4, 3)), ("key", 0, (4, 0))):
        qtbot.mouseClick(canvas, Qt.MouseButton.LeftButton, pos=point(drawer, side, index))
        assert (selection.query, selection.key) == cell
    QApplication.sendEvent(canvas, QEvent(QEvent.Type.Leave))
    theme, places = drawer.context.look.theme, canvas.places
    band = np.array(QColor(theme.band).getRgb()[:3])
    drawn = image_of(drawer)
    for index in range(5):
        at = drawn[round(places.y("query", index)), round(places.margin) + 12]
        assert bool((at == band).all()) is (index == 4)
    # its lines are blue, those of others grey
    accent = QColor(theme.accent)
    x = round(places.left + 0.02 * (places.right - places.left))
    colours = [QColor(*drawn[round(places.y("query", index)), x].tolist()) for index in range(5)]
    alike = [abs(c.hue() - accent.hue()) < 12 and c.saturation() > 120 for c in colours]
    assert alike == [False, False, False, False, True]


def test_the_keyboard_moves_from_token_to_token(drawer: FlowDrawer, qtbot: QtBot) -> None:
    canvas, selection = drawer.canvas, drawer.context.selection
    canvas.setFocus(Qt.FocusReason.TabFocusReason)
    steps: list[tuple[Qt.Key, tuple[str, int]]] = [
        (Qt.Key.Key_Down, ("query", 1)),  # begins with the selected query
        (Qt.Key.Key_Down, ("query", 2)),
        (Qt.Key.Key_Up, ("query", 1)),
        (Qt.Key.Key_Right, ("key", 1)),
        (Qt.Key.Key_End, ("key", 4)),
        (Qt.Key.Key_Down, ("key", 4)),
        (Qt.Key.Key_Home, ("key", 0)),
        (Qt.Key.Key_PageDown, ("key", 4)),
        (Qt.Key.Key_Left, ("query", 4)),
    ]
    for key, expected in steps:
        qtbot.keyClick(canvas, key)
        assert canvas.pointed == expected
        assert canvas.accessibleDescription().startswith("Query " if expected[0] == "query" else "Key ")
    qtbot.keyClick(canvas, Qt.Key.Key_Return)
    assert (selection.query, selection.key) == (4, 3)
    qtbot.keyClick(canvas, Qt.Key.Key_Right)
    qtbot.keyClick(canvas, Qt.Key.Key_Space)
    assert (selection.query, selection.key) == (4, 4)
    qtbot.keyClick(canvas, Qt.Key.Key_Escape)
    assert canvas.pointed is None
    assert canvas.accessibleDescription() == "Head 1: 25 of 25 lines, 100% of the weight"


def test_the_tooltip_tells_the_whole_name_and_shows_no_markup(
    drawer: FlowDrawer, qtbot: QtBot, wait_traced: Traced
) -> None:
    show(drawer, Experiment.from_tokens(["<b>x", "y" * 60], np.eye(2)), qtbot, wait_traced)
    at = point(drawer, "query", 0)
    assert drawer.canvas.tooltip(at.x(), at.y()) == "<b>&lt;b&gt;x</b><br>query 1 of 2"
    at = point(drawer, "key", 1)
    assert "y" * 60 in drawer.canvas.tooltip(at.x(), at.y())
    assert drawer.canvas.tooltip(drawer.canvas.width() / 2, at.y()) == ""
    QApplication.sendEvent(drawer.canvas, QHelpEvent(QEvent.Type.ToolTip, at, at))


def test_heads_apart_or_the_one_that_is_selected(drawer: FlowDrawer, qtbot: QtBot, wait_traced: Traced) -> None:
    assert not drawer.heads.isVisible() and not drawer.legend.isVisible()
    e = several_heads(4, n=5)
    show(drawer, e, qtbot, wait_traced)
    N = trace(e).stage("N").astype(float)
    assert drawer.heads.isVisible() and not drawer.legend.isVisible()
    drawer.context.selection.set_head("mean")
    wait_traced()
    assert drawer.told.text().startswith("Mean over heads: 25 of 25 lines")
    drawer.context.selection.set_head(2)
    wait_traced()
    flow = drawer.canvas.flow
    assert flow is not None and flow.ask.heads == (2,)
    assert flow.weight.sum() == pytest.approx(N[2].sum())

    drawer.heads.button("all").click()
    wait_traced()
    flow = drawer.canvas.flow
    assert flow is not None and flow.ask.heads == (0, 1, 2, 3) and drawer.legend.isVisible()
    assert drawer.told.text() == "All 4 heads: 100 of 100 lines, 100% of the weight"
    drawer.canvas.point_at(("key", 3))
    isolated = drawer.canvas.isolated
    assert isolated is not None and len(isolated.chosen) == 20
    for i, weight in isolated.ends.items():
        assert weight == pytest.approx(N[:, i, 3].sum())
    colours = drawer.canvas.scene.colours
    assert len({colour.name() for colour in colours}) == 4

    for head in (1, 3):
        drawer.legend.buttons[head].click()
    wait_traced()
    assert drawer.told.text().startswith("Key t3")
    drawer.canvas.point_at(None)
    assert drawer.told.text() == "Heads 1 and 3: 50 of 50 lines, 100% of the weight"
    # a head keeps its colour when others are left out
    assert drawer.canvas.scene.colours == [colours[0], colours[2]]
    drawer.legend.buttons[0].click()
    drawer.legend.buttons[2].click()
    assert drawer.legend.heads == (2,), "one is always drawn"


def test_the_sum_of_heads_is_one_line_as_thick_as_their_weights(
    drawer: FlowDrawer, qtbot: QtBot, wait_traced: Traced
) -> None:
    # one head of a single key each, one of both: 0 looks at 0 with 1 + 0.5, at 1 with 0.5
    scores = np.array([[[0.0, -1e4], [-1e4, 0.0]], [[0.0, 0.0], [0.0, 0.0]]])  # [heads, n_q, n_k]
    keys = np.tile(np.eye(2), (2, 1, 1))
    show(drawer, Experiment.from_qkv(scores, keys, keys, scoring=Scoring(scale=1.0)), qtbot, wait_traced)
    drawer.heads.button("sum").click()
    drawer.threshold.slider.setValue(0)
    wait_traced()
    flow, places = drawer.canvas.flow, drawer.canvas.places
    assert flow is not None and flow.weight.tolist() == [1.5, 1.5, 0.5, 0.5]
    assert drawer.told.text() == "Sum of all 2 heads: 4 of 4 lines, 100% of the weight"
    assert not drawer.canvas.scene.several and drawer.legend.isVisible()
    assert all(button.icon().isNull() for button in drawer.legend.buttons), "lines of one colour"
    drawer.canvas.point_at(("query", 0))
    assert drawer.told.text() == "Query t1 looks at t1 1.5000, t2 0.5000; 2 of 2 lines, 100% of its weight"
    # the whole of both heads is as thick as the whole of one
    assert inked(drawer, 0, 0) == pytest.approx(0.75 * places.one, abs=1.5)
    drawer.canvas.point_at(None)
    drawer.threshold.slider.setValue(LAST - 1)
    wait_traced()
    assert float(drawer.threshold.told.text()) > 1.5 and "0 of 4 lines" in drawer.told.text()
    drawer.threshold.slider.setValue(0)
    drawer.legend.buttons[1].click()
    wait_traced()
    assert drawer.told.text() == "Head 1: 2 of 2 lines, 100% of the weight"
    assert (figure := drawer.figure()) is not None and figure.title == "Flow, head 1"
    drawer.heads.button("all").click()
    assert not any(button.icon().isNull() for button in drawer.legend.buttons)


@pytest.mark.parametrize(
    ("heads", "count", "summed", "name"),
    [
        ((0,), 1, False, "Head 1"),
        (("mean",), 4, False, "Mean over heads"),
        ((0, 1, 3), 5, False, "Heads 1, 2 and 4"),
        ((0, 1), 2, False, "All 2 heads"),
        ((0, 1), 2, True, "Sum of all 2 heads"),
        ((0, 2), 3, True, "Sum of heads 1 and 3"),
        ((2,), 3, True, "Head 3"),
    ],
)
def test_names_of_heads(heads: tuple[Head, ...], count: int, summed: bool, name: str) -> None:
    assert heads_name(FlowAsk(heads, (0, 1), (0, 1), summed=summed), count) == name


def test_an_edit_is_followed_and_fewer_tokens_are_no_fault(
    drawer: FlowDrawer, qtbot: QtBot, wait_traced: Traced
) -> None:
    drawer.canvas.point_at(("key", 4))
    causal = replace(drawer.context.document.experiment, rule=Causal())
    drawer.context.document.apply("Mask", causal)
    wait_traced()
    assert drawer.told.text() == "Key store is looked at by store 0.2078; 1 of 1 line, sum 0.2078"
    show(drawer, Experiment.from_tokens(["a"], [[1.0]]), qtbot, wait_traced)
    image_of(drawer)
    assert drawer.told.text() == "Head 1: 1 of 1 line, 100% of the weight"


def test_an_empty_row_and_one_that_is_no_number(drawer: FlowDrawer, qtbot: QtBot, wait_traced: Traced) -> None:
    blank = Painted().with_cells([(2, j) for j in range(5)], False)
    karina = drawer.context.document.experiment
    show(drawer, replace(karina, painted=blank), qtbot, wait_traced)
    assert drawer.told.text() == "Head 1: 20 of 20 lines, 100% of the weight"
    drawer.canvas.point_at(("query", 2))
    assert drawer.told.text() == "Query to looks at no key in sight; 0 of 0 lines, none of its weight"
    drawer.canvas.point_at(None)
    Q = np.full((3, 2), np.nan)
    Q[0] = 1.0
    show(drawer, Experiment.from_qkv(Q, np.eye(3)[:, :2], np.eye(3)), qtbot, wait_traced)
    assert drawer.told.text().endswith("; 6 weights are not finite and not drawn")
    image_of(drawer)


def test_200_tokens_are_all_in_sight(drawer: FlowDrawer, qtbot: QtBot, wait_traced: Traced) -> None:
    X = np.random.RandomState(0).standard_normal((200, 4))
    show(drawer, Experiment.from_tokens([f"t{i}" for i in range(200)], X), qtbot, wait_traced)
    assert drawer.told.text() == "Head 1: 40,000 of 40,000 lines, 100% of the weight"
    assert drawer.view.places.in_sight("query") == drawer.view.places.in_sight("key") == (0, 200)
    assert all(bar.isHidden() for bar in drawer.view.bars.values())
    drawer.canvas.point_at(("query", 150))
    assert drawer.canvas.isolated is not None and len(drawer.canvas.isolated.chosen) == 200
    # names never lie on one another
    scene = drawer.canvas.scene
    for side in ("query", "key"):
        ys = sorted(scene.names(side).values())
        assert len(ys) > 5 and min(b - a for a, b in pairwise(ys)) >= 11
    assert 150 in scene.names("query")


def wheel(drawer: FlowDrawer, x: float, notches: int, control: bool = False) -> None:
    at = QPointF(x, HEADER + 100.0)
    held = Qt.KeyboardModifier.ControlModifier if control else Qt.KeyboardModifier.NoModifier
    turned = QPoint(0, 120 * notches)
    place, at = drawer.canvas.mapToGlobal(at), drawer.canvas.mapTo(drawer.view, at)
    phase = Qt.ScrollPhase.NoScrollPhase
    event = QWheelEvent(at, place, QPoint(), turned, Qt.MouseButton.NoButton, held, phase, False)
    QApplication.sendEvent(drawer.view, event)


def test_a_long_text_scrolls_and_says_what_is_in_sight(drawer: FlowDrawer, qtbot: QtBot, wait_traced: Traced) -> None:
    drawer.context.feed.memory = 0  # A and N are never held whole
    show(drawer, structured_experiment(1000), qtbot, wait_traced)
    view, places = drawer.view, lambda: drawer.view.places
    first = places().in_sight("query")
    assert first[0] == 0 and first[1] < 200
    shown = f"queries 1–{first[1]} of 1,000; keys 1–{first[1]} of 1,000"
    assert drawer.told.text().endswith(shown)
    wheel(drawer, drawer.canvas.width() / 2, -2)
    assert places().top_q == places().top_k > 0
    wheel(drawer, places().right + 10, -2)
    assert places().top_k > places().top_q
    drawer.context.selection.set_head(1)
    drawer.context.selection.set_cell(800, 0)
    wait_traced()
    start, stop = places().in_sight("query")
    assert start <= 800 < stop and places().in_sight("key")[0] == 0
    drawer.canvas.point_at(("query", 800))
    assert drawer.told.text().startswith("Query ") and " looks at <start> 1.0000" in drawer.told.text()
    view.bars["key"].setValue(view.bars["key"].maximum())
    wait_traced()
    assert "100% goes to keys out of sight" in drawer.told.text() or "over 99% goes" in drawer.told.text()
    # zoomed out as far as it goes, the lines and the tokens of a column are still so many at most
    drawer.canvas.point_at(None)
    for _ in range(20):
        wheel(drawer, drawer.canvas.width() / 2, -1, control=True)
    wait_traced()
    flow = drawer.canvas.flow
    assert flow is not None
    assert flow.ask.queries[1] - flow.ask.queries[0] <= MOST_TOKENS
    assert len(flow.weight) <= MOST_LINES
    image_of(drawer)


def test_zooming_keeps_the_token_at_the_pointer_and_fit_brings_all_back(
    drawer: FlowDrawer, qtbot: QtBot, wait_traced: Traced
) -> None:
    X = np.random.RandomState(0).standard_normal((60, 4))
    show(drawer, Experiment.from_tokens([f"t{i}" for i in range(60)], X), qtbot, wait_traced)
    fitted = drawer.view.places
    before = fitted.token_at(fitted.left - 5, HEADER + 100)
    for _ in range(4):
        wheel(drawer, fitted.width / 2, 1, control=True)
    places = drawer.view.places
    assert places.pitch == pytest.approx(fitted.pitch * 1.25**4)
    after = places.token_at(places.left - 5, HEADER + 100)
    assert before is not None and after is not None and abs(before[1] - after[1]) <= 1
    assert not drawer.view.bars["query"].isHidden()
    drawer.activateWindow()
    qtbot.waitActive(drawer)
    drawer.canvas.setFocus()
    qtbot.keyClick(drawer.canvas, Qt.Key.Key_0)
    qtbot.waitUntil(lambda: drawer.view.places == fitted)
    qtbot.keyClick(drawer.canvas, Qt.Key.Key_Plus)
    assert drawer.view.places.pitch > fitted.pitch
    qtbot.keyClick(drawer.canvas, Qt.Key.Key_Minus)
    qtbot.waitUntil(lambda: drawer.view.places == fitted)


def test_a_drawer_that_is_closed_has_nothing_computed(drawer: FlowDrawer, qtbot: QtBot, wait_traced: Traced) -> None:
    with asks_recorded(drawer.context.feed) as asked:
        drawer.hide()
        drawer.context.selection.set_head("mean")
        drawer.threshold.slider.setValue(10)
    assert asked == [("flow", None)]
    assert drawer.canvas.flow is None
    drawer.show()
    wait_flow(drawer, qtbot, wait_traced)


def test_what_an_exercise_hides_is_not_drawn(drawer: FlowDrawer, qtbot: QtBot, wait_traced: Traced) -> None:
    shown = drawer.context.document.experiment

    def hide(stage: str) -> None:
        named = NamedExperiment("exercise", shown, exercise=Exercise((stage,)))
        drawer.context.document.open(Session((named,)), None)
        wait_traced()

    hide("N")
    assert drawer.canvas.flow is None
    assert drawer.told.text() == HIDDEN
    drawer.canvas.point_at(("query", 1))
    assert drawer.told.text() == HIDDEN and drawer.canvas.accessibleDescription() == HIDDEN
    with qtbot.waitSignal(drawer.context.notices.said) as said:
        drawer.outlet.copy()
    assert said.args is not None and said.args[0].kind == Kind.ERROR
    hide("output")
    assert drawer.canvas.flow is not None and drawer.told.text().startswith("Query is looks at")


def opened(path: Path) -> QImage:
    if path.suffix == ".png":
        return QImage(str(path))
    renderer = QSvgRenderer(str(path))
    assert renderer.isValid()
    image = QImage(renderer.defaultSize(), QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.white)
    with QPainter(image) as painter:
        renderer.render(painter)
    return image


@pytest.mark.parametrize(("name", "scale"), [("flow.png", 1), ("flow.png", 2), ("flow.svg", 1)])
def test_a_saved_picture_shows_the_lines(
    drawer: FlowDrawer, qtbot: QtBot, wait_traced: Traced, tmp_path: Path, name: str, scale: float
) -> None:
    show(drawer, weighted([[0.9, 0.1], [0.1, 0.9]]), qtbot, wait_traced)
    path = tmp_path / name
    with qtbot.waitSignal(drawer.outlet.written, timeout=20_000):
        drawer.outlet.save(path, int(scale))
    image = opened(path)
    figure = drawer.figure()
    assert figure is not None and drawer.context.settings.export_folder == tmp_path
    if path.suffix == ".svg":
        scale = image.width() / figure.size.width()
    assert round(image.height() / scale) == figure.size.height()
    places, (left, top) = figure.places, figure.origin
    panel = QColor(drawer.context.look.theme.panel)

    def ink(i: int, j: int) -> int:
        part = 0.25
        x = left + places.left + part * (places.right - places.left)
        y = top + places.y("query", i) * (1 - part) + places.y("key", j) * part
        column = [
            image.pixelColor(round(x * scale), round(y * scale) + k) for k in range(round(-9 * scale), round(9 * scale))
        ]
        return sum(abs(colour.lightness() - panel.lightness()) > 40 for colour in column)

    assert ink(0, 0) >= 0.6 * 0.9 * places.one * scale
    assert ink(0, 0) > ink(0, 1) > 0


def test_a_picture_of_very_many_lines_has_them_as_an_image(
    drawer: FlowDrawer, qtbot: QtBot, wait_traced: Traced, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flow_figure, "DRAWN_LINES", 399)
    X = np.random.RandomState(0).standard_normal((20, 4))
    show(drawer, Experiment.from_tokens([f"t{i}" for i in range(20)], X), qtbot, wait_traced)
    with qtbot.waitSignal(drawer.outlet.written, timeout=20_000):
        drawer.outlet.save(tmp_path / "flow.svg")
    text = (tmp_path / "flow.svg").read_text(encoding="utf-8")
    assert text.count("<image") == 1 and text.count("<polyline") + text.count("<path") < 300
    assert opened(tmp_path / "flow.svg").pixelColor(0, 0) == QColor(drawer.context.look.theme.panel)


def test_another_ending_is_refused_and_a_copy_is_an_image(drawer: FlowDrawer, tmp_path: Path) -> None:
    drawer.outlet.save(tmp_path / "flow.gif")
    assert not (tmp_path / "flow.gif").exists()
    drawer.outlet.copy()
    figure = drawer.figure()
    assert figure is not None
    assert QGuiApplication.clipboard().image().size() == figure.size * 2
    assert figure.title == "Flow, head 1"
    assert figure.description == "Karina: Head 1: 25 of 25 lines, 100% of the weight"


def test_the_menu_saves_it_also_where_the_drawer_is_closed(qtbot: QtBot, tmp_path: Path) -> None:
    with karina_window(qtbot, tmp_path) as window:
        dock = next(dock for dock in window.docks if dock.objectName() == "flow")
        assert dock.widget() is None, "nothing is made before it is opened"
        action = next(a for a in window.findChildren(QAction) if a.text() == "&Flow as PNG or SVG…")
        action.trigger()
        made = dock.widget()
        assert isinstance(made, FlowDrawer)
        dialog = made.findChild(QFileDialog)
        assert dialog is not None and dialog.isVisible()
        dialog.close()
        settle(qtbot, window)
        qtbot.waitUntil(lambda: made.canvas.flow is not None)
        with qtbot.waitSignal(made.outlet.written, timeout=20_000):
            made.outlet.save(tmp_path / "flow.png")
        assert not QImage(str(tmp_path / "flow.png")).isNull()
        assert dock.toggleViewAction().shortcut().toString() == f"Ctrl+{window.docks.index(dock) + 1}"


def test_of_many_tokens_it_opens_on_those_that_are_selected(
    context: Context, qtbot: QtBot, wait_traced: Traced
) -> None:
    open_experiment(context, structured_experiment(1024))
    context.document.start()
    wait_traced()
    context.selection.set_cell(700, 690)
    made = FlowDrawer(context)
    qtbot.addWidget(made)
    made.resize(900, 260)
    made.show()
    qtbot.waitExposed(made)
    wait_flow(made, qtbot, wait_traced)
    places = made.canvas.places
    assert places.top_q + 1 < 700 < places.top_q + places.rows - 2
    assert places.top_k + 1 < 690 < places.top_k + places.rows - 2
    made.view.bars["query"].setValue(0)
    assert made.canvas.places.top_q == 0, "a person may look elsewhere"


def test_a_smaller_view_of_many_heads_lays_out_once(drawer: FlowDrawer, qtbot: QtBot, wait_traced: Traced) -> None:
    show(drawer, several_heads(12, n=15), qtbot, wait_traced)
    drawer.heads.button("all").click()
    wait_traced()
    # the scroll bars come and go, and with each the width
    for width, height in ((1280, 400), (936, 150), (936, 160), (500, 120), (1280, 500)):
        drawer.resize(width, height)
        QApplication.processEvents()
        places = drawer.canvas.places
        assert (places.width, places.height) == (drawer.canvas.width(), drawer.canvas.height())


def test_of_very_many_heads_all_are_drawn(drawer: FlowDrawer, qtbot: QtBot, wait_traced: Traced) -> None:
    keys = np.tile(np.eye(2), (MOST_BUTTONS + 1, 1, 1))
    show(drawer, Experiment.from_qkv(keys, keys, keys), qtbot, wait_traced)
    drawer.heads.button("all").click()
    wait_traced()
    flow = drawer.canvas.flow
    assert flow is not None and len(flow.ask.heads) == MOST_BUTTONS + 1 and drawer.legend.buttons == []
    show(drawer, several_heads(3, n=2), qtbot, wait_traced)
    assert drawer.legend.heads == (0, 1, 2) and len(drawer.legend.buttons) == 3
