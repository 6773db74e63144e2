"""A session whose file of tensors was moved, in the real window: it is asked for, and found."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QMessageBox
from pytestqt.qtbot import QtBot

from attn_gui.files import session as session_file
from attn_gui.files.tensors.looking import look
from attn_gui.files.tensors.opening import session_of
from attn_gui.model.tensors.proposals import propose
from attn_gui.views.main_window import MainWindow
from tests.views.window_helpers import karina_window, settle


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    with karina_window(qtbot, tmp_path) as made:
        yield made


def ended(steps: Any) -> Any:
    while True:
        try:
            next(steps)
        except StopIteration as stopped:
            return stopped.value


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A session whose tensors have gone from ``here`` to ``there``, where another file lies besides."""
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
    for name, number in (("big.npy", 1 / 8), ("other.npy", 1 / 4)):
        np.save(here / name, np.full((3, 8, 8), number))
    contents = ended(look([here / "big.npy"]))
    session_file.save(ended(session_of(contents, propose(contents))), tmp_path / "work.attn")
    for name in ("big.npy", "other.npy"):
        (here / name).rename(there / name)
    return tmp_path / "work.attn"


def test_a_file_that_was_moved_is_asked_for_and_found(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, path: Path, tmp_path: Path
) -> None:
    document, before = window.context.document, window.context.document.session
    answers = [str(tmp_path / "there" / "other.npy"), str(tmp_path / "there" / "big.npy")]
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *arguments: (answers.pop(0), ""))

    def asked() -> QMessageBox:
        qtbot.waitUntil(lambda: window.files.lost.box is not None and window.files.lost.box.isVisible())
        box = window.files.lost.box
        assert box is not None
        return box

    said: list[str] = []
    window.context.notices.said.connect(lambda notice: said.append(notice.text))
    window.files.arriving.take([path])
    box = asked()
    words = box.text() + box.informativeText()
    assert str(tmp_path / "here" / "big.npy") in words and "origin" not in words and "experiments[" not in words
    assert said[-1].startswith("work.attn was not opened: big.npy")
    assert document.session is before
    for _ in range(2):
        assert window.files.lost.locate is not None and window.files.lost.locate.text() == "&Locate big.npy…"
        qtbot.mouseClick(window.files.lost.locate, Qt.MouseButton.LeftButton)
        if answers:
            box = asked()
            assert "another than the one" in box.informativeText() and document.session is before
    qtbot.waitUntil(lambda: document.path == path)
    settle(qtbot, window)
    assert window.files.lost.box is None
    assert document.modified, "where the file is now is not saved yet"
    assert document.session.named.origin is not None
    assert Path(document.session.named.origin.path) == tmp_path / "there" / "big.npy"
    assert window.services.storage.save_and_wait(path)
    assert session_file.load(path).named.origin is not None


def test_who_does_not_know_keeps_what_is_in_the_window(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, path: Path
) -> None:
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *arguments: ("", ""))
    before = window.context.document.session
    for button in ("locate", "cancel"):
        window.files.arriving.take([path])
        qtbot.waitUntil(lambda: window.files.lost.box is not None)
        box = window.files.lost.box
        assert box is not None
        which = window.files.lost.locate if button == "locate" else box.button(QMessageBox.StandardButton.Cancel)
        qtbot.mouseClick(which, Qt.MouseButton.LeftButton)
        assert window.files.lost.box is None and window.context.document.session is before


def locate(window: MainWindow, qtbot: QtBot) -> str:
    """Answer the question that stands in the window; what it said."""
    qtbot.waitUntil(lambda: window.files.lost.box is not None and window.files.lost.box.isVisible())
    box = window.files.lost.box
    assert box is not None
    text = box.text()
    qtbot.mouseClick(window.files.lost.locate, Qt.MouseButton.LeftButton)
    return text


def test_what_a_script_hands_over_asks_as_well(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, path: Path, tmp_path: Path
) -> None:
    there = tmp_path / "there" / "big.npy"
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *arguments: (str(there), ""))
    window.services.storage.take(path)
    text = locate(window, qtbot)
    qtbot.waitUntil(lambda: window.context.document.session.named.origin is not None)
    settle(qtbot, window)
    document = window.context.document
    assert text == f"“{document.session.named.name}” cannot be opened without “big.npy”"
    assert document.session.named.origin is not None and Path(document.session.named.origin.path) == there
    assert document.path is None and not path.exists()


def test_unsaved_work_asks_as_well_and_is_never_put_aside_as_damaged(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, path: Path, tmp_path: Path
) -> None:
    there, recovery = tmp_path / "there" / "big.npy", window.services.recovery
    folder = tmp_path / "profile" / "recovery" / "dead"
    folder.mkdir(parents=True)
    path.rename(folder / "unsaved.attn")
    damaged: list[object] = []
    recovery.damaged.connect(lambda *told: damaged.append(told))
    with qtbot.waitSignal(recovery.found_changed, timeout=10_000):
        recovery.search()
    bar = window.recovery_bar
    assert not damaged and bar.isVisible() and bar.offered is not None
    name = bar.offered.name
    assert name and name in bar.text.text()
    answers = ["", str(there)]
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *arguments: (answers.pop(0), ""))
    before = window.context.document.session
    bar.restore.click()
    assert locate(window, qtbot) == f"“{name}” cannot be opened without “big.npy”"
    assert window.context.document.session is before and bar.isVisible(), "nothing is lost by not knowing"
    bar.restore.click()
    locate(window, qtbot)
    qtbot.waitUntil(lambda: window.context.document.session.named.origin is not None)
    settle(qtbot, window)
    document = window.context.document
    assert document.session.named.name == name and document.modified and not bar.isVisible()
    assert document.session.named.origin is not None and Path(document.session.named.origin.path) == there
