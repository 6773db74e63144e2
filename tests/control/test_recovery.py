"""Unsaved work outlives the program's sudden end, and only that."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from attn_gui.control import recovery as recovery_module
from attn_gui.control.document import Document
from attn_gui.control.feed import Feed
from attn_gui.control.recovery import Left, Recovery
from attn_gui.control.worker import Priority, Worker
from attn_gui.files import session as session_file
from attn_gui.files.errors import FileError
from attn_gui.model.edits import rename_tokens
from attn_gui.model.experiment import Experiment
from attn_gui.model.session import NamedExperiment, Session

# An instance of its own: edits, tells when its work is on disk, and goes on until it is killed or told to end.
INSTANCE = """
import sys, threading
from pathlib import Path
from PySide6.QtCore import QCoreApplication, QMetaObject, Qt, QTimer
from attn_gui.control.document import Document
from attn_gui.control.feed import Feed
from attn_gui.control.recovery import Recovery
from attn_gui.control.worker import Worker
from attn_gui.model.edits import rename_tokens
from attn_gui.model.experiment import Experiment
from attn_gui.model.session import NamedExperiment, Session

profile, name, token = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
application = QCoreApplication(["attn-gui"])
worker = Worker()
e = Experiment.from_tokens(["karina", "is"], [[1.0, 0.0], [0.0, 1.0]])
document = Document(Session((NamedExperiment(name, e),)), Feed(worker))
recovery = Recovery(worker, document, profile)
document.apply("Rename", rename_tokens(e, "tokens", [0], [token]))

def tell():
    if recovery._own.path.exists():
        polling.stop()
        print("kept", flush=True)

polling = QTimer()
polling.timeout.connect(tell)
polling.start(20)

def end():
    if sys.stdin.readline():
        QMetaObject.invokeMethod(application, "quit", Qt.ConnectionType.QueuedConnection)

