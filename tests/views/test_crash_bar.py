"""A crash is told of in one line at the next start, with the report at hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel
from pytestqt.qtbot import QtBot

from attn_gui.app import open_window
from attn_gui.control import fatal_log, fault_reports
from attn_gui.files import examples
from attn_gui.model.session import Session
from attn_gui.views.crash_bar import CrashBar
from attn_gui.views.fault_dialog import EARLIER, FaultDialog
from attn_gui.views.main_window import MainWindow
from tests.views.window_helpers import settle

STACK = 'Fatal Python error: Segmentation fault\n\nThread 0x1 (most recent call first):\n  File "x.py", line 3 in f\n'


def crashed(profile: Path, name: str) -> None:
    (profile / fault_reports.FOLDER).mkdir(parents=True, exist_ok=True)
    log = profile / fault_reports.FOLDER / f"{fatal_log.FATAL}{name}.log"
    log.write_text(f"attn_gui 0.1.0: report of a fault\n{fatal_log.BEGINS}\n{STACK}", encoding="utf-8")


@pytest.fixture
def profile_of_window(tmp_path: Path) -> Path:
    return tmp_path / "of window"


@pytest.fixture
def window(qtbot: QtBot, profile_of_window: Path) -> Iterator[MainWindow]:
    for name in ("20260101-120000-1", "20260102-120000-2"):
        crashed(profile_of_window, name)
    made = open_window(Session((examples.load("karina"),)), profile_of_window)
    made.show()
    settle(qtbot, made)
    yield made
    made.close()
    made.context.worker.close()
    made.deleteLater()
    QApplication.processEvents()


def test_one_line_says_so_above_everything(window: MainWindow, profile_of_window: Path) -> None:
    bar = window.findChild(CrashBar)
    path = profile_of_window / "crash" / "report-20260102-120000-2.txt"
    assert bar.text.text() == f"attn_gui crashed, 2 times (Segmentation fault). The report is in {path}"
    assert bar.accessibleDescription() == bar.text.text() == bar.text.toolTip()
    assert path.read_text("utf-8").endswith(STACK)
    assert bar.isVisible()
    assert bar.window() is window
    assert bar.mapTo(window, bar.rect().bottomLeft()).y() < window.top_bar.mapTo(window, bar.rect().topLeft()).y()
    assert bar.height() < 2 * window.top_bar.height()


def test_its_letter_is_nobody_elses(window: MainWindow) -> None:
    window.recovery_bar.show()
    buttons = [button.text() for button in window.findChildren(QAbstractButton) if button.window() is window]
    labels = [label.text() for label in window.findChildren(QLabel) if label.buddy() is not None]
    texts = [*buttons, *labels, *(action.text() for action in window.menuBar().actions())]
    assert sum("&o" in text.casefold() for text in texts) == 1


def test_show_shows_the_reports(window: MainWindow, qtbot: QtBot) -> None:
    window.findChild(CrashBar).show_report.click()
    dialog = next(dialog for dialog in window.findChildren(FaultDialog) if dialog.isVisible())
    assert dialog.title.text() == EARLIER
    assert "the last time with “Segmentation fault”" in dialog.text.text()
    assert dialog.details.isVisible()
    assert dialog.details.toPlainText().count("Segmentation fault") == 2
    dialog.go_on.click()
    window.findChild(CrashBar).show_report.click()
    assert dialog.details.toPlainText().count("Segmentation fault") == 2
    dialog.go_on.click()


def test_put_away_the_report_stays(window: MainWindow, profile_of_window: Path) -> None:
    bar = window.findChild(CrashBar)
    bar.later.click()
    assert not bar.isVisible()
    assert len(list((profile_of_window / "crash").glob("report-*.txt"))) == 2


def test_without_a_crash_there_is_no_bar(qtbot: QtBot, tmp_path: Path) -> None:
    made = open_window(Session((examples.load("karina"),)), tmp_path / "new")
    assert made.findChild(CrashBar) is None
    made.services.recovery.close()
    made.context.worker.close()
    made.deleteLater()
    QApplication.processEvents()
