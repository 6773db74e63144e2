"""Without torch the window opens, says why nothing is computed, and everything can be edited and saved."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from attn_gui import torch_loading
from attn_gui.app import open_window
from attn_gui.control.worker import Priority, at_once
from attn_gui.files import examples
from attn_gui.files import session as session_files
from attn_gui.model.session import Session
from attn_gui.views.fault_dialog import FaultDialog
from attn_gui.views.main_window import MainWindow
from tests.views.window_helpers import type_in

WHY = "torch is not installed. To install it: pip"


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MainWindow]:
    import sys

    # as where nothing of what computes has been imported yet
    for name in [name for name in sys.modules if name.startswith("attn_gui.compute")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(torch_loading, "_failure", lambda: WHY)
    made = open_window(Session((examples.load("karina"),)), tmp_path / "profile")
    made.show()
    qtbot.waitUntil(made.torch_bar.isVisible)
    yield made
    made.context.document.open(made.context.document.session, None)
    made.close()
    made.context.worker.close()
    made.deleteLater()
    QApplication.processEvents()


def test_says_why_and_that_all_else_goes_on(window: MainWindow, qtbot: QtBot) -> None:
    said = window.torch_bar.text.text()
    assert WHY in said
    assert "everything can be edited and saved" in said
    assert window.torch_bar.accessibleDescription() == said
    window.torch_bar.copy.click()
    assert QGuiApplication.clipboard().text() == said
    assert not any(dialog.isVisible() for dialog in window.findChildren(FaultDialog))
    shown = [label.text() for label in window.findChildren(QLabel) if label.isVisible()]
    assert "starting torch" not in shown
    assert shown.count("nothing computed yet") >= 3


def test_everything_can_be_edited_and_saved(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    type_in(qtbot, window.formula.tokens.table, 0, 1, "7.5")
    document = window.context.document
    assert document.experiment.tokens.embeddings[0, 0] == 7.5
    with qtbot.waitSignal(window.services.storage.saved):
        window.services.storage.save(tmp_path / "kept.attn")
    assert session_files.load(tmp_path / "kept.attn").named.experiment.tokens.embeddings[0, 0] == 7.5
    document.undo_group.undo()
    assert document.experiment.tokens.embeddings[0, 0] == 1


def test_put_away_it_stays_away(window: MainWindow, qtbot: QtBot) -> None:
    window.torch_bar.later.click()
    type_in(qtbot, window.formula.tokens.table, 0, 1, "3")
    qtbot.waitUntil(lambda: not window.context.worker.busy)
    qtbot.wait(20)
    assert not window.torch_bar.isVisible()


def test_what_else_would_compute_says_so_and_is_no_fault(window: MainWindow, qtbot: QtBot) -> None:
    window.menus._show_about()
    assert window.menus.about is not None
    about = window.menus.about
    qtbot.waitUntil(lambda: about.computes_on.text() == WHY)
    qtbot.waitUntil(lambda: not window.context.worker.busy)
    about.close()
    # somebody that expects no failure of its own
    window.context.worker.submit("trace", at_once(compute), Priority.ASK)
    qtbot.waitUntil(lambda: not window.context.worker.busy)
    qtbot.wait(20)
    assert not any(dialog.isVisible() for dialog in window.findChildren(FaultDialog))


def compute() -> None:
    import attn_gui.compute.trace  # noqa: F401
