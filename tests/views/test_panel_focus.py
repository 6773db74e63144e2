"""F6 goes round the panels and the open drawers; Ctrl+Tab leaves a table; Ctrl+/ tells of both."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QLineEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from attn_gui.views.about_dialog import AboutDialog
from attn_gui.views.main_window import MainWindow
from attn_gui.views.shortcuts import ShortcutsDialog, shortcuts
from tests.views.window_helpers import karina_window, settle

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    with karina_window(qtbot, tmp_path) as made:
        yield made


def focused() -> QWidget:
    widget = QApplication.focusWidget()
    assert widget is not None
    return widget


def round_trip(qtbot: QtBot, window: MainWindow, presses: int, back: bool = False) -> list[QWidget]:
    stops = []
    for _ in range(presses):
        qtbot.keyClick(focused(), Qt.Key.Key_F6, SHIFT if back else Qt.KeyboardModifier.NoModifier)
        stops.append(focused())
    return stops


def test_f6_goes_round_the_panels_both_ways(window: MainWindow, qtbot: QtBot) -> None:
    formula = window.formula
    panels = [formula.tokens.table, formula.scores.heatmap.plot, formula.weights.heatmap.plot, formula.output.table]
    window.top_bar.variant.setFocus()
    assert round_trip(qtbot, window, 5) == [*panels, panels[0]]
    assert round_trip(qtbot, window, 4, back=True) == [*panels[:0:-1], panels[0]]
    window.top_bar.variant.setFocus()
    assert round_trip(qtbot, window, 1, back=True) == [panels[-1]]


def test_f6_visits_open_drawers_and_tables_in_place_of_heatmaps(window: MainWindow, qtbot: QtBot) -> None:
    weights, stages = window.docks[:2]
    weights.show()
    stages.show()
    window.formula.weights.heatmap.show_table(True)
    settle(qtbot, window)
    window.formula.tokens.table.setFocus()
    stops = round_trip(qtbot, window, 6)
    assert stops[1] is window.formula.weights.heatmap.twin
    assert weights.isAncestorOf(stops[3]) and stages.isAncestorOf(stops[4])
    assert stages.widget().isVisible() and not stages.widget().visibleRegion().isEmpty()
    assert stops[5] is window.formula.tokens.table
    # a drawer is entered where it was left
    children = [w for w in weights.findChildren(QWidget) if w.isVisibleTo(weights) and w.isEnabled()]
    there = [w for w in children if w.focusPolicy() & Qt.FocusPolicy.TabFocus]
    weights.raise_()
    there[-1].setFocus()
    window.formula.output.table.setFocus()
    assert round_trip(qtbot, window, 1) == [there[-1]]


def test_f6_from_a_cell_that_is_typed_in_takes_what_was_typed(window: MainWindow, qtbot: QtBot) -> None:
    table = window.formula.tokens.table
    table.setFocus()
    table.go_to(0, 1)
    qtbot.keyClicks(table, "7")
    qtbot.keyClick(focused(), Qt.Key.Key_F6)
    assert focused() is window.formula.scores.heatmap.plot
    assert window.context.document.experiment.tokens.embeddings[0, 0] == 7


def test_ctrl_tab_leaves_a_table_both_ways(window: MainWindow, qtbot: QtBot) -> None:
    table = window.formula.tokens.table
    for table in (window.formula.tokens.table, window.formula.output.table):
        for modifiers, key in ((CTRL, Qt.Key.Key_Tab), (CTRL | SHIFT, Qt.Key.Key_Backtab)):
            table.setFocus()
            table.go_to(1, 1)
            qtbot.keyClick(table, key, modifiers)
            assert not table.hasFocus() and not table.isAncestorOf(focused())
            assert (table.currentIndex().row(), table.currentIndex().column()) == (1, 1)


def test_ctrl_tab_ends_an_edit_and_leaves(window: MainWindow, qtbot: QtBot) -> None:
    table = window.formula.tokens.table
    table.setFocus()
    table.go_to(0, 1)
    qtbot.keyClicks(table, "7")
    editor = table.findChild(QLineEdit)
    assert editor is not None
    qtbot.keyClick(editor, Qt.Key.Key_Tab, CTRL)
    assert window.context.document.experiment.tokens.embeddings[0, 0] == 7
    assert not table.isAncestorOf(focused()) and focused() is not table
    table.go_to(0, 1)
    table.setFocus()
    qtbot.keyClicks(table, "x")
    qtbot.keyClick(focused(), Qt.Key.Key_Tab, CTRL)
    assert table.held, "what was refused is not left behind"


def test_the_list_of_keys_has_one_line_for_each_action(window: MainWindow, qtbot: QtBot) -> None:
    document = window.context.document
    document.apply("Text to tokens", document.experiment)
    listed = shortcuts(window.menuBar())
    texts = [text for text, _ in listed]
    assert [text for text, count in Counter(texts).items() if count > 1] == []
    assert "Undo" in texts and "Redo" in texts
    assert not any("Text to tokens" in text for text in texts)
    assert ("Next panel", "F6") in listed and ("Previous panel", "Shift+F6") in listed
    assert ("Scores A, Weights N: copy matrix", "Ctrl+Shift+C") in listed
    assert ("Tables: copy", "Ctrl+C") in listed
    everywhere = {keys.toString() for a in window.findChildren(QAction) if a.text() for keys in a.shortcuts()}
    spelled = {
        re.sub(r"(?<=\+)(\+|-)$", lambda sign: {"+": "Plus", "-": "Minus"}[sign[0]], keys) for keys in everywhere
    }
    assert {key for _, keys in listed for key in keys.split(", ")} <= spelled


def test_the_list_is_shown_beside_the_window(window: MainWindow, qtbot: QtBot) -> None:
    for _ in range(2):
        qtbot.keyClick(window, Qt.Key.Key_Slash, CTRL)
    (dialog,) = window.findChildren(ShortcutsDialog)
    assert dialog.isVisible() and not dialog.isModal()
    assert dialog.table.item(0, 0).text() == "File"
    assert dialog.table.horizontalHeader().defaultAlignment() & Qt.AlignmentFlag.AlignLeft
    dialog.close()


def test_name_and_note_stands_in_the_file_menu(window: MainWindow, qtbot: QtBot) -> None:
    files = window.files
    (menu,) = [a.menu() for a in window.menuBar().actions() if a.text() == "&File"]
    actions = menu.actions()
    assert files.describe in actions
    files.describe.trigger()
    assert files.names is not None and files.names.isVisible()
    files.names.name.setText("My lesson")
    files.names.accept()
    settle(qtbot, window)
    assert window.context.document.session.named.name == "My lesson"
    assert window.windowTitle().startswith("My lesson")


def test_about_has_letters(qtbot: QtBot, window: MainWindow) -> None:
    (menu,) = [a.menu() for a in window.menuBar().actions() if a.text() == "&Help"]
    menu.actions()[-1].trigger()
    (dialog,) = window.findChildren(AboutDialog)
    buttons = [button.text() for button in dialog.findChildren(QPushButton) if button.isVisible()]
    assert buttons and all("&" in text for text in buttons)
    dialog.close()