threading.Thread(target=end, daemon=True).start()
application.exec()
recovery.close()
worker.close()
"""


class Instance:
    """Another running attn_gui whose edit of the first token to ``token`` is on disk."""

    def __init__(self, profile: Path, name: str, token: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", INSTANCE, str(profile), name, token],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "kept\n"

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()

    def end(self) -> int:
        self._process.communicate("end\n", timeout=20)
        return self._process.returncode


class Window:
    """What this process has of a window: a document and its recovery."""

    def __init__(self, profile: Path, name: str = "Karina") -> None:
        self.worker = Worker()
        e = Experiment.from_tokens(["karina", "is"], [[1.0, 0.0], [0.0, 1.0]])
        self.document = Document(Session((NamedExperiment(name, e),)), Feed(self.worker))
        self.recovery = Recovery(self.worker, self.document, profile)

    def edit(self, token: str) -> None:
        changed = rename_tokens(self.document.experiment, "tokens", [0], [token])
        self.document.apply("Rename", changed)

    def depart(self, token: str) -> None:
        e = Experiment.from_tokens([token, "is"], [[1.0, 0.0], [0.0, 1.0]])
        self.document.depart("Example", NamedExperiment("Example", e))

    @property
    def token(self) -> str:
        return self.document.experiment.tokens.tokens[0]

    def close(self) -> None:
        self.recovery.close()
        self.worker.close()

    def abandon(self) -> None:
        """As good as killed: nothing is tidied away, but the lock is let go, as the system does for the dead."""
        self.recovery._timer.stop()
        self.worker.close()
        for file in (self.recovery._own, *(aside.file for aside in self.recovery._asides)):
            file.close(keep=True)


@pytest.fixture
def instances(profile: Path) -> Iterator[Callable[..., Instance]]:
    made: list[Instance] = []

    def start(name: str, token: str) -> Instance:
        made.append(Instance(profile, name, token))
        return made[-1]

    yield start
    for instance in made:
        instance.kill()


@pytest.fixture
def windows(qtbot: QtBot, profile: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Window]]:
    monkeypatch.setattr(recovery_module, "DELAY_MS", 10)
    made: list[Window] = []

    def open_window(name: str = "Karina") -> Window:
        made.append(Window(profile, name))
        return made[-1]

    yield open_window
    for window in made:
        window.worker.close()


def kept(profile: Path) -> list[Path]:
    return sorted(profile.glob("recovery/*/unsaved.attn"))


def kept_tokens(profile: Path) -> list[str]:
    return sorted(session_file.load(path).experiment.tokens.tokens[0] for path in kept(profile))


def search(window: Window, qtbot: QtBot) -> tuple[Left, ...]:
    with qtbot.waitSignal(window.recovery.found_changed):
        window.recovery.search()
    return window.recovery.found


def test_a_killed_instance_is_recovered(
    instances: Callable[..., Instance], windows: Callable[..., Window], qtbot: QtBot, profile: Path
) -> None:
    instances("Karina", "edited").kill()
    window = windows("Example")
    (left,) = search(window, qtbot)
    assert left.name == "Karina"
    assert abs((datetime.now() - left.time).total_seconds()) < 60
    with qtbot.waitSignal(window.document.path_changed):
        window.recovery.restore(left)
    assert window.token == "edited"
    assert window.document.session.named.name == "Karina"
    assert (window.document.dirty, window.document.path) == (True, None)
    assert window.recovery.found == ()
    # it stays on disk until it has been saved somewhere else
    assert kept_tokens(profile) == ["edited"]
    window.document.saved(profile / "elsewhere.attn", window.document.session)
    qtbot.waitUntil(lambda: kept(profile) == [])
    window.close()


def test_an_instance_that_ends_in_good_order_leaves_nothing(instances: Callable[..., Instance], profile: Path) -> None:
    assert instances("Karina", "edited").end() == 0
    assert list((profile / "recovery").iterdir()) == []


def test_what_a_live_instance_has_is_left_alone(
    instances: Callable[..., Instance], windows: Callable[..., Window], qtbot: QtBot, profile: Path
) -> None:
    live, dead = instances("Live", "live"), instances("Dead", "dead")
    dead.kill()
    window = windows()
    (left,) = search(window, qtbot)
    assert left.name == "Dead"
    window.recovery.discard(left)
    window.close()
    assert kept_tokens(profile) == ["live"]
    assert live.end() == 0
    assert kept(profile) == []


def test_two_instances_do_not_both_offer_the_same_work(
    instances: Callable[..., Instance], windows: Callable[..., Window], qtbot: QtBot, profile: Path
) -> None:
    instances("Karina", "edited").kill()
    first, second = windows(), windows()
    assert len(search(first, qtbot)) == 1
    assert search(second, qtbot) == ()
    first.close()
    # not decided on, so it is offered once more
    assert [left.name for left in search(second, qtbot)] == ["Karina"]
    second.close()
    assert kept_tokens(profile) == ["edited"]


def test_work_that_was_restored_survives_a_second_kill(
    instances: Callable[..., Instance], windows: Callable[..., Window], qtbot: QtBot
) -> None:
    instances("Karina", "edited").kill()
    window = windows()
    (left,) = search(window, qtbot)
    with qtbot.waitSignal(window.document.path_changed):
        window.recovery.restore(left)
    window.abandon()
    again = windows()
    assert [left.name for left in search(again, qtbot)] == ["Karina"]
    again.close()


def test_the_newest_comes_first(windows: Callable[..., Window], qtbot: QtBot, profile: Path) -> None:
    for name, age in (("older", 7200), ("newest", 0), ("oldest", 9000)):
        window = windows(name)
        window.edit("edited")
        qtbot.waitUntil(lambda window=window: window.recovery._own.path.exists())
        window.abandon()
        then = datetime.now().timestamp() - age
        os.utime(window.recovery._own.path, (then, then))
    window = windows()
    assert [left.name for left in search(window, qtbot)] == ["newest", "older", "oldest"]
    window.close()


@pytest.mark.parametrize("fault", [ValueError, OverflowError, OSError])
def test_an_impossible_date_hides_nothing(
    fault: type[Exception],
    windows: Callable[..., Window],
    qtbot: QtBot,
    profile: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Calendar(datetime):
        @classmethod
        def fromtimestamp(cls, seconds: float) -> datetime:  # type: ignore[override]
            if seconds == 1000:
                raise fault("year 33658 is out of range")
            return datetime.fromtimestamp(seconds)

    for name, time in (("odd", 1000), ("dated", 2000)):
        window = windows(name)
        window.edit("edited")
        qtbot.waitUntil(lambda window=window: window.recovery._own.path.exists())
        window.abandon()
        os.utime(window.recovery._own.path, (time, time))
    monkeypatch.setattr(recovery_module, "datetime", Calendar)
    window = windows()
    found = search(window, qtbot)
    assert [left.name for left in found] == ["dated", "odd"]
    assert found[1].time is None
    window.recovery.restore(found[1])
    qtbot.waitUntil(lambda: window.document.session.named.name == "odd")
    window.close()


def test_restoring_over_unsaved_work_exchanges_the_two(
    instances: Callable[..., Instance], windows: Callable[..., Window], qtbot: QtBot, profile: Path
) -> None:
    instances("Karina", "left").kill()
    window = windows("Present")
    (left,) = search(window, qtbot)
    window.edit("present")
    with qtbot.waitSignal(window.document.path_changed):
        window.recovery.restore(left)
    assert window.token == "left"
    (other,) = window.recovery.found
    assert other.name == "Present"
    assert kept_tokens(profile) == ["left", "present"]
    with qtbot.waitSignal(window.document.path_changed):
        window.recovery.restore(other)
    assert window.token == "present"
    assert window.document.dirty
    window.close()
    # the person had the choice between saving and not; what was left before is still there
    assert kept_tokens(profile) == ["left"]


def test_an_edit_while_work_is_being_restored_is_not_lost(
    instances: Callable[..., Instance], windows: Callable[..., Window], qtbot: QtBot, profile: Path
) -> None:
    instances("Karina", "left").kill()
    window = windows("Present")
    (left,) = search(window, qtbot)
    held = threading.Event()

    def wait() -> Iterator[float]:
        held.wait(10)
        yield 1.0

    window.worker.submit("held", wait, Priority.ASK)
    window.recovery.restore(left)
    window.edit("typed meanwhile")
    with qtbot.waitSignal(window.document.path_changed):
        held.set()
    assert window.token == "left"
    assert kept_tokens(profile) == ["left", "typed meanwhile"]
    window.close()


def test_discarded_work_is_gone(
    instances: Callable[..., Instance], windows: Callable[..., Window], qtbot: QtBot, profile: Path
) -> None:
    instances("Karina", "edited").kill()
    window = windows()
    (left,) = search(window, qtbot)
    with qtbot.waitSignal(window.recovery.found_changed):
        window.recovery.discard(left)
    assert window.recovery.found == ()
    window.close()
    assert list((profile / "recovery").iterdir()) == []


def test_a_clean_document_keeps_nothing(windows: Callable[..., Window], qtbot: QtBot, profile: Path) -> None:
    window = windows()
    window.edit("edited")
    qtbot.waitUntil(lambda: kept_tokens(profile) == ["edited"])
    window.document.undo_stack.undo()
    qtbot.waitUntil(lambda: kept(profile) == [])
    window.document.undo_stack.redo()
    qtbot.waitUntil(lambda: kept_tokens(profile) == ["edited"])
    window.document.saved(profile / "elsewhere.attn", window.document.session)
    qtbot.waitUntil(lambda: kept(profile) == [])
    window.close()


def test_a_burst_of_edits_does_not_put_it_off(
    windows: Callable[..., Window], qtbot: QtBot, profile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery_module, "DELAY_MS", 150)
    window = windows()
    edits = 0
    while not kept(profile) and edits < 400:
        edits += 1
        window.edit(f"edit {edits}")
        qtbot.wait(25)
    assert kept(profile)
    qtbot.waitUntil(lambda: kept_tokens(profile) == [f"edit {edits}"])
    window.close()


def test_what_was_kept_is_not_written_again(windows: Callable[..., Window], qtbot: QtBot, profile: Path) -> None:
    window = windows()
    window.edit("edited")
    qtbot.waitUntil(lambda: bool(kept(profile)))
    qtbot.waitUntil(lambda: not window.worker.busy)
    before = kept(profile)[0].stat().st_ino
    window.document.keep_view(stage="N")
    window.edit("other")
    window.document.undo_stack.undo()
    qtbot.wait(100)
    assert kept(profile)[0].stat().st_ino == before
    window.close()


def test_trimming_the_history_does_not_touch_what_is_kept(
    windows: Callable[..., Window], qtbot: QtBot, profile: Path
) -> None:
    window = windows()
    window.edit("edited")
    qtbot.waitUntil(lambda: bool(kept(profile)))
    window.document._forget_oldest()
    qtbot.wait(100)
    assert kept_tokens(profile) == ["edited"]
    window.close()


def test_a_damaged_file_is_put_aside(
    instances: Callable[..., Instance], windows: Callable[..., Window], qtbot: QtBot, profile: Path
) -> None:
    instances("Karina", "edited").kill()
    instances("Whole", "whole").kill()
    (damaged,) = (path for path in kept(profile) if session_file.load(path).named.name == "Karina")
    half = damaged.read_bytes()[:100]
    damaged.write_bytes(half)
    window = windows()
    with qtbot.waitSignal(window.recovery.damaged) as told:
        found = search(window, qtbot)
    assert [left.name for left in found] == ["Whole"]
    assert told.args is not None
    path, error = told.args
    assert path.parent == profile / "recovery" / "damaged"
    assert path.read_bytes() == half
    assert isinstance(error, FileError)
    window.close()
    # and is not come upon again
    again = windows()
    with qtbot.assertNotEmitted(again.recovery.damaged):
        assert [left.name for left in search(again, qtbot)] == ["Whole"]
    again.close()


def test_work_damaged_after_it_was_found_stays_where_it_is(
    instances: Callable[..., Instance], windows: Callable[..., Window], qtbot: QtBot, profile: Path
) -> None:
    instances("Karina", "edited").kill()
    window = windows()
    (left,) = search(window, qtbot)
    left.file.path.write_bytes(b"PK")
    with qtbot.waitSignal(window.recovery.restore_failed) as told:
        window.recovery.restore(left)
    assert told.args is not None
    assert isinstance(told.args[1], FileError)
    assert window.token == "karina"
    assert not window.document.dirty
    assert window.recovery.found == (left,)
    window.close()


def test_a_full_disk_is_said_once_and_tried_again(
    windows: Callable[..., Window], qtbot: QtBot, profile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery_module, "RETRY_MS", 50)
    window = windows()
    failures: list[BaseException] = []
    window.recovery.failed.connect(failures.append)
    full = True
    real = os.fsync
    attempts = 0

    def fsync(descriptor: int) -> None:
        nonlocal attempts
        attempts += 1
        if full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    window.edit("edited")
    qtbot.waitUntil(lambda: attempts >= 3)
    assert [str(error) for error in failures if "a full disk" in str(error)] == [str(failures[0])]
    assert len(failures) == 1
    assert kept(profile) == []
    assert list(profile.rglob("*.tmp")) == []
    full = False
    with qtbot.waitSignal(window.recovery.mended):
        pass
    assert kept_tokens(profile) == ["edited"]
    window.close()


def test_restoring_with_a_full_disk_loses_neither(
    instances: Callable[..., Instance],
    windows: Callable[..., Window],
    qtbot: QtBot,
    profile: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    instances("Karina", "left").kill()
    window = windows("Present")
    (left,) = search(window, qtbot)

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    window.edit("present")
    with qtbot.waitSignal(window.recovery.restore_failed):
        window.recovery.restore(left)
    assert window.token == "present"
    assert window.document.dirty
    assert window.recovery.found == (left,)
    assert kept_tokens(profile) == ["left"]
    window.close()


def test_a_profile_that_cannot_be_written_does_not_stop_the_program(
    windows: Callable[..., Window], qtbot: QtBot, profile: Path
) -> None:
    profile.write_text("a file where the folder should be")
    window = windows()
    assert search(window, qtbot) == ()
    with qtbot.waitSignal(window.recovery.failed) as told:
        window.edit("edited")
    assert told.args is not None
    assert isinstance(told.args[0], FileError)
    assert window.token == "edited"
    window.close()


def test_closing_waits_for_a_write_and_leaves_nothing(
    windows: Callable[..., Window], qtbot: QtBot, profile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writing = threading.Event()
    real = os.fsync

    def slow(descriptor: int) -> None:
        writing.set()
        threading.Event().wait(0.1)
        real(descriptor)

    monkeypatch.setattr(os, "fsync", slow)
    window = windows()
    window.edit("edited")
    qtbot.waitUntil(writing.is_set)
    window.close()
    assert list((profile / "recovery").iterdir()) == []


def test_only_the_person_may_read_it(windows: Callable[..., Window], qtbot: QtBot, profile: Path) -> None:
    if os.name != "posix":
        pytest.skip("permissions of POSIX")
    window = windows()
    window.edit("edited")
    qtbot.waitUntil(lambda: bool(kept(profile)))
    assert (profile / "recovery").stat().st_mode & 0o077 == 0
    window.close()


def test_why_no_lock_can_be_had_is_said(
    windows: Callable[..., Window], qtbot: QtBot, profile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk the lock, the first file of all, is what cannot be written."""
    monkeypatch.setattr(recovery_module.QLockFile, "tryLock", lambda lock, timeout: False)

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    window = windows()
    with monkeypatch.context() as patched, qtbot.waitSignal(window.recovery.failed) as told:
        patched.setattr(os, "fsync", full)
        window.edit("edited")
    assert "expected enough free space on the disk, received a full disk" in str(told.args[0])
    with pytest.raises(FileError, match="a folder in which files can be locked"):
        window.recovery._own.write(window.document.session)
    assert list((profile / "recovery").iterdir()) == []
    window.close()


