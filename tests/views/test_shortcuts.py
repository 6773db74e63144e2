"""The list of shortcuts says keys that a person can find."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import QMenuBar
from pytestqt.qtbot import QtBot

from attn_gui.views.main_window import MainWindow
from attn_gui.views.shortcuts import LISTED_AS, Group, ShortcutsDialog, as_text, readable, sheet, shortcuts
from tests.views.window_helpers import karina_window


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


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    with karina_window(qtbot, tmp_path) as made:
        yield made


def rows(dialog: ShortcutsDialog) -> list[tuple[str, str]]:
    table = dialog.table
    return [
        (table.item(row, 0).text(), table.item(row, 1).text())
        for row in range(table.rowCount())
        if not table.isRowHidden(row)
    ]


def test_every_action_with_keys_is_on_the_sheet(window: MainWindow, qtbot: QtBot) -> None:
    window.menus.help.show_page("index.md")  # it has keys of its own
    for dock in window.docks:
        dock.show()
    qtbot.wait(50)
    listed = {key for group in sheet(window.menuBar()) for _, keys in group.rows for key in keys.split(", ")}
    owned = [(action, keys) for action in window.findChildren(QAction) for keys in action.shortcuts()]
    assert len(owned) > 40
    missing = {
        (action.property(LISTED_AS) or action.text(), readable(keys))
        for action, keys in owned
        if not keys.isEmpty() and keys[0].key() < Qt.Key.Key_Back and readable(keys) not in listed
    }
    assert missing == set()
    lone = {readable(s.key()) for s in window.findChildren(QShortcut) if not s.key().isEmpty()}
    assert lone <= listed


def test_the_sheet_has_a_group_for_each_menu_and_says_nothing_twice(window: MainWindow) -> None:
    groups = sheet(window.menuBar())
    titles = [group.title for group in groups]
    assert titles[:2] == ["File", "Edit"] and "Heatmaps, by mouse" in titles and "Help" in titles
    of_menus = [row for group in groups[: titles.index("Tables")] for row in group.rows]
    assert len(of_menus) == len(set(of_menus))
    helping = next(group for group in groups if group.title == "Help").rows
    assert {keys for _, keys in helping} == {"F1", "Ctrl+/", "Shift+F1"}


def test_it_is_narrowed_down_and_copied_as_text(window: MainWindow, qtbot: QtBot) -> None:
    window.menus.help.list.trigger()
    dialog = window.menus.help.keys
    assert dialog is not None
    everything = rows(dialog)
    qtbot.keyClicks(dialog.field, "zoom about")
    assert rows(dialog) == [("Heatmaps, by mouse", ""), ("Zoom about the pointer", "Wheel")]
    dialog.field.setText("nothing of the kind")
    assert rows(dialog) == []
    dialog.field.clear()
    assert rows(dialog) == everything
    dialog.copy.click()
    copied = QGuiApplication.clipboard().text().splitlines()
    for text, keys in everything:
        assert any(line.strip().startswith(text) and line.endswith(keys) for line in copied), text
    dialog.close()


def test_text_in_two_columns() -> None:
    groups = [Group("One", (("Do", "F2"), ("Do more", "Ctrl+D"))), Group("Two", (("Rest", "Esc"),))]
    assert as_text(groups) == "One\n  Do       F2\n  Do more  Ctrl+D\n\nTwo\n  Rest     Esc\n"


def test_enter_in_the_field_copies_and_closes_nothing(window: MainWindow, qtbot: QtBot) -> None:
    dialog = ShortcutsDialog(window.menuBar(), window)
    qtbot.addWidget(dialog)
    dialog.show()
    QGuiApplication.clipboard().setText("before")
    dialog.field.setFocus()
    qtbot.keyClicks(dialog.field, "undo")
    qtbot.keyClick(dialog.field, Qt.Key.Key_Return)
    assert dialog.isVisible() and QGuiApplication.clipboard().text() == "before"
