"""The list of shortcuts says keys that a person can find."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenuBar
from pytestqt.qtbot import QtBot

from attn_gui.views.shortcuts import shortcuts


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        (["Ctrl+Shift+Z", "Redo", "Ctrl+Y"], "Ctrl+Shift+Z, Ctrl+Y"),
        (["Ctrl+Shift++"], "Ctrl+Shift+Plus"),
        (["Ctrl+-"], "Ctrl+Minus"),
        (["+", "="], "+, ="),
        (["[", "Alt+PgUp", "F11", "Del"], "[, Alt+PgUp, F11, Del"),
    ],
)
def test_keys_are_readable_and_on_any_keyboard(qtbot: QtBot, keys: list[str], text: str) -> None:
    bar = QMenuBar()
    qtbot.addWidget(bar)
    menu = bar.addMenu("&Menu")
    action = QAction("&Do", menu)
    action.setShortcuts([QKeySequence(key) for key in keys])
    menu.addAction(action)
    assert shortcuts(bar) == [("Do", text)]


def test_what_only_some_keyboards_have_is_not_listed(qtbot: QtBot) -> None:
    bar = QMenuBar()
    qtbot.addWidget(bar)
    menu = bar.addMenu("&Menu")
    action = QAction("&Paste", menu)
    action.setShortcut(QKeySequence("Paste"))
    menu.addAction(action)
    assert shortcuts(bar) == []
