"""Closing the window at once after asking for something: it is done, or the person says that it need not be."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QAbstractButton, QApplication, QMessageBox
from pytestqt.qtbot import QtBot

from attn_gui.control.exports import EXPORT, Order
from attn_gui.control.worker import Priority
from attn_gui.files import session as session_file
from attn_gui.model.masks import Causal
from attn_gui.views import closing
from attn_gui.views.main_window import MainWindow
from tests.views.window_helpers import karina_window


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    with karina_window(qtbot, tmp_path) as made:
        yield made


@pytest.fixture
def hold(window: MainWindow) -> Iterator[threading.Event]:
    """Something that the worker is busy with until the event is set."""
    event = threading.Event()

    def wait() -> Iterator[float]:
        event.wait(20)
        yield 1.0

    window.context.worker.submit("held", wait, Priority.ASK)
    yield event
    event.set()


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Answers the next question by the button of that text; what is asked is in the list."""
    asked: list[str] = []

    def by(text: str, before: Callable[[], None] | None = None) -> list[str]:
        def press() -> None:
            box = QApplication.activeModalWidget()
            if not isinstance(box, QMessageBox) or not box.isVisible():
                QTimer.singleShot(10, press)
                return
            asked.append(box.text())
            buttons = {button.text(): button for button in box.findChildren(QAbstractButton)}
            assert all("&" in name for name in buttons), "each answers to Alt and a letter"
            if before is not None:
                before()
            if text:
                buttons[text].click()

        QTimer.singleShot(10, press)
        return asked

    return by


@pytest.fixture
def nothing_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(box: QMessageBox) -> int:
        raise AssertionError(box.text())

    monkeypatch.setattr(QMessageBox, "exec", asked)


def saves(window: MainWindow, path: Path) -> str:
    return session_file.load(path).experiment.rule.kind if path.exists() else "no file"


@pytest.mark.usefixtures("nothing_asked")
@pytest.mark.parametrize("edited", [False, True])
def test_a_save_that_was_asked_for_reaches_its_file(
    window: MainWindow, hold: threading.Event, tmp_path: Path, edited: bool
) -> None:
    path, document = tmp_path / "work.attn", window.context.document
    if edited:
        document.apply("Mask", replace(document.experiment, rule=Causal()))
    window.services.storage.save(path)
    QTimer.singleShot(100, hold.set)
    assert window.close()
    assert saves(window, path) == ("causal" if edited else "none")


@pytest.mark.usefixtures("nothing_asked")
def test_a_save_that_fails_keeps_the_window_open(window: MainWindow, tmp_path: Path) -> None:
    window.services.storage.save(tmp_path / "missing" / "work.attn")
    assert not window.close()
    assert window.isVisible()
    assert window.close(), "it has been said"


@pytest.mark.parametrize(("press", "closes"), [("&Keep open", False), ("Close &without saving", True)])
def test_a_save_behind_a_long_computation_is_asked_about(
    window: MainWindow,
    hold: threading.Event,
    answer: Callable[..., list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    press: str,
    closes: bool,
) -> None:
    monkeypatch.setattr(closing, "WAIT_MS", 50)
    document = window.context.document
    document.apply("Mask", replace(document.experiment, rule=Causal()))
    window.services.storage.save(tmp_path / "work.attn")
    asked = answer(press)
    assert window.close() is closes
    assert asked == ["Still saving…"]
    hold.set()


def test_the_question_goes_away_once_it_is_saved(
    window: MainWindow,
    hold: threading.Event,
    answer: Callable[..., list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(closing, "WAIT_MS", 50)
    window.services.storage.save(tmp_path / "work.attn")
    asked = answer("", before=hold.set)
    assert window.close()
    assert asked == ["Still saving…"]
    assert saves(window, tmp_path / "work.attn") == "none"


@pytest.fixture
def export(window: MainWindow, hold: threading.Event, tmp_path: Path) -> Path:
    """Where an export, which is held up, is going to write to."""
    path = tmp_path / "N.csv"
    window.services.exports.export(Order("csv", "N", 0), window.context.document.session.named, path)
    return path


def test_an_export_is_waited_for(
    window: MainWindow, hold: threading.Event, export: Path, answer: Callable[..., list[str]], qtbot: QtBot
) -> None:
    asked = answer("&Wait, then close")
    assert not window.close()
    assert asked == ["An export is running: wait for it or cancel it?"]
    assert window.isVisible() and not export.exists()
    hold.set()
    qtbot.waitUntil(lambda: not window.isVisible())
    assert export.read_text(encoding="utf-8").startswith("query,karina")


def test_an_export_is_cancelled(
    window: MainWindow, hold: threading.Event, export: Path, answer: Callable[..., list[str]]
) -> None:
    answer("&Cancel it and close")
    assert window.close()
    assert not window.context.worker.running(EXPORT)
    hold.set()
    assert not export.exists()


def test_an_export_goes_on_in_a_window_that_stays(
    window: MainWindow, hold: threading.Event, export: Path, answer: Callable[..., list[str]], qtbot: QtBot
) -> None:
    answer("&Keep open")
    assert not window.close()
    with qtbot.waitSignal(window.services.exports.finished):
        hold.set()
    assert window.isVisible() and export.exists()


def test_an_export_that_ends_while_asking(
    window: MainWindow, hold: threading.Event, export: Path, answer: Callable[..., list[str]], qtbot: QtBot
) -> None:
    def let_it_end() -> None:
        hold.set()
        qtbot.waitUntil(lambda: not window.services.exports.running)

    answer("&Wait, then close", let_it_end)
    assert window.close()
    assert export.exists()


def test_unsaved_work_is_still_asked_about_and_then_the_export_goes_on(
    window: MainWindow, hold: threading.Event, export: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = window.context.document
    document.apply("Mask", replace(document.experiment, rule=Causal()))
    monkeypatch.setattr(closing.Closing, "_export_may_end", lambda self: True)
    monkeypatch.setattr(QMessageBox, "exec", lambda box: QMessageBox.StandardButton.Cancel)
    assert not window.close()
    assert window.services.exports.running
