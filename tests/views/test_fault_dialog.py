"""The dialog of a fault: it says what happened and stops nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from attn_gui.control.faults import install
from attn_gui.views.context import Context
from attn_gui.views.fault_dialog import TITLE, FaultDialog


@pytest.fixture
def dialog(context: Context, qtbot: QtBot, profile: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultDialog]:
    monkeypatch.setattr(sys, "excepthook", lambda kind, error, where: None)
    window = QWidget()
    qtbot.addWidget(window)
    QVBoxLayout(window).addWidget(QLineEdit())
    made = FaultDialog(context, install(profile, window), window)
    window.show()
    yield made
    window.close()


def stumble() -> None:
    raise AttributeError("'Panel' object has no attribute 'titel'")


def stumble_otherwise() -> None:
    raise ZeroDivisionError


def come_upon(qtbot: QtBot, dialog: FaultDialog, fault: Callable[[], None] = stumble) -> None:
    before = dialog.details.toPlainText()
    QTimer.singleShot(0, fault)
    qtbot.waitUntil(lambda: dialog.isVisible() and dialog.details.toPlainText() != before)


def test_out_of_sight_until_something_happens(dialog: FaultDialog) -> None:
    assert not dialog.isVisible()


def test_comes_up_and_says_what_happened(dialog: FaultDialog, qtbot: QtBot, profile: Path) -> None:
    come_upon(qtbot, dialog)
    assert dialog.title.text() == TITLE
    assert "AttributeError in tests/views/test_fault_dialog.py, line " in dialog.text.text()
    assert str(next((profile / "crash").glob("report-*.txt"))) in dialog.text.text()
    assert "no attribute 'titel'" in dialog.details.toPlainText()


def test_stops_nothing(dialog: FaultDialog, qtbot: QtBot, context: Context) -> None:
    come_upon(qtbot, dialog)
    assert not dialog.isModal()
    (field,) = dialog.parentWidget().findChildren(QLineEdit)
    qtbot.keyClicks(field, "goes on")
    assert field.text() == "goes on"
    assert context.document.experiment.tokens.tokens[0] == "karina"


def test_the_same_fault_does_not_come_up_again(dialog: FaultDialog, qtbot: QtBot) -> None:
    come_upon(qtbot, dialog)
    dialog.go_on.click()
    assert not dialog.isVisible()
    QTimer.singleShot(0, stumble)
    qtbot.wait(50)
    assert not dialog.isVisible()
    come_upon(qtbot, dialog, stumble_otherwise)
    assert "AttributeError" not in dialog.details.toPlainText()


def test_two_faults_are_read_together(dialog: FaultDialog, qtbot: QtBot) -> None:
    come_upon(qtbot, dialog)
    come_upon(qtbot, dialog, stumble_otherwise)
    assert "2 faults, the last: ZeroDivisionError" in dialog.text.text()
    assert "AttributeError" in dialog.details.toPlainText()
    assert "ZeroDivisionError" in dialog.details.toPlainText()


def test_details_are_shown_on_demand(dialog: FaultDialog, qtbot: QtBot) -> None:
    come_upon(qtbot, dialog)
    assert not dialog.details.isVisible()
    low = dialog.height()
    qtbot.keyClick(dialog.show_details, Qt.Key.Key_Space)
    assert dialog.details.isVisible()
    assert dialog.height() > low
    qtbot.keyClick(dialog.show_details, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: dialog.height() == low)


def test_copies_the_details(dialog: FaultDialog, qtbot: QtBot) -> None:
    come_upon(qtbot, dialog)
    dialog.copy.click()
    assert QGuiApplication.clipboard().text() == dialog.details.toPlainText()
    assert "clipboard" in dialog.outcome.text()


def test_saves_the_report(dialog: FaultDialog, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def choose(parent: QWidget, caption: str, start: str, kinds: str) -> tuple[str, str]:
        asked.append(start)
        return str(tmp_path / "report.txt"), kinds

    monkeypatch.setattr(QFileDialog, "getSaveFileName", choose)
    come_upon(qtbot, dialog)
    dialog.save.click()
    assert (tmp_path / "report.txt").read_text(encoding="utf-8") == dialog.details.toPlainText()
    assert Path(asked[0]).name.startswith("report-")
    assert str(tmp_path / "report.txt") in dialog.outcome.text()


def test_a_report_that_cannot_be_saved_is_said(
    dialog: FaultDialog, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *a: (str(tmp_path / "no" / "report.txt"), ""))
    come_upon(qtbot, dialog)
    dialog.save.click()
    assert dialog.outcome.text().startswith("report.txt was not saved: expected a folder that exists")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *a: ("", ""))
    dialog.save.click()
    assert dialog.isVisible()


def test_escape_and_return_go_on(dialog: FaultDialog, qtbot: QtBot) -> None:
    come_upon(qtbot, dialog)
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
    come_upon(qtbot, dialog, stumble_otherwise)
    qtbot.keyClick(dialog, Qt.Key.Key_Return)
    assert not dialog.isVisible()


def test_where_nothing_can_be_written(
    context: Context, qtbot: QtBot, profile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "excepthook", lambda kind, error, where: None)
    profile.write_text("a file where the folder should be")
    window = QWidget()
    qtbot.addWidget(window)
    dialog = FaultDialog(context, install(profile, window), window)
    come_upon(qtbot, dialog)
    assert "could not be written; copy or save it from here" in dialog.text.text()