def test_what_a_departure_left_unsaved_survives_a_kill(
    windows: Callable[..., Window], qtbot: QtBot, profile: Path
) -> None:
    window = windows("Mine")
    window.edit("mine")
    qtbot.waitUntil(lambda: kept_tokens(profile) == ["mine"])
    window.depart("example")
    qtbot.waitUntil(lambda: bool(window.recovery._asides) and not window.worker.busy)
    qtbot.waitUntil(lambda: kept_tokens(profile) == ["mine"])
    window.edit("on the example")
    qtbot.waitUntil(lambda: kept_tokens(profile) == ["mine", "on the example"])
    window.abandon()
    again = windows("Another")
    assert sorted(left.name for left in search(again, qtbot)) == ["Example", "Mine"]
    again.close()


def test_coming_back_keeps_one_copy(
    windows: Callable[..., Window], qtbot: QtBot, profile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = session_file.save

    def save(session: Session, path: Path) -> None:
        # somebody may pull the plug at any moment from the first copy on
        assert not before or "mine" in kept_tokens(profile)
        written(session, path)
        before.append(path)

    before: list[Path] = []
    monkeypatch.setattr(session_file, "save", save)
    window = windows("Mine")
    window.edit("mine")
    window.depart("example")
    qtbot.waitUntil(lambda: kept_tokens(profile) == ["mine"])
    window.document.undo_stack.undo()
    qtbot.waitUntil(lambda: not window.recovery._asides and not window.worker.busy)
    qtbot.waitUntil(lambda: kept_tokens(profile) == ["mine"])
    assert len(before) > 1
    window.document.undo_stack.undo()
    qtbot.waitUntil(lambda: kept(profile) == [])
    window.close()
    assert list((profile / "recovery").iterdir()) == []


def test_restoring_puts_aside_what_departures_left(
    instances: Callable[..., Instance], windows: Callable[..., Window], qtbot: QtBot, profile: Path
) -> None:
    instances("Karina", "left").kill()
    window = windows("Mine")
    (left,) = search(window, qtbot)
    window.edit("mine")
    window.depart("example")
    with qtbot.waitSignal(window.document.path_changed):
        window.recovery.restore(left)
    assert window.token == "left"
    (mine,) = window.recovery.found
    assert (mine.name, mine.put_aside) == ("Mine", True)
    assert kept_tokens(profile) == ["left", "mine"]
    with qtbot.waitSignal(window.document.path_changed):
        window.recovery.restore(mine)
    assert window.token == "mine"
    window.close()
