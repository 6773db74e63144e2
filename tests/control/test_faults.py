"""What no one handles is written down once, with nothing of the person in it."""

from __future__ import annotations

import faulthandler
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, QTimer
from pytestqt.qtbot import QtBot

from attn_gui import __version__
from attn_gui.control import fault_reports
from attn_gui.control.fault_reports import Report
from attn_gui.control.faults import Faults, install, written
from attn_gui.files.errors import FileError
from attn_gui.model.errors import ExperimentError, NoTorch, TooLarge

SECRET = "a word that the person typed"


class Watch:
    """Faults that are caught, and the exceptions that reached the hook that was there before."""

    def __init__(self, profile: Path) -> None:
        self.parent = QObject()
        self.faults = install(profile, self.parent)
        self.reports: list[Report] = []
        self.faults.reported.connect(self.reports.append)


@pytest.fixture
def passed_on(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> list[BaseException]:
    """What reached the hooks that were in place before."""
    seen: list[BaseException] = []
    monkeypatch.setattr(sys, "excepthook", lambda kind, error, where: seen.append(error))
    monkeypatch.setattr(threading, "excepthook", lambda arguments: seen.append(arguments.exc_value))
    return seen


@pytest.fixture
def watch(passed_on: list[BaseException], profile: Path) -> Iterator[Watch]:
    made = Watch(profile)
    yield made
    made.parent.deleteLater()


def stumble(depth: int = 0) -> None:
    if depth:
        stumble(depth - 1)
    raise ValueError(SECRET)


def in_a_slot(function: object) -> None:
    QTimer.singleShot(0, function)


def test_a_slot_that_raises_is_reported(watch: Watch, qtbot: QtBot, profile: Path, passed_on: list) -> None:
    with qtbot.waitSignal(watch.faults.reported):
        in_a_slot(stumble)
    (report,) = watch.reports
    assert report.path is not None
    assert report.path.parent == profile / "crash"
    assert report.path.read_text(encoding="utf-8") == report.text
    assert f"attn_gui {__version__}" in report.text
    assert "Python " in report.text
    assert "torch 2" in report.text
    assert f'File "tests/control/test_faults.py", line {stumble.__code__.co_firstlineno + 3}, in stumble' in report.text
    assert report.summary.startswith("ValueError in tests/control/test_faults.py, line ")
    assert [type(error) for error in passed_on] == [ValueError]


def test_nothing_of_the_person_is_in_it(watch: Watch, qtbot: QtBot, tmp_path: Path) -> None:
    def nested() -> None:
        token = SECRET
        try:
            {}[token]
        except KeyError:
            (tmp_path / token).read_text()

    with qtbot.waitSignal(watch.faults.reported):
        in_a_slot(nested)
    text = watch.reports[0].text
    assert "KeyError" in text
    assert "FileNotFoundError" in text
    assert "which led to:" in text
    for private in (SECRET, str(tmp_path), str(Path.home()), str(Path(__file__).parents[2])):
        assert private not in text


def test_what_python_says_about_the_code_is_kept(watch: Watch, qtbot: QtBot) -> None:
    with qtbot.waitSignal(watch.faults.reported):
        in_a_slot(lambda: None + 1)
    assert "TypeError: unsupported operand type(s) for +: 'NoneType' and 'int'" in watch.reports[0].text


def test_the_same_fault_is_reported_once(watch: Watch, qtbot: QtBot, profile: Path) -> None:
    for _ in range(5):
        in_a_slot(stumble)
    in_a_slot(lambda: stumble(1))
    qtbot.waitUntil(lambda: len(watch.reports) == 2)
    qtbot.wait(20)
    assert len(watch.reports) == 2
    assert len(list((profile / "crash").glob("report-*.txt"))) == 2


def test_a_thread_that_ends_in_an_exception_is_reported(watch: Watch, qtbot: QtBot, passed_on: list) -> None:
    with qtbot.waitSignal(watch.faults.reported):
        thread = threading.Thread(target=stumble)
        thread.start()
        thread.join()
    assert "in stumble" in watch.reports[0].text
    assert len(passed_on) == 1


def test_a_fault_in_telling_of_a_fault_ends_there(watch: Watch, qtbot: QtBot) -> None:
    def clumsy(report: Report) -> None:
        raise RuntimeError("the dialog is broken too")

    watch.faults.reported.connect(clumsy)
    in_a_slot(stumble)
    qtbot.waitUntil(lambda: len(watch.reports) == 2)
    qtbot.wait(50)
    assert [report.summary.split()[0] for report in watch.reports] == ["ValueError", "RuntimeError"]


def test_a_very_deep_stack_is_shortened(watch: Watch, qtbot: QtBot) -> None:
    with qtbot.waitSignal(watch.faults.reported):
        in_a_slot(lambda: stumble(200))
    text = watch.reports[0].text
    assert text.count("in stumble") <= fault_reports.SHOWN_FRAMES
    assert "more" in text


def test_leaving_by_the_keyboard_is_no_fault(watch: Watch, qtbot: QtBot, passed_on: list) -> None:
    sys.excepthook(KeyboardInterrupt, KeyboardInterrupt(), None)
    qtbot.wait(20)
    assert watch.reports == []
    assert [type(error) for error in passed_on] == [KeyboardInterrupt]


class OutOfMemoryError(RuntimeError):
    """Called as torch's is."""


@pytest.mark.parametrize(
    "error",
    [
        FileError("x.attn", "", "a file", "a folder"),
        ExperimentError("heads", "1 or more", "0"),
        TooLarge("A", 2, 1),
        OutOfMemoryError(),
    ],
)
def test_what_a_computation_may_run_into_is_no_fault(watch: Watch, qtbot: QtBot, error: BaseException) -> None:
    watch.faults.report_unexpected(error)
    qtbot.wait(20)
    assert watch.reports == []


def test_what_it_may_not_run_into_is(watch: Watch, qtbot: QtBot) -> None:
    with qtbot.waitSignal(watch.faults.reported):
        watch.faults.report_unexpected(ZeroDivisionError("division by zero"))


def test_where_no_report_can_be_written_it_is_still_told(passed_on: list, qtbot: QtBot, profile: Path) -> None:
    profile.write_text("a file where the folder should be")
    watch = Watch(profile)
    with qtbot.waitSignal(watch.faults.reported):
        in_a_slot(stumble)
    assert watch.reports[0].path is None
    assert "in stumble" in watch.reports[0].text
    watch.parent.deleteLater()


def test_old_reports_make_room(watch: Watch, qtbot: QtBot, profile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fault_reports, "KEPT_REPORTS", 3)
    for year in range(2001, 2006):
        (profile / "crash" / f"report-{year}0101-000000-00000000.txt").write_text("old")
    with qtbot.waitSignal(watch.faults.reported):
        in_a_slot(stumble)
    left = sorted(path.name for path in (profile / "crash").glob("report-*.txt"))
    assert len(left) == 3
    assert left[0].startswith("report-2004")
    assert watch.reports[0].path is not None
    assert left[-1] == watch.reports[0].path.name


def test_the_hooks_go_with_the_window(passed_on: list, qtbot: QtBot, profile: Path) -> None:
    before = sys.excepthook, threading.excepthook
    handled_before = faulthandler.is_enabled()
    watch = Watch(profile)
    assert sys.excepthook is not before[0]
    with qtbot.waitSignal(watch.parent.destroyed):
        watch.parent.deleteLater()
    assert (sys.excepthook, threading.excepthook) == before
    assert faulthandler.is_enabled() == handled_before


def test_a_window_that_is_gone_is_not_told(qtbot: QtBot, passed_on: list, profile: Path) -> None:
    watch = Watch(profile)
    ours = sys.excepthook
    with qtbot.waitSignal(watch.parent.destroyed):
        watch.parent.deleteLater()
    error = ValueError(SECRET)
    ours(ValueError, error, None)
    assert passed_on == [error]


RUN = """
import ctypes, os, sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication, QObject
from attn_gui.control.faults import install

application = QCoreApplication([])
parent = QObject()
caught = install(Path(sys.argv[1]), parent)
print([report.summary for report in caught.earlier], flush=True)

def strike_down():
    ctypes.string_at(0)

"""


def other_run(profile: Path, end: str) -> subprocess.Popen[str]:
    """Another instance, which goes on to ``end``."""
    command = [sys.executable, "-c", RUN + end, str(profile)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended_by(profile: Path, end: str) -> None:
    other = other_run(profile, end)
    other.communicate(timeout=60)
    assert other.returncode != 0


def earlier(profile: Path) -> tuple[Report, ...]:
    watch = Watch(profile)
    watch.parent.deleteLater()
    return watch.faults.earlier


def test_a_process_that_is_struck_down_is_told_of_at_the_next_start(
    qtbot: QtBot, passed_on: list, profile: Path
) -> None:
    ended_by(profile, "strike_down()")
    (report,) = earlier(profile)
    assert report.earlier
    assert report.summary == "Segmentation fault"
    assert report.path is not None
    assert report.path.parent == profile / "crash"
    assert report.path.read_text(encoding="utf-8") == report.text
    assert report.text.startswith(f"attn_gui {__version__}: report of a fault")
    assert "PySide6 6" in report.text
    assert "in strike_down" in report.text
    assert earlier(profile) == ()


def test_no_folders_are_in_what_is_told_of_it(qtbot: QtBot, passed_on: list, profile: Path) -> None:
    end = "import string; string.Formatter.check_unused_args = lambda *_: ctypes.string_at(0)"
    ended_by(profile, f"{end}\nstring.Formatter().vformat('', (), {{}})")
    text = earlier(profile)[0].text
    assert 'File "string.py", line ' in text
    for private in (str(Path.home()), str(Path(__file__).parents[2]), sys.prefix):
        assert private not in text


@pytest.mark.parametrize("end", ["sys.exit(3)", "os.kill(os.getpid(), 9)"])
def test_of_any_other_end_nothing_is_told(qtbot: QtBot, passed_on: list, profile: Path, end: str) -> None:
    ended_by(profile, end)
    assert earlier(profile) == ()
    assert list((profile / "crash").glob("report-*")) == []


def test_another_that_runs_is_left_alone(qtbot: QtBot, passed_on: list, profile: Path) -> None:
    other = other_run(profile, "sys.stdin.readline(); strike_down()")
    assert other.stdout is not None
    assert other.stdout.readline() == "[]\n"
    assert earlier(profile) == ()
    other.communicate("go\n", timeout=60)
    assert len(earlier(profile)) == 1


def test_each_that_was_struck_down_is_told_of(qtbot: QtBot, passed_on: list, profile: Path) -> None:
    others = [other_run(profile, "sys.stdin.readline(); " + end) for end in ("strike_down()", "os.abort()")]
    for other in others:
        assert other.stdout is not None
        other.stdout.readline()
    for other in others:
        other.communicate("go\n", timeout=60)
    assert sorted(report.summary for report in earlier(profile)) == ["Aborted", "Segmentation fault"]


def test_a_good_end_leaves_nothing(qtbot: QtBot, passed_on: list, profile: Path) -> None:
    watch = Watch(profile)
    assert len(list((profile / "crash").iterdir())) == 2  # what would be written to, and its lock
    with qtbot.waitSignal(watch.parent.destroyed):
        watch.parent.deleteLater()
    assert list((profile / "crash").iterdir()) == []


def test_a_window_that_could_not_open_has_a_report(qtbot: QtBot, profile: Path) -> None:
    try:
        stumble()
    except ValueError as error:
        report = written(profile, error)
    assert report.path is not None
    assert "in stumble" in report.path.read_text(encoding="utf-8")
    assert SECRET not in report.text


def test_no_torch_is_no_fault(watch: Watch, qtbot: QtBot, passed_on: list) -> None:
    def compute() -> None:
        raise NoTorch("torch is not installed")

    watch.faults.report_unexpected(NoTorch())
    in_a_slot(compute)
    qtbot.wait(20)
    assert (watch.reports, passed_on) == ([], [])


def test_a_fault_before_the_event_loop_is_told_once_it_runs(qtbot: QtBot, profile: Path) -> None:
    faults = Faults(profile / "crash")
    try:
        stumble()
    except ValueError as error:
        faults.report(error)
    with qtbot.waitSignal(faults.reported):
        pass
    assert len(list((profile / "crash").glob("report-*.txt"))) == 1
