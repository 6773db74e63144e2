"""The desktop program: arguments, QApplication, the first window, and only then torch."""

from __future__ import annotations

import argparse
import errno
import gc
import json
import os
import signal
import sys
import time
from pathlib import Path

from PySide6.QtCore import QSettings, Qt, QTimer
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication, QMessageBox

from attn_gui import __version__, paths
from attn_gui.cli import COMMANDS, Parser, file_name, flushed, folder_name, parsed
from attn_gui.control import faults
from attn_gui.control.document import Document
from attn_gui.control.exports import Exports
from attn_gui.control.fault_reports import Report
from attn_gui.control.feed import Feed
from attn_gui.control.notices import Notices
from attn_gui.control.recovery import Recovery
from attn_gui.control.selection import Selection
from attn_gui.control.settings import Settings, profile_directory
from attn_gui.control.storage import Storage
from attn_gui.control.worker import Worker
from attn_gui.files import examples
from attn_gui.files.errors import FileError
from attn_gui.model.answers import StageValues
from attn_gui.model.asks import StageAsk
from attn_gui.model.session import Session
from attn_gui.views.bands import Bands
from attn_gui.views.context import Context
from attn_gui.views.crash_bar import CrashBar
from attn_gui.views.fault_dialog import FaultDialog
from attn_gui.views.look import Look
from attn_gui.views.main_window import MainWindow, Services

SMOKE_TIMEOUT_MS = 120_000
NO_SCREEN = (
    "attn-gui: there is no screen here (neither DISPLAY nor WAYLAND_DISPLAY is set); "
    f"these commands need none: {', '.join(COMMANDS)}"
)


def parser() -> argparse.ArgumentParser:
    """The arguments of the window; those of the commands are in cli."""
    made = Parser(
        prog="attn-gui",
        description="Explore attention: edit tokens, weights and masks, and see the scores, weights and output change.",
        epilog="Commands without a window: attn-gui export, info, scores, diagnose, mark (each with --help). On "
        "Windows start them as attn-gui-cli, which has a console to print to.",
    )
    made.add_argument("file", nargs="?", type=file_name, help="a session (.attn), tensors or weights to open")
    made.add_argument("--example", metavar="NAME", help=f"start on an example: {', '.join(examples.file_names())}")
    made.add_argument("--profile-dir", type=folder_name, metavar="DIR", help="keep settings and recovery files in DIR")
    made.add_argument("--take", type=file_name, metavar="FILE", help="open a session as new work, and remove its file")
    made.add_argument("--smoke", action="store_true", help="start, compute, print timings as JSON and quit")
    made.add_argument("--self-test", action="store_true", help="run the conformance tests of this program and quit")
    made.add_argument("--version", action="version", version=f"attn_gui {__version__}")
    return made


def main(arguments: list[str], started: float) -> int:
    """Open the window; ``started`` is time.perf_counter() at the start of the process."""
    options = parsed(parser(), arguments)
    if isinstance(options, int):
        return flushed(options)
    if options.self_test:
        gc.enable()
        from attn_gui import self_test

        return self_test.run()
    if not _has_screen():
        print(NO_SCREEN, file=sys.stderr)
        return 2
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # Python's handler would wait for Python code to run, which an idle window never does; unsaved work is kept
        # for the next start, as with any other sudden end
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if options.profile_dir is not None:
        os.environ["ATTN_GUI_PROFILE"] = str(options.profile_dir)
    # Qt's own dialogs, where they are not the system's, remember folders in a file of all Qt programs
    QSettings.setPath(QSettings.Format.NativeFormat, QSettings.Scope.UserScope, str(profile_directory()))
    try:
        first = examples.load_session(options.example or examples.names()[0])
    except FileError as error:
        print(f"attn-gui: {error}", file=sys.stderr)
        return 2
    application = QApplication(["attn-gui"])
    application.setApplicationName("attn_gui")
    application.setApplicationVersion(__version__)
    application.setDesktopFileName("attn-gui")
    application.setStyle("Fusion")
    application.setWindowIcon(QIcon(str(paths.resource("icons/attn-gui.svg"))))
    try:
        window = open_window(first, profile_directory())
    except Exception as error:
        return _not_opened(faults.written(profile_directory(), error))
    context = window.context
    if options.file is not None:
        window.files.arriving.take([options.file])
    if options.take is not None:
        window.services.storage.take(options.take)
    context.feed.busy_changed.connect(_collect_garbage)
    smoke = Smoke(window, started, opening=(options.file or options.take) is not None) if options.smoke else None
    window.show()
    code = application.exec()
    context.worker.close()
    return code if smoke is None else smoke.code


def _has_screen() -> bool:
    """Whether a window can be opened; Qt by itself would end the program, and tell of libraries that are there."""
    names = ("QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY")
    return not sys.platform.startswith("linux") or any(os.environ.get(name) for name in names)


