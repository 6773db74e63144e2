"""Faults: what should not have happened. It is written down, and the session goes on.

Where a library strikes down the process itself, the next start tells of it.
"""

from __future__ import annotations

import hashlib
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QObject, Qt, Signal

from attn_gui.control.fatal_log import FatalLog, struck_down
from attn_gui.control.fault_reports import FOLDER, Report, frames_of, report_of
from attn_gui.files.errors import FileError
from attn_gui.model.errors import ExperimentError, NoTorch

# what a computation may well run into; whoever asked for it says so
EXPECTED = (FileError, ExperimentError, MemoryError, NoTorch)


class Faults(QObject):
    """Writes a report of each fault, once per distinct traceback, and says so by ``reported(Report)``.

    ``earlier`` has those of runs that were struck down since the last start, the newest last.
    """

    reported = Signal(object)
    _caught = Signal(object)

    def __init__(self, directory: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.earlier: tuple[Report, ...] = ()
        self._directory = directory
        self._seen: set[str] = set()
        # queued: a fault may come from another thread, or from the midst of painting
        self._caught.connect(self._on_caught, Qt.ConnectionType.QueuedConnection)

    def report(self, error: BaseException) -> None:
        """Report ``error``; from any thread."""
        self._caught.emit(error)

    def report_unexpected(self, error: BaseException) -> None:
        """Report why a computation failed, unless it is one of the reasons that it may well have."""
        if not isinstance(error, EXPECTED) and "OutOfMemory" not in type(error).__name__:
            self.report(error)

    def _on_caught(self, error: BaseException) -> None:
        frames = "".join(f"{f.filename}:{f.lineno}:{f.name}\n" for f in frames_of(error))
        key = hashlib.sha256(f"{type(error).__qualname__}\n{frames}".encode()).hexdigest()[:8]
        if key in self._seen:
            return
        self._seen.add(key)
        self.reported.emit(report_of(self._directory, key, error))


def install(profile: Path, parent: QObject) -> Faults:
    """Catch what no one handles, in every thread, until ``parent`` is gone.

    What is written down lies in ``crash`` of the profile.
    """
    directory = profile / FOLDER
    faults = Faults(directory, parent)
    faults.earlier = struck_down(directory)
    hooks = _Hooks(faults.report)
    hooks.install()
    fatal = FatalLog(directory)

    # a closure keeps both alive, which a connected method of theirs would not
    def end() -> None:
        hooks.remove()
        fatal.close()

    parent.destroyed.connect(end)
    return faults


def written(profile: Path, error: BaseException) -> Report:
    """The report of an ``error`` that kept the window from opening."""
    return report_of(profile / FOLDER, "start", error)


class _Hooks:
    """Python's hooks for exceptions that no one handles; those in place before are called first."""

    def __init__(self, tell: Callable[[BaseException], None]) -> None:
        self._tell: Callable[[BaseException], None] | None = tell
        self._main = sys.excepthook
        self._thread = threading.excepthook

    def install(self) -> None:
        sys.excepthook = self._on_exception
        threading.excepthook = self._on_thread_exception

    def remove(self) -> None:
        self._tell = None
        if sys.excepthook == self._on_exception:
            sys.excepthook = self._main
        if threading.excepthook == self._on_thread_exception:
            threading.excepthook = self._thread

    def _on_exception(self, kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
        if isinstance(error, NoTorch):
            return  # whoever asked for a computation has said so
        self._main(kind, error, where)
        self._pass_on(error)

    def _on_thread_exception(self, arguments: threading.ExceptHookArgs) -> None:
        self._thread(arguments)
        if arguments.exc_value is not None:
            self._pass_on(arguments.exc_value)

    def _pass_on(self, error: BaseException) -> None:
        if self._tell is not None and isinstance(error, Exception):
            # at the very end there may be nobody left to tell
            with suppress(RuntimeError):
                self._tell(error)
