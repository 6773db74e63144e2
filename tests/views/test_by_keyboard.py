"""The main job by keyboard alone, told what a screen reader is told."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from attn_gui.model.masks import Causal
from attn_gui.views.main_window import MainWindow
from tests.views.window_helpers import karina_window, settle

MOST_TABS = 60


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    with karina_window(qtbot, tmp_path) as made:
        yield made


def tree(interface: QAccessibleInterface, depth: int = 0) -> Iterator[QAccessibleInterface]:
    """Every interface at and below ``interface``."""
    yield interface
    for index in range(interface.childCount()):
        child = interface.child(index)
        if child is not None and child.isValid():
            yield from tree(child, depth + 1)


def name_of(interface: QAccessibleInterface) -> str:
    return interface.text(QAccessible.Text.Name)


def found(window: QWidget, role: QAccessible.Role, name: str) -> QAccessibleInterface:
    """The one element with ``role`` whose name begins with ``name``."""
    whole = QAccessible.queryAccessibleInterface(window)
    matching = [e for e in tree(whole) if e.role() == role and name_of(e).startswith(name)]
    assert len(matching) == 1, [name_of(e) for e in tree(whole) if e.role() == role]
    return matching[0]


def tab_to(qtbot: QtBot, there: Callable[[QWidget], bool]) -> QWidget:
    """Press Ctrl+Tab, which leaves tables as well, until the focus is ``there``."""
    for _ in range(MOST_TABS):
        focused = QApplication.focusWidget()
        assert focused is not None
        if there(focused):
            return focused
        qtbot.keyClick(focused, Qt.Key.Key_Tab, Qt.KeyboardModifier.ControlModifier)
        if QApplication.focusWidget() is focused:
            qtbot.keyClick(focused, Qt.Key.Key_Tab)
    raise AssertionError("the focus never came there")


def press(qtbot: QtBot, *keys: Qt.Key) -> None:
    for key in keys:
        focused = QApplication.focusWidget()
        assert focused is not None
        qtbot.keyClick(focused, key)


def test_edit_mask_read_and_export(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    document = window.context.document

    # edit: the token table's cell tells its token, its dimension and its number
    table = tab_to(qtbot, lambda w: w is window.formula.tokens.table)
    cell = found(window, QAccessible.Role.Cell, "token is, x1, 0")
    assert cell.isValid()
    press(qtbot, Qt.Key.Key_Right)
    row = document.experiment.tokens.tokens.index("is")
    window_cell = window.formula.tokens.table.currentIndex()
    assert (window_cell.row(), window_cell.column()) == (row, 1)
    qtbot.keyClicks(table, "2")
    press(qtbot, Qt.Key.Key_Return)
    settle(qtbot, window)
    assert document.experiment.tokens.embeddings[row, 0] == 2.0

    # mask: the dropdown has a name, and the arrow keys choose
    kind = QAccessible.queryAccessibleInterface(window.top_bar.masking.kind)
    labels = [name_of(label) for label, _ in kind.relations(QAccessible.RelationFlag.Label)]
    assert labels == ["Mask"] and name_of(kind) == "None", "on Linux a dropdown's name is its value"
    qtbot.keyClick(window, Qt.Key.Key_M, Qt.KeyboardModifier.AltModifier)
    assert QApplication.focusWidget() is window.top_bar.masking.kind
    press(qtbot, Qt.Key.Key_Down)
    settle(qtbot, window)
    assert document.experiment.rule == Causal()

    # read: the arrow keys go from cell to cell, and each says what it is
    plot = tab_to(qtbot, lambda w: w is window.formula.weights.heatmap.plot)
    qtbot.keyClick(plot, Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)
    press(qtbot, Qt.Key.Key_Down)
    settle(qtbot, window)
    X = document.experiment.tokens.embeddings.array()
    scores = np.exp(X[1] @ X[:2].T / np.sqrt(2))
    spoken = QAccessible.queryAccessibleInterface(plot).text(QAccessible.Text.Description)
    assert f"query is, key karina, head 1, weight {scores[0] / scores.sum():.4f}, allowed" in spoken
    press(qtbot, Qt.Key.Key_Right, Qt.Key.Key_Right)
    settle(qtbot, window)
    spoken = QAccessible.queryAccessibleInterface(plot).text(QAccessible.Text.Description)
    assert "query is, key to" in spoken and "masked" in spoken

    # export: the dialog is filled in and carried out
    qtbot.keyClick(plot, Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier)
    dialog = window.files.dialog
    assert dialog is not None
    qtbot.waitUntil(lambda: dialog.isAncestorOf(QApplication.focusWidget()), timeout=10_000)
    field = tab_to(qtbot, lambda w: w is dialog.path)
    assert isinstance(field, QLineEdit)
    target = tmp_path / "by keyboard.csv"
    field.selectAll()
    qtbot.keyClicks(field, str(target))
    with qtbot.waitSignal(window.services.exports.finished, timeout=10_000):
        press(qtbot, Qt.Key.Key_Return)
    with target.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines))
    assert rows[0][1:] == list(document.experiment.tokens.tokens)
    assert float(rows[2][1]) == pytest.approx(scores[0] / scores.sum(), rel=1e-6)
    dialog.close()


def test_no_key_means_two_things(window: MainWindow) -> None:
    letters = [action.text() for action in window.menuBar().actions()]
    letters += [label.text() for label in window.findChildren(QLabel) if label.buddy() and label.isVisible()]
    letters += [window.more.text()]
    mnemonics = Counter(text[text.index("&") + 1].lower() for text in letters if "&" in text)
    assert [letter for letter, count in mnemonics.items() if count > 1] == []
    actions = [a for a in window.findChildren(type(window.menuBar().actions()[0])) if not a.shortcut().isEmpty()]
    # a table's own keys act while it has the focus, those of the window everywhere
    keys = Counter(
        (shortcut.toString(), action.shortcutContext())
        for action in set(actions)
        for shortcut in action.shortcuts()
        if action.shortcutContext() == Qt.ShortcutContext.WindowShortcut
    )
    assert [key for key, count in keys.items() if count > 1] == []
