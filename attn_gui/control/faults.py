"""Faults: what should not have happened. It is written down, on this machine alone, and the session goes on.

Where a library strikes down the process itself, its stack is written down by Python's faulthandler, and told of at the
next start.

A report holds versions, the platform and the traceback, and nothing of the person: no folders outside the program, and
an exception's message only where it is Python itself that speaks about the code.
"""

from __future__ import annotations

import faulthandler
import hashlib
import platform
import re
import secrets
import sys
import sysconfig
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

import numpy as np
from PySide6 import __version__ as pyside_version
from PySide6.QtCore import QLockFile, QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication

from attn_gui import __version__
from attn_gui.files.atomic import write_bytes
from attn_gui.files.errors import FileError
from attn_gui.model.errors import ExperimentError, NoTorch

FOLDER = "crash"  # of the profile
FATAL, BEGINS = "fatal-", "struck down:"
FILE_LINE = re.compile(r'File "([^"\n]+)"')
KEPT_REPORTS = 20
SHOWN_FRAMES = 40
MOST_FATAL_BYTES = 1 << 20
# messages of these name things of the code; those of others may hold what was typed
ABOUT_CODE = (AttributeError, NameError, TypeError, ModuleNotFoundError, RecursionError)
# what a computation may well run into; whoever asked for it says so
EXPECTED = (FileError, ExperimentError, MemoryError, NoTorch)


@dataclass(frozen=True)
class Report:
    """A fault in words; ``path`` is where the report was written, None where that was not possible.

    ``earlier`` tells of a run before this one, which ended by it.
    """

    summary: str
    text: str
    path: Path | None
    earlier: bool = False


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
        frames = "".join(f"{f.filename}:{f.lineno}:{f.name}\n" for f in _frames(error))
        key = hashlib.sha256(f"{type(error).__qualname__}\n{frames}".encode()).hexdigest()[:8]
        if key in self._seen:
            return
        self._seen.add(key)
        self.reported.emit(_reported(self._directory, key, error))


def install(profile: Path, parent: QObject) -> Faults:
    """Catch what no one handles, in every thread, until ``parent`` is gone.

    What is written down lies in ``crash`` of the profile.
    """
    directory = profile / FOLDER
    faults = Faults(directory, parent)
    faults.earlier = _struck_down(directory)
    hooks = _Hooks(faults.report)
    hooks.install()
    fatal = _FatalLog(directory)

    # a closure keeps both alive, which a connected method of theirs would not
    def end() -> None:
        hooks.remove()
        fatal.close()

    parent.destroyed.connect(end)
    return faults


def written(profile: Path, error: BaseException) -> Report:
    """The report of an ``error`` that kept the window from opening."""
    return _reported(profile / FOLDER, "start", error)


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


class _FatalLog:
    """The file that faulthandler writes to, and the lock that tells other instances that it is in use."""

    def __init__(self, directory: Path) -> None:
        self._file: BinaryIO | None = None
        self._before = faulthandler.is_enabled()
        path = directory / f"{FATAL}{datetime.now():%Y%m%d-%H%M%S}-{secrets.token_hex(4)}.log"
        self._lock = _lock_of(path)
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not self._lock.tryLock(0):
                return
            self._file = path.open("wb", buffering=0)
            self._file.write(f"{_heading()}\n{BEGINS}\n".encode())
        except OSError:
            self._lock.unlock()
            return
        self._path = path
        faulthandler.enable(self._file)

    def close(self) -> None:
        """The program ends in good order: nothing is to be told of it, whatever Windows has had written down."""
        if self._file is not None:
            faulthandler.disable()
            self._file.close()
            self._file = None
            with suppress(OSError):
                self._path.unlink()
            self._lock.unlock()
            if self._before:
                # without a console there is nowhere to write
                with suppress(AttributeError, OSError, RuntimeError, ValueError):
                    faulthandler.enable(sys.__stderr__)  # type: ignore[arg-type]


def _lock_of(log: Path) -> QLockFile:
    lock = QLockFile(f"{log}.lock")
    lock.setStaleLockTime(0)  # it goes stale by its process ending, never by age
    return lock


