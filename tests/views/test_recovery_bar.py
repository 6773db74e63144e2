"""The bar that offers what a dead instance left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from attn_gui.control import recovery as recovery_module
from attn_gui.control.notices import Kind, Notice
from attn_gui.control.recovery import Recovery, RecoveryFile
from attn_gui.model.edits import rename_tokens
from attn_gui.model.experiment import Experiment
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.views.context import Context
from attn_gui.views.recovery_bar import RecoveryBar, when


def leave(profile: Path, name: str, token: str) -> RecoveryFile:
    """Unsaved work as a dead instance leaves it."""
    file = RecoveryFile(profile / "recovery" / f"dead-{token}")
    file.write(Session((NamedExperiment(name, Experiment.from_tokens([token], [[1.0]])),)))
    file.close(keep=True)
    return file


@pytest.fixture
def show(
    context: Context, qtbot: QtBot, profile: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[], RecoveryBar]]:
    monkeypatch.setattr(recovery_module, "DELAY_MS", 10)
    recoveries: list[Recovery] = []
    windows: list[QWidget] = []

    def make() -> RecoveryBar:
        recovery = Recovery(context.worker, context.document, profile)
        recoveries.append(recovery)
        window = QWidget()
        qtbot.addWidget(window)
        windows.append(window)
        layout = QVBoxLayout(window)
        with qtbot.waitSignal(recovery.found_changed):
            layout.addWidget(bar := RecoveryBar(context, recovery, window))
        window.show()
        return bar

    yield make
    for recovery in recoveries:
        recovery.close()


def token(context: Context) -> str:
    return context.document.experiment.tokens.tokens[0]


def edit(context: Context, name: str) -> None:
    e = rename_tokens(context.document.experiment, "tokens", [0], [name])
    context.document.apply("Rename", e)


def said(context: Context) -> list[Notice]:
    notices: list[Notice] = []
    context.notices.said.connect(notices.append)
    return notices


def test_out_of_sight_where_nothing_was_left(show: Callable[[], RecoveryBar]) -> None:
    assert not show().isVisible()


def test_restores_by_the_keyboard(
    show: Callable[[], RecoveryBar], context: Context, qtbot: QtBot, profile: Path
) -> None:
    leave(profile, "Left", "recovered")
    bar = show()
    assert bar.isVisible()
    assert bar.text.text().startswith("attn_gui ended unexpectedly. Unsaved work, from ")
    assert bar.text.text().endswith(": Left")
    bar.restore.setFocus()
    with qtbot.waitSignal(context.document.path_changed):
        qtbot.keyClick(bar.restore, Qt.Key.Key_Space)
    assert token(context) == "recovered"
    assert (context.document.dirty, context.document.path) == (True, None)
    assert not bar.isVisible()


def test_discards(show: Callable[[], RecoveryBar], context: Context, qtbot: QtBot, profile: Path) -> None:
    file = leave(profile, "Left", "recovered")
    bar = show()
    qtbot.mouseClick(bar.discard, Qt.MouseButton.LeftButton)
    assert not bar.isVisible()
    assert not file.path.exists()
    assert token(context) == "karina"


def test_not_now_keeps_it_for_the_next_start(show: Callable[[], RecoveryBar], qtbot: QtBot, profile: Path) -> None:
    file = leave(profile, "Left", "recovered")
    bar = show()
    qtbot.mouseClick(bar.later, Qt.MouseButton.LeftButton)
    assert not bar.isVisible()
    assert file.path.exists()


def test_one_after_the_other(show: Callable[[], RecoveryBar], qtbot: QtBot, profile: Path) -> None:
    leave(profile, "One", "one")
    leave(profile, "Two", "two")
    bar = show()
    assert "(1 of 2)" in bar.text.text()
    bar.discard.click()
    assert bar.isVisible()
    assert "of" not in bar.text.text().split(":")[0].split("work")[1]
    bar.discard.click()
    assert not bar.isVisible()


def test_restoring_over_changes_offers_them_in_turn(
    show: Callable[[], RecoveryBar], context: Context, qtbot: QtBot, profile: Path
) -> None:
    leave(profile, "Left", "recovered")
    bar = show()
    edit(context, "mine")
    assert "present changes" in bar.restore.toolTip()
    with qtbot.waitSignal(bar._recovery.found_changed):
        bar.restore.click()
    assert token(context) == "recovered"
    assert bar.isVisible()
    assert bar.text.text().startswith("Your unsaved work was put aside")
    with qtbot.waitSignal(bar._recovery.found_changed):
        bar.restore.click()
    assert token(context) == "mine"


def test_a_damaged_file_is_told_of(
    show: Callable[[], RecoveryBar], context: Context, qtbot: QtBot, profile: Path
) -> None:
    leave(profile, "Left", "recovered").path.write_bytes(b"PK half a file")
    notices = said(context)
    bar = show()
    assert not bar.isVisible()
    (notice,) = notices
    assert (notice.kind, notice.topic) == (Kind.WARNING, "recovery")
    assert str(profile / "recovery" / "damaged") in notice.text


def test_what_cannot_be_restored_is_said_and_stays(
    show: Callable[[], RecoveryBar], context: Context, qtbot: QtBot, profile: Path
) -> None:
    file = leave(profile, "Left", "recovered")
    bar = show()
    file.path.write_bytes(b"PK half a file")
    notices = said(context)
    bar.restore.click()
    qtbot.waitUntil(lambda: bool(notices))
    assert notices[0].kind is Kind.ERROR
    assert notices[0].text.startswith("“Left” was not restored: expected an attn_gui session")
    assert bar.isVisible()
    assert token(context) == "karina"


def test_says_when_no_copy_can_be_kept(
    show: Callable[[], RecoveryBar], context: Context, qtbot: QtBot, profile: Path
) -> None:
    profile.write_text("a file where the folder should be")
    show()
    notices = said(context)
    edit(context, "mine")
    qtbot.waitUntil(lambda: bool(notices))
    assert notices[0].kind is Kind.WARNING
    assert notices[0].text.startswith("No copy of your unsaved work can be kept: expected ")


def test_a_long_name_does_not_widen_the_window(show: Callable[[], RecoveryBar], qtbot: QtBot, profile: Path) -> None:
    leave(profile, "A sentence that somebody took for a name " * 20, "recovered")
    bar = show()
    assert bar.minimumSizeHint().width() < 400
    assert bar.text.text().endswith("…")


def test_everything_has_a_name(show: Callable[[], RecoveryBar], profile: Path) -> None:
    leave(profile, "Left", "recovered")
    bar = show()
    assert bar.accessibleName()
    assert bar.accessibleDescription() == bar.text.text()
    assert bar.later.accessibleName() == "Not now"
    assert [b.text() for b in (bar.restore, bar.discard)] == ["Re&store", "Dis&card"]


@pytest.mark.parametrize(
    ("time", "text"),
    [
        (datetime(2026, 7, 12, 21, 40), "21:40"),
        (datetime(2026, 7, 11, 9, 5), "11 July, 09:05"),
        (datetime(2025, 12, 31, 23, 59), "31 December 2025, 23:59"),
        (None, "an unknown time"),
    ],
)
def test_when(time: datetime | None, text: str) -> None:
    assert when(time, datetime(2026, 7, 12, 22, 0)) == text
