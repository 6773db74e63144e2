"""Making: exercises written to files, and lists of students read, by the worker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from attn_gui.control.storage import reason
from attn_gui.control.worker import Priority, Steps, Worker, at_once
from attn_gui.files.errors import FileError
from attn_gui.files.exercise_files import Handout, read_students, write_all, write_one
from attn_gui.model.errors import ExperimentError

MAKE, READ = "make exercises", "read students"


class Making(QObject):
    """``made(count, path)`` or ``not_made(why)`` ends :meth:`make`; ``read`` or ``not_read`` answers :meth:`open`.

    count: how many students the files are for; 0 where one file is for everybody.
    """

    made = Signal(int, object)
    not_made = Signal(str)
    read = Signal(list)
    not_read = Signal(str)

    def __init__(self, worker: Worker, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = worker

    def make(self, handout: Handout, students: Sequence[str], path: Path) -> None:
        """Write a file for each of ``students`` into the folder ``path``; without any, one to the file ``path``."""
        several = list(students)
        self._worker.submit(
            MAKE,
            lambda: write_all(handout, several, path) if several else _written(handout, path),
            Priority.TRACE,
            lambda _: self.made.emit(len(several), path),
            lambda error: self._on_failure(f"Nothing was written to {path.name}: ", error, self.not_made.emit),
            owed=True,
        )

    def open(self, path: Path) -> None:
        """Read a list of students, one a line."""
        self._worker.submit(
            READ,
            at_once(lambda: read_students(path)),
            Priority.TRACE,
            self.read.emit,
            lambda error: self._on_failure(f"{path.name}: ", error, self.not_read.emit),
        )

    def _on_failure(self, what: str, error: BaseException, tell: Callable[[str], object]) -> None:
        why = str(error) if isinstance(error, ExperimentError) else reason(error)
        tell(what + why)
        if not isinstance(error, ExperimentError | FileError | MemoryError):
            raise error


def _written(handout: Handout, path: Path) -> Steps:
    write_one(handout, "", path)
    yield 1.0
