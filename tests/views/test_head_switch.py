"""HeadSwitch: arrows, list, keys and the mean."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QToolButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from attn_gui.views.context import Context
from attn_gui.views.head_switch import HeadSwitch
from tests.views.drawer_helpers import open_experiment, several_heads


@pytest.fixture
def switch(context: Context, qtbot: QtBot) -> Iterator[HeadSwitch]:
    window = QWidget()
    made = HeadSwitch(context, window)
    layout = QVBoxLayout(window)
    layout.addWidget(made)
    layout.addWidget(QLineEdit(objectName="line"))
    qtbot.addWidget(window)
    window.show()
    qtbot.waitActive(window)
    yield made
    window.close()


def test_one_head_needs_no_switch(switch: HeadSwitch, context: Context) -> None:
    assert not switch.isVisible()
    assert not any(action.isEnabled() for action in switch.actions_for_menu())
    open_experiment(context, several_heads())
    assert switch.isVisible()
    assert switch.choice.currentText() == "1 of 4"


def test_the_list_picks_each_head_and_the_mean(switch: HeadSwitch, context: Context) -> None:
    open_experiment(context, several_heads())
    assert [switch.choice.itemText(k) for k in range(5)] == [
        "1 of 4",
        "2 of 4",
        "3 of 4",
        "4 of 4",
        "Mean",
    ]
    for index, head in ((2, 2), (4, "mean"), (0, 0)):
        switch.choice.setCurrentIndex(index)
        switch.choice.activated.emit(index)
        assert context.selection.head == head


def test_arrows_go_through_the_heads_to_the_mean_and_stop(switch: HeadSwitch, context: Context, qtbot: QtBot) -> None:
    open_experiment(context, several_heads(3))
    back, on = switch.findChildren(QToolButton)
    assert not back.isEnabled()
    seen = []
    while on.isEnabled():
        qtbot.mouseClick(on, Qt.MouseButton.LeftButton)
        seen.append(context.selection.head)
    assert seen == [1, 2, "mean"]
    qtbot.mouseClick(back, Qt.MouseButton.LeftButton)
    assert context.selection.head == 2


def test_keys_change_the_head_but_not_while_one_types(switch: HeadSwitch, context: Context, qtbot: QtBot) -> None:
    open_experiment(context, several_heads())
    switch.choice.setFocus()
    qtbot.keyClick(switch.choice, Qt.Key.Key_PageDown, Qt.KeyboardModifier.AltModifier)
    assert context.selection.head == 1
    qtbot.keyClick(switch.choice, "]")
    assert context.selection.head == 2
    qtbot.keyClick(switch.choice, "[")
    qtbot.keyClick(switch.choice, Qt.Key.Key_PageUp, Qt.KeyboardModifier.AltModifier)
    assert context.selection.head == 0
    line = switch.window().findChild(QLineEdit, "line")
    assert isinstance(line, QLineEdit)
    line.setFocus()
    qtbot.keyClicks(line, "]")
    assert line.text() == "]"
    assert context.selection.head == 0


def test_what_is_chosen_elsewhere_is_shown(switch: HeadSwitch, context: Context) -> None:
    open_experiment(context, several_heads())
    context.selection.set_head("mean")
    assert switch.choice.currentText() == "Mean"
    assert switch.mean.isChecked()
    switch.mean.trigger()
    assert context.selection.head == 0
    switch.mean.trigger()
    assert context.selection.head == "mean"
    open_experiment(context, several_heads(2))
    assert switch.choice.count() == 3
    assert switch.choice.currentText() == "Mean"


def test_controls_are_named(switch: HeadSwitch) -> None:
    assert switch.choice.accessibleName() == "Head shown"
    assert [button.accessibleName() for button in switch.findChildren(QToolButton)] == ["Previous head", "Next head"]
