"""Reports of faults: written down on this machine alone, and in what words.

A report holds versions, the platform and the traceback, and nothing of the person: no folders outside the program, and
an exception's message only where it is Python itself that speaks about the code.
"""

from __future__ import annotations

import platform
import sysconfig
import traceback
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
from PySide6 import __version__ as pyside_version
from PySide6.QtGui import QGuiApplication

from attn_gui import __version__
from attn_gui.files.atomic import write_bytes
from attn_gui.files.errors import FileError

FOLDER = "crash"  # of the profile
KEPT_REPORTS = 20
SHOWN_FRAMES = 40
# messages of these name things of the code; those of others may hold what was typed
ABOUT_CODE = (AttributeError, NameError, TypeError, ModuleNotFoundError, RecursionError)


@dataclass(frozen=True)
class Report:
    """A fault in words; ``path`` is where the report was written, None where that was not possible.

    ``earlier`` tells of a run before this one, which ended by it.
    """

    summary: str
    text: str
    path: Path | None
    earlier: bool = False


def report_of(directory: Path, key: str, error: BaseException) -> Report:
    """The report of ``error``, written into ``directory`` if that can be."""
    text = _described(error)
    return Report(_summary(error), text, kept(directory, f"{datetime.now():%Y%m%d-%H%M%S}-{key}", text))


def kept(directory: Path, name: str, text: str) -> Path | None:
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
    frames = frames_of(error)
    own = [frame for frame in frames if place(frame.filename).startswith("attn_gui/")] or frames
    at = f" in {place(own[-1].filename)}, line {own[-1].lineno}" if own else ""
    return f"{type(error).__name__}{at}"


def _described(error: BaseException) -> str:
    lines = [heading(), ", ".join(f"{name} {_version(name)}" for name in ("torch", "pyqtgraph")), ""]
    chain: list[BaseException] = []
    step: BaseException | None = error
    while step is not None and step not in chain:
        chain.append(step)
        step = step.__cause__ or (None if step.__suppress_context__ else step.__context__)
    for index, link in enumerate(reversed(chain)):
        lines += ["", "which led to:", ""] if index else []
        lines += [*_stack(link), _said(link)]
    return "\n".join(lines) + "\n"


def heading() -> str:
    """What every report begins with."""
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
    frames = frames_of(error)
    for index, frame in enumerate(frames):
        if len(frames) <= SHOWN_FRAMES or not SHOWN_FRAMES // 2 <= index < len(frames) - SHOWN_FRAMES // 2:
            yield f'  File "{place(frame.filename)}", line {frame.lineno}, in {frame.name}'
            if frame.line:
                yield f"    {frame.line}"
        elif index == SHOWN_FRAMES // 2:
            yield f"  ... {len(frames) - SHOWN_FRAMES} more"


def frames_of(error: BaseException) -> traceback.StackSummary:
    """The frames that ``error`` passed."""
    return traceback.extract_tb(error.__traceback__)


def place(filename: str) -> str:
    """The file's name within the program, a package or Python's library; of any other file the bare name."""
    path = Path(filename)
    for root in (Path(__file__).parents[2], *(Path(sysconfig.get_path(name)) for name in ("purelib", "stdlib"))):
        with suppress(ValueError):
            return path.relative_to(root).as_posix()
    return path.name
