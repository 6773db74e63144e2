"""Check my work in the real window."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from attn_gui.views.check.check_drawer import CheckDrawer
from tests.views.window_helpers import karina_window, settle


def test_it_is_the_last_drawer_and_judges_what_is_typed_there(qtbot: QtBot, tmp_path: Path) -> None:
    with karina_window(qtbot, tmp_path) as window:
        dock = window.docks[-1]
        assert dock.windowTitle() == "Check my work"
        keys = dock.toggleViewAction().shortcut().toString()
        assert keys == f"Ctrl+{len(window.docks)}"
        dock.toggleViewAction().trigger()
        drawer = dock.widget()
        assert isinstance(drawer, CheckDrawer)
        qtbot.mouseClick(drawer.printed, Qt.MouseButton.LeftButton)
        settle(qtbot, window)
        assert drawer.summary.text() == "20 of 25 right. All 25 fit √2 taken as 1.41."
        assert not window.context.document.modified
        drawer.table.setFocus()
        qtbot.keyClick(drawer.table, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        settle(qtbot, window)
        assert drawer.given.count() == 0