def _not_opened(report: Report) -> int:
    """Say where somebody sees it that there is no window, and why."""
    where = f"The report is in {report.path}" if report.path is not None else report.text
    text = f"attn_gui cannot start: {report.summary}. {where}"
    if sys.stderr is not None:
        print(f"attn-gui: {text}", file=sys.stderr)
    else:
        QMessageBox.critical(None, "attn_gui", text)
    return 1


def _collect_garbage(busy: bool) -> None:
    """Once the first result is there: what was made up to now stays, and need not be looked through ever again."""
    if not busy and not gc.isenabled():
        gc.freeze()
        gc.enable()


def open_window(session: Session, profile: Path) -> MainWindow:
    """The main window over ``session``, wired up; computing begins once it has been painted."""
    settings = Settings(profile)
    worker = Worker()
    feed = Feed(worker)
    feed.memory = settings.memory
    document = Document(session, feed)
    notices = Notices()
    look = Look(settings)
    context = Context(worker, feed, document, Selection(), settings, notices, look, Bands())
    services = Services(
        Storage(worker, document, notices, settings), Recovery(worker, document, profile), Exports(worker, feed)
    )
    window = MainWindow(context, services)
    look.refresh()  # with a style sheet in force every widget would be restyled each time it gets a parent
    caught = faults.install(profile, window)
    feed.failed.connect(caught.report_unexpected)
    told = FaultDialog(context, caught, window)
    if caught.earlier:
        window.tell_above(CrashBar(context, caught.earlier, told, window))
    window.first_painted.connect(document.start)
    settings.changed.connect(lambda name: _compute_within(document, settings.memory) if name == "memory" else None)
    if settings.device != document.device:
        _go_on_with(settings.device, window)
    return window


def _compute_within(document: Document, memory: int | None) -> None:
    """Compute anew with another bound on what is held whole."""
    document.feed.memory = memory
    document.recompute()


def _go_on_with(device: str, window: MainWindow) -> None:
    """Compute on the device of last time, once it is known that it is still there; on the CPU until then."""
    devices, context = window.more.devices, window.context

    def choose() -> None:
        entry = devices.entry(device)
        if entry is not None and entry.reason is None:
            context.document.set_device(device)
        else:
            why = entry.reason if entry is not None else "it is not there"
            context.notices.warn(f"Computing on the CPU: {device} cannot be used ({why})", "device")

    devices.listed.connect(choose, Qt.ConnectionType.SingleShotConnection)
    window.first_painted.connect(devices.ask)


class Smoke:
    """Waits for the first paint and the first result, prints both times and N, and quits.

    ``opening``: a file is being opened, whose result it is to be.
    """

    SLOT = "smoke"

    def __init__(self, window: MainWindow, started: float, *, opening: bool) -> None:
        self.code = 1
        self._context = window.context
        self._opening = opening
        self._started = started
        self._first_paint = 0.0
        window.first_painted.connect(self._on_paint)
        feed = window.context.feed
        feed.ask(self.SLOT, StageAsk("N"))
        feed.answered.connect(self._on_answer)
        feed.failed.connect(self._on_failure)
        window.services.storage.opened.connect(self._on_opened)
        window.services.storage.failed.connect(lambda path, error: self._on_failure(error))
        arriving = window.files.arriving
        for asks_first in (arriving.tensors, arriving.weights, arriving.model):
            asks_first.connect(lambda paths: self._on_failure(ValueError(f"{paths[0]}: --smoke opens a session")))
        QTimer.singleShot(SMOKE_TIMEOUT_MS, QApplication.quit)

    def _elapsed(self) -> float:
        return round((time.perf_counter() - self._started) * 1000, 1)

    def _on_opened(self) -> None:
        self._opening = False

    def _on_paint(self) -> None:
        self._first_paint = self._elapsed()

    def _on_answer(self, slot: str, answer: object) -> None:
        trace = self._context.feed.trace
        meant = not self._opening and trace is not None and trace.experiment is self._context.document.experiment
        if slot == self.SLOT and meant and isinstance(answer, StageValues):
            result = {"first_paint_ms": self._first_paint, "first_result_ms": self._elapsed()}
            try:
                if sys.stdout is None:
                    raise OSError(errno.EBADF, os.strerror(errno.EBADF))
                print(json.dumps(result | {"N": answer.values.tolist()}), flush=True)
                self.code = 0
            except OSError as error:
                self._on_unprinted(error)
            QTimer.singleShot(0, QApplication.quit)

    def _on_unprinted(self, error: OSError) -> None:
        # whoever closed the pipe has read enough; Python would write what is left again at its end
        if not isinstance(error, BrokenPipeError) and sys.stderr is not None:
            print(f"attn-gui: the timings cannot be printed: {error.strerror}", file=sys.stderr)
        if sys.stdout is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def _on_failure(self, error: BaseException) -> None:
        if sys.stderr is not None:
            print(f"attn-gui: {error}", file=sys.stderr)
        QApplication.exit(self.code)