def _struck_down(directory: Path) -> tuple[Report, ...]:
    """Reports of what was written down by processes that are gone, whose files go."""
    reports = []
    for log in sorted(directory.glob(f"{FATAL}*.log")):
        lock = _lock_of(log)
        if not lock.tryLock(0):
            continue
        with suppress(OSError):
            with log.open("rb") as file:
                told = file.read(MOST_FATAL_BYTES).decode("utf-8", "replace")
            heading, _, stack = told.partition(f"{BEGINS}\n")
            # without a stack the process was ended from outside
            if stack.strip():
                text = heading + "\n" + _without_folders(stack)
                path = _kept(directory, log.stem.removeprefix(FATAL), text)
                reports.append(Report(_first_words(stack), text, path, earlier=True))
            log.unlink()
        lock.unlock()
    return tuple(reports)


def _first_words(stack: str) -> str:
    """What struck the process down, as faulthandler begins: ``Segmentation fault``."""
    first = stack.strip().splitlines()[0]
    return first.partition(": ")[2] or first


def _without_folders(stack: str) -> str:
    return FILE_LINE.sub(lambda found: f'File "{_place(found[1])}"', stack)


def _reported(directory: Path, key: str, error: BaseException) -> Report:
    text = _described(error)
    return Report(_summary(error), text, _kept(directory, f"{datetime.now():%Y%m%d-%H%M%S}-{key}", text))


def _kept(directory: Path, name: str, text: str) -> Path | None:
    """Where ``text`` was written as a report, if it could be."""
    path = directory / f"report-{name}.txt"
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_bytes(path, text.encode("utf-8", errors="backslashreplace"))
        for old in sorted(directory.glob("report-*.txt"))[:-KEPT_REPORTS]:
            old.unlink()
    except (OSError, FileError):
        return path if path.exists() else None
    return path


def _summary(error: BaseException) -> str:
    frames = _frames(error)
    own = [frame for frame in frames if _place(frame.filename).startswith("attn_gui/")] or frames
    at = f" in {_place(own[-1].filename)}, line {own[-1].lineno}" if own else ""
    return f"{type(error).__name__}{at}"


def _described(error: BaseException) -> str:
    lines = [_heading(), ", ".join(f"{name} {_version(name)}" for name in ("torch", "pyqtgraph")), ""]
    chain: list[BaseException] = []
    step: BaseException | None = error
    while step is not None and step not in chain:
        chain.append(step)
        step = step.__cause__ or (None if step.__suppress_context__ else step.__context__)
    for index, link in enumerate(reversed(chain)):
        lines += ["", "which led to:", ""] if index else []
        lines += [*_stack(link), _said(link)]
    return "\n".join(lines) + "\n"


def _heading() -> str:
    # of what is imported and known anyway: it is written at every start
    return "\n".join(
        (
            f"attn_gui {__version__}: report of a fault",
            f"{datetime.now():%Y-%m-%d %H:%M:%S}",
            f"Python {platform.python_version()}, PySide6 {pyside_version}, numpy {np.__version__}",
            f"{platform.system()} {platform.release()} {platform.machine()}, Qt platform "
            f"{QGuiApplication.platformName() or 'none'}",
        )
    )


def _version(name: str) -> str:
    # takes long to import, and faults are rare
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return "(unknown)"


def _said(error: BaseException) -> str:
    name = type(error).__qualname__
    if isinstance(error, ABOUT_CODE):
        return f"{name}: {error}"
    return f"{name} (its message is left out: it may hold what was typed)" if str(error) else name


def _stack(error: BaseException) -> Iterator[str]:
    frames = _frames(error)
    for index, frame in enumerate(frames):
        if len(frames) <= SHOWN_FRAMES or not SHOWN_FRAMES // 2 <= index < len(frames) - SHOWN_FRAMES // 2:
            yield f'  File "{_place(frame.filename)}", line {frame.lineno}, in {frame.name}'
            if frame.line:
                yield f"    {frame.line}"
        elif index == SHOWN_FRAMES // 2:
            yield f"  ... {len(frames) - SHOWN_FRAMES} more"


def _frames(error: BaseException) -> traceback.StackSummary:
    return traceback.extract_tb(error.__traceback__)


def _place(filename: str) -> str:
    """The file's name within the program, a package or Python's library; of any other file the bare name."""
    path = Path(filename)
    for root in (Path(__file__).parents[2], *(Path(sysconfig.get_path(name)) for name in ("purelib", "stdlib"))):
        with suppress(ValueError):
            return path.relative_to(root).as_posix()
    return path.name
