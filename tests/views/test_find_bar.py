"""Go to token: by number, by name, by a part of it; the keyboard alone does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from attn_gui.model.experiment import Experiment
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.model.tokens import TokenSequence
from attn_gui.views.context import Context
from attn_gui.views.find_bar import FindBar, matches
from tests.views.window_helpers import karina_window

WORDS = ["the", "cat", "sat", "on", "The", "mat", "3", "there"]
E = Experiment.from_tokens(WORDS, np.eye(8))
CROSS = Experiment.from_tokens(["a", "b"], np.eye(2), context=TokenSequence.of(["x", "cat"], np.eye(2)))


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("", []),
        ("cat", [1]),
        ("THE", [0, 4, 7]),
        ("at", [1, 2, 5]),
        ("3", [2, 6]),
        ("#8", [7]),
        ("9", []),
        ("dog", []),
        ("99999999999999999999", []),
    ],
)
def test_what_a_text_may_mean(text: str, places: list[int]) -> None:
    assert matches(E, text) == [("query", place) for place in places]


def test_a_key_of_another_sequence() -> None:
    assert matches(CROSS, "cat") == [("key", 1)]
    assert matches(CROSS, "2") == [("query", 1)]


@pytest.fixture
def shown(context: Context) -> list[tuple[int, int]]:
    context.document.open(Session((NamedExperiment("words", E),)), None)
    return []


@pytest.fixture
def bar(qtbot: QtBot, context: Context, shown: list[tuple[int, int]]) -> FindBar:
    made = FindBar(context, lambda query, key: shown.append((query, key)))
    qtbot.addWidget(made)
    return made


def test_enter_goes_round_the_matches(
    qtbot: QtBot, context: Context, bar: FindBar, shown: list[tuple[int, int]]
) -> None:
    bar.open()
    qtbot.keyClicks(bar.field, "the")
    assert bar.found.text() == "3 found"
    for place, words in ((0, "1 of 3"), (4, "2 of 3"), (7, "3 of 3"), (0, "1 of 3")):
        qtbot.keyClick(bar.field, Qt.Key.Key_Return)
        assert (context.selection.query, context.selection.key) == (place, place)
        assert shown[-1] == (place, place)
        assert bar.found.text() == words
    qtbot.keyClick(bar.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert context.selection.query == 7
    bar.field.setText("dog")
    assert bar.found.text() == "No token is called so"
    assert not bar.on.isEnabled()
    qtbot.keyClick(bar.field, Qt.Key.Key_Return)
    assert context.selection.query == 7


def test_an_edit_makes_it_search_anew(context: Context, bar: FindBar) -> None:
    bar.open()
    bar.field.setText("cat")
    context.document.apply("Rename", Experiment.from_tokens(["cat"] * 8, np.eye(8)))
    assert bar.found.text() == "8 found"


def test_escape_closes_it_and_gives_the_focus_back(qtbot: QtBot, context: Context) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    column = QVBoxLayout(window)
    field, bar = QLineEdit(), FindBar(context, lambda query, key: None)
    column.addWidget(field)
    column.addWidget(bar)
    window.show()
    window.activateWindow()
    field.setFocus()
    qtbot.waitUntil(field.hasFocus)
    bar.open()
    assert bar.isVisible()
    assert bar.field.hasFocus()
    qtbot.keyClick(bar.field, Qt.Key.Key_Escape)
    assert not bar.isVisible()
    assert field.hasFocus()


def test_an_editor_that_closes_meanwhile_is_no_place_to_go_back_to(qtbot: QtBot, tmp_path: Path) -> None:
    with karina_window(qtbot, tmp_path) as window:
        table = window.formula.tokens.table
        table.setFocus()
        table.go_to(0, 1)
        qtbot.keyClick(table, Qt.Key.Key_F2)
        assert table.editing is not None
        window.find_bar.open()
        qtbot.keyClicks(window.find_bar.field, "to")
        qtbot.keyClick(window.find_bar.field, Qt.Key.Key_Return)
        QApplication.processEvents()
        qtbot.keyClick(window.find_bar.field, Qt.Key.Key_Escape)
        assert not window.find_bar.isVisible() and window.focusWidget() is table
