"""The fatal log: what strikes down the process itself is written down by Python's faulthandler, and told of later."""

from __future__ import annotations

import faulthandler
import re
import secrets
import sys
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from PySide6.QtCore import QLockFile

from attn_gui.control.fault_reports import Report, heading, kept, place

FATAL, BEGINS = "fatal-", "struck down:"
FILE_LINE = re.compile(r'File "([^"\n]+)"')
MOST_FATAL_BYTES = 1 << 20


class FatalLog:
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
            self._file.write(f"{heading()}\n{BEGINS}\n".encode())
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


def struck_down(directory: Path) -> tuple[Report, ...]:
    """Reports of what was written down by processes that are gone, whose files go."""
    reports = []
    for log in sorted(directory.glob(f"{FATAL}*.log")):
        lock = _lock_of(log)
        if not lock.tryLock(0):
            continue
        with suppress(OSError):
            with log.open("rb") as file:
                told = file.read(MOST_FATAL_BYTES).decode("utf-8", "replace")
            head, _, stack = told.partition(f"{BEGINS}\n")
            # without a stack the process was ended from outside
            if stack.strip():
                text = head + "\n" + _without_folders(stack)
                path = kept(directory, log.stem.removeprefix(FATAL), text)
                reports.append(Report(_first_words(stack), text, path, earlier=True))
            log.unlink()
        lock.unlock()
    return tuple(reports)


def _first_words(stack: str) -> str:
    """What struck the process down, as faulthandler begins: ``Segmentation fault``."""
    first = stack.strip().splitlines()[0]
    return first.partition(": ")[2] or first


def _without_folders(stack: str) -> str:
    return FILE_LINE.sub(lambda found: f'File "{place(found[1])}"', stack)
