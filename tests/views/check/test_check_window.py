"""Check my work in the real window."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from attn_gui.control import recovery
from attn_gui.files import session as session_file
from attn_gui.views.check.check_drawer import CheckDrawer
from attn_gui.views.main_window import MainWindow
from tests.views.window_helpers import karina_window, settle


def opened(window: MainWindow) -> CheckDrawer:
    dock = next(dock for dock in window.docks if dock.objectName() == "check")
    dock.toggleViewAction().trigger()
    drawer = dock.widget()
    assert isinstance(drawer, CheckDrawer)
    return drawer


def test_what_is_typed_there_is_judged(qtbot: QtBot, tmp_path: Path) -> None:
    with karina_window(qtbot, tmp_path) as window:
        drawer = opened(window)
        qtbot.mouseClick(drawer.printed, Qt.MouseButton.LeftButton)
        settle(qtbot, window)
        assert drawer.summary.text() == "20 of 25 right. All 25 fit √2 taken as 1.41."
        drawer.table.setFocus()
        qtbot.keyClick(drawer.table, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        settle(qtbot, window)
        assert drawer.given.count() == 0


def test_what_is_typed_there_is_work_that_a_file_has_to_hold(qtbot: QtBot, tmp_path: Path) -> None:
    with karina_window(qtbot, tmp_path) as window:
        document, drawer = window.context.document, opened(window)
        assert drawer.model.set_block(0, 0, [["0.71"]], "Edit") is None
        assert document.modified and window.isWindowModified()
        # a kill would not lose it either
        kept = window.services.recovery._own.path
        qtbot.waitUntil(lambda: kept.exists(), timeout=recovery.DELAY_MS + 20_000)
        assert session_file.load(kept).view["check"]["Karina"]
        assert drawer.model.set_block(0, 1, [["0.5"]], "Edit") is None
        qtbot.waitUntil(
            lambda: session_file.load(kept).view["check"]["Karina"][0]["rows"][0].startswith("0.71\t0.5"),
            timeout=recovery.DELAY_MS + 20_000,
        )
        path = tmp_path / "mine.attn"
        assert window.services.storage.save_and_wait(path)
        assert not document.modified
        assert drawer.model.set_block(0, 1, [["0.7"]], "Edit") is None
        assert document.modified
        drawer.work.undo_stack.undo()
        assert not document.modified
        drawer.show_stage("N")  # a choice of view is none
        assert not document.modified
        window.open_example("cat")
        assert not document.modified, "what was typed belongs to the other example"
        document.undo_stack.undo()
        assert drawer.work.table(("A", 0)).cells[0][:2] == ("0.71", "0.5") and not document.modified
