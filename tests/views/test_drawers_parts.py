"""The parts that drawers are built from."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from attn_gui.control.feed import Feed
from attn_gui.model.asks import StageAsk
from attn_gui.views.context import Context
from attn_gui.views.drawers.flow import Flow
from attn_gui.views.drawers.gate import Gate
from attn_gui.views.drawers.segments import Segments
from tests.views.drawer_helpers import asks_recorded


@pytest.fixture
def segments(context: Context, qtbot: QtBot) -> Segments:
    made = Segments(context.look, "Fruit", [("a", "Apple"), ("b", "Bean"), ("c", "Cherry")])
    qtbot.addWidget(made)
    made.show()
    qtbot.waitActive(made)
    return made


def test_flow_takes_as_many_lines_as_the_width_asks_for(qtbot: QtBot) -> None:
    widget = QWidget()
    qtbot.addWidget(widget)
    flow = Flow(10, widget)
    labels = [QLabel(str(k)) for k in range(4)]
    for label in labels:
        label.setFixedSize(100, 20)
        flow.addWidget(label)
    assert flow.heightForWidth(430) == 20
    assert flow.heightForWidth(429) == 45
    assert flow.heightForWidth(210) == 45
    assert flow.heightForWidth(100) == 95
    labels[3].hide()
    assert flow.heightForWidth(320) == 20
    assert flow.minimumSize().width() == 100
    widget.resize(210, 200)
    widget.show()
    flow.activate()
    assert [(label.x(), label.y()) for label in labels[:3]] == [(0, 0), (110, 0), (0, 25)]


def test_flow_centres_what_is_lower_than_its_line(qtbot: QtBot) -> None:
    widget = QWidget()
    qtbot.addWidget(widget)
    flow = Flow(10, widget)
    for height in (40, 20):
        label = QLabel()
        label.setFixedSize(50, height)
        flow.addWidget(label)
    widget.resize(200, 100)
    widget.show()
    flow.activate()
    assert [child.y() for child in widget.findChildren(QLabel)] == [0, 10]


def test_flow_within_another_layout_pushes_down_what_follows(qtbot: QtBot) -> None:
    widget = QWidget()
    qtbot.addWidget(widget)
    column = QVBoxLayout(widget)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    flow = Flow(10)
    for _ in range(3):
        label = QLabel()
        label.setFixedSize(100, 20)
        flow.addWidget(label)
    column.addLayout(flow)
    below = QLabel("below")
    column.addWidget(below, 1)
    widget.resize(220, 200)
    widget.show()
    column.activate()
    assert below.y() == 45


def test_one_segment_is_down_and_says_when_another_is_chosen(segments: Segments, qtbot: QtBot) -> None:
    assert segments.value == "a"
    with qtbot.waitSignal(segments.chosen) as said:
        qtbot.mouseClick(segments.button("c"), Qt.MouseButton.LeftButton)
    assert said.args == ["c"]
    with qtbot.assertNotEmitted(segments.chosen):
        segments.show_value("b")
    assert segments.value == "b"


def test_the_arrow_keys_move_and_say_so_once(segments: Segments, qtbot: QtBot) -> None:
    said: list[str] = []
    segments.chosen.connect(said.append)
    segments.button("a").setFocus()
    qtbot.keyClick(segments.button("a"), Qt.Key.Key_Right)
    qtbot.keyClick(segments.button("b"), Qt.Key.Key_Right)
    assert said == ["b", "c"]
    assert segments.button("c").hasFocus()


def test_tab_reaches_the_one_that_is_down(segments: Segments) -> None:
    segments.show_value("b")
    reached = [value for value in segments.values if segments.button(value).focusPolicy() & Qt.FocusPolicy.TabFocus]
    assert reached == ["b"]


def test_none_may_be_down_and_tab_then_reaches_the_first(segments: Segments) -> None:
    segments.show_value(segments.values[1])
    segments.show_value("")
    assert segments.value == ""
    policies = [segments.button(value).focusPolicy() for value in segments.values]
    assert policies == [Qt.FocusPolicy.TabFocus, *[Qt.FocusPolicy.NoFocus] * (len(policies) - 1)]
    segments.show_value("")
    segments.show_value(segments.values[1])
    assert segments.button(segments.values[0]).focusPolicy() == Qt.FocusPolicy.NoFocus


def test_other_choices_take_the_place_of_the_old(segments: Segments) -> None:
    segments.offer([("x", "Xylophone"), ("y", "Yeast")])
    assert segments.values == ["x", "y"]
    assert segments.value == "x"
    assert segments.button("y").accessibleName() == "Fruit: Yeast"


def test_a_gate_keeps_asks_until_it_opens_and_withdraws_them_when_it_closes(context: Context) -> None:
    feed: Feed = context.feed
    gate = Gate(feed, context.worker)
    with asks_recorded(feed) as asked:
        gate.ask("one", StageAsk("Q"))
        gate.ask("two", StageAsk("K"))
        gate.ask("two", None)
        assert asked == []
        gate.set_open(True)
        assert asked == [("one", StageAsk("Q"))]
        gate.ask("one", StageAsk("V"))
        gate.set_open(False)
        gate.ask("one", StageAsk("N"))
        assert asked[1:] == [("one", StageAsk("V")), ("one", None)]


def test_a_gate_passes_on_its_own_answers_after_the_trace(context: Context, qtbot: QtBot) -> None:
    gate = Gate(context.feed, context.worker)
    gate.ask("mine", StageAsk("Q"))
    gate.set_open(True)
    context.feed.ask("another", StageAsk("K"))
    heard: list[str] = []
    gate.traced.connect(lambda trace: heard.append("trace" if gate.trace is trace else "early"))
    gate.answered.connect(lambda slot, answer: heard.append(slot))
    with qtbot.waitSignal(gate.answered, timeout=30_000):
        context.document.start()
    assert heard == ["trace", "mine"]
    assert gate.busy == context.feed.busy
