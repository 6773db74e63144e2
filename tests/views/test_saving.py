"""Saving over what somebody else has written meanwhile: the person is asked, and nothing is lost unasked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog, QMessageBox
from pytestqt.qtbot import QtBot

from attn_gui import save as save_layer
from attn_gui.files import session as session_file
from attn_gui.model.edits import rename_tokens
from attn_gui.model.masks import Causal
from attn_gui.model.session import Session
from attn_gui.views.main_window import MainWindow
from tests.views.window_helpers import karina_window


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    with karina_window(qtbot, tmp_path) as made:
        yield made


@pytest.fixture
def shared(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> Path:
    """A file that is open in the window, and that another program has written since."""
    path = tmp_path / "shared.attn"
    first = window.context.document.session
    session_file.save(first, path)
    with qtbot.waitSignal(window.services.storage.opened):
        window.services.storage.open(path)
    session_file.save(renamed(first, "theirs"), path)
    document = window.context.document
    document.apply("Mask", replace(document.experiment, rule=Causal()))
    return path


def renamed(session: Session, token: str) -> Session:
    return session.with_experiment(rename_tokens(session.experiment, "tokens", [0], [token]))


def answer(text: str) -> list[str]:
    """Presses the button of that text in the next question; what is asked is in the list."""
    asked: list[str] = []

    def press() -> None:
        box = QApplication.activeModalWidget()
        if not isinstance(box, QMessageBox) or not box.isVisible():
            QTimer.singleShot(10, press)
            return
        asked.append(box.text())
        {button.text(): button for button in box.findChildren(QAbstractButton)}[text].click()

    QTimer.singleShot(10, press)
    return asked


def first_token(path: Path) -> str:
    return session_file.load(path).experiment.tokens.tokens[0]


def test_nobody_s_changes_are_replaced_unasked(window: MainWindow, shared: Path) -> None:
    asked = answer("&Cancel")
    window.files.save.trigger()
    assert asked == ["Replace “shared.attn”?"]
    assert first_token(shared) == "theirs" and window.context.document.modified


def test_a_layer_that_a_script_adds_to_what_is_open_is_a_change_elsewhere(
    window: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "open.attn"
    save_layer(path, weights=np.eye(3), layer=0)
    with qtbot.waitSignal(window.services.storage.opened):
        window.services.storage.open(path)
    shown = window.context.document.session
    save_layer(path, weights=np.eye(4), layer=1)
    assert window.context.document.session is shown and len(session_file.load(path).experiments) == 2
    asked = answer("&Cancel")
    window.files.save.trigger()
    assert asked == ["Replace “open.attn”?"]
    assert len(session_file.load(path).experiments) == 2
    with qtbot.waitSignal(window.services.storage.opened):
        window.services.storage.open(path)
    with qtbot.waitSignal(window.services.storage.saved):  # what was read anew is replaced unasked
        window.files.save.trigger()
    save_layer(path, weights=np.eye(5))
    assert [named.name for named in session_file.load(path).experiments] == ["Layer 1", "Layer 2", "Layer 3"]


def test_they_are_replaced_where_the_person_says_so_and_then_no_more_is_asked(
    window: MainWindow, shared: Path, qtbot: QtBot
) -> None:
    asked = answer("&Replace")
    with qtbot.waitSignal(window.services.storage.saved):
        window.files.save.trigger()
    assert len(asked) == 1 and first_token(shared) == "karina"
    document = window.context.document
    document.apply("Rename", rename_tokens(document.experiment, "tokens", [0], ["mine"]))
    with qtbot.waitSignal(window.services.storage.saved):
        window.files.save.trigger()
    assert first_token(shared) == "mine"


def test_or_both_are_kept(
    window: MainWindow, shared: Path, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "mine.attn"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(other), ""))
    answer("Save &as…")
    with qtbot.waitSignal(window.services.storage.saved):
        window.files.save.trigger()
    assert first_token(shared) == "theirs" and first_token(other) == "karina"
    assert window.context.document.path == other and not window.context.document.modified


def test_a_file_that_is_gone_is_written_anew(window: MainWindow, shared: Path, qtbot: QtBot) -> None:
    shared.unlink()
    with qtbot.waitSignal(window.services.storage.saved):
        window.files.save.trigger()
    assert first_token(shared) == "karina"


def test_closing_asks_as_well(window: MainWindow, shared: Path, answered: Callable[..., list[str]]) -> None:
    asked = answered("&Save", "&Cancel")
    window.close()
    assert asked[-1] == "Replace “shared.attn”?" and window.isVisible()
    assert first_token(shared) == "theirs"
    window.context.document.undo_stack.undo()


@pytest.fixture
def answered() -> Callable[..., list[str]]:
    """Answers one question after another."""

    def each(*texts: str) -> list[str]:
        asked: list[str] = []
        left = list(texts)

        def press() -> None:
            box = QApplication.activeModalWidget()
            if isinstance(box, QMessageBox) and box.isVisible() and box.text() not in asked:
                asked.append(box.text())
                button = {button.text(): button for button in box.findChildren(QAbstractButton)}[left.pop(0)]
                button.click()
            if left:
                QTimer.singleShot(20, press)

        QTimer.singleShot(10, press)
        return asked

    return each
