"""Arriving: what a file is that was dropped, given on the command line, or opened before. Looked at in the worker."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from attn_gui.control.notices import Notices
from attn_gui.control.worker import Priority, Worker, at_once
from attn_gui.files import checkpoint, tensors
from attn_gui.files.errors import FileError
from attn_gui.files.model_folder import is_model
from attn_gui.files.regular import is_folder, size_of_file

JOB = "what file"
# what is said while a file is looked into, and of one that was given up
LOOKING, TOPIC = "look into file", "arriving file"
# an experiment says what it is in its first line
BEGINNING = 4096


class FileKind(Enum):
    """What opens a file."""

    SESSION = "session"
    WEIGHTS = "weights"
    TENSORS = "tensors"
    MODEL = "model"


class Arriving(QObject):
    """``session``, ``weights``, ``tensors`` or ``model`` answers :meth:`take`, with the paths.

    What is looked into is said, since it may wait for its turn, as is what is given up for what came after it.
    """

    session = Signal(object)
    weights = Signal(object)
    tensors = Signal(object)
    model = Signal(object)

    def __init__(self, worker: Worker, notices: Notices, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = worker
        self._notices = notices
        self._taken: tuple[Path, ...] = ()
        self._signals = {
            FileKind.SESSION: self.session,
            FileKind.WEIGHTS: self.weights,
            FileKind.TENSORS: self.tensors,
            FileKind.MODEL: self.model,
        }

    def take(self, paths: Sequence[Path]) -> None:
        """Find out what ``paths``, at least one, are."""
        found, left = tuple(paths), self._taken
        self._taken = found
        if left and left != found:
            self._notices.warn(f"{named(left)} was not opened, since {named(found)} came after it", TOPIC)
        else:
            self._notices.info(f"Looking into {named(found)}", LOOKING)
        self._worker.submit(
            JOB,
            at_once(lambda: kind_of(found)),
            Priority.TRACE,
            lambda kind: self._answer(kind, found),
            # whatever opens tensors says what is wrong with a file that cannot be read
            lambda error: self._answer(FileKind.TENSORS, found),
        )

    def _answer(self, kind: FileKind, found: tuple[Path, ...]) -> None:
        self._taken = ()
        self._notices.withdraw(LOOKING)
        self._signals[kind].emit(found)


def named(paths: Sequence[Path]) -> str:
    """What files are called in a sentence: the name of one, how many there are of several."""
    return f"{paths[0].name} and {len(paths) - 1} more" if len(paths) > 1 else paths[0].name or str(paths[0])


def kind_of(paths: Sequence[Path]) -> FileKind:
    """What opens ``paths``: several files and folders are tensors, but for the folder of a model; a file of weights
    holds a whole attention module.
    """
    path = paths[0]
    ending = path.suffix.casefold()
    if len(paths) == 1 and is_model(path):
        return FileKind.MODEL
    if len(paths) > 1 or is_folder(path):
        return FileKind.TENSORS
    if ending == ".json":
        return FileKind.SESSION if _is_experiment(path) else FileKind.TENSORS
    if ending in checkpoint.ENDINGS and _holds_module(path):
        return FileKind.WEIGHTS
    return FileKind.TENSORS if ending in tensors.ENDINGS else FileKind.SESSION


def _holds_module(path: Path) -> bool:
    # imported when there is a file to look into: the first window does not wait for it
    from attn_gui.files.checkpoint import opening

    try:
        return bool(opening.look(path).modules)
    except FileError:
        return False


def _is_experiment(path: Path) -> bool:
    try:
        size_of_file(path)  # opening a pipe would wait for whoever writes to it
        with path.open(encoding="utf-8") as file:
            return '"attn-experiment"' in file.read(BEGINNING)
    except (FileError, OSError, UnicodeDecodeError):
        return False
