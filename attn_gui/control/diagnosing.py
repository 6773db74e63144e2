"""Diagnosing: finding the convention that somebody's numbers follow, in the worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from attn_gui.control.storage import reason
from attn_gui.control.worker import Priority, Steps, Worker, at_once
from attn_gui.files import tensor_file
from attn_gui.files.arrays import arrays_in
from attn_gui.files.errors import FileError
from attn_gui.files.printed import Unreadable, numbers_in
from attn_gui.files.tensor_file import TensorFile
from attn_gui.model.convention_edit import inexpressible, with_convention
from attn_gui.model.diagnosis import Convention, Diagnosis
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.question import Numbers, Question, question, question_of

DIAGNOSE = "diagnose"
READ = "read {}"
# endings of files that hold one array
ARRAYS = (".csv", ".npy")
FILES = (*tensor_file.ENDINGS, *ARRAYS)


@dataclass(frozen=True, eq=False)
class Asked:
    """What is to be explained: numbers by their stage, and whose Q, K and V they come from.

    experiment: what the window shows. file: a file with Q, K and V, which are then used in its place.
    """

    experiment: Experiment
    file: TensorFile | None
    numbers: Mapping[str, Numbers]
    bases: tuple[float, ...] = ()

    def question(self) -> Question:
        """Raises ExperimentError or FileError."""
        given: dict[str, Any] = dict(self.numbers)
        if self.file is None:
            return question_of(self.experiment, bases=self.bases, **given)
        Q, K, V = (self.file.arrays[name].values for name in "QKV")
        return question(Q, K, V, mask=self.file.mask, bases=self.bases, **given)


@dataclass(frozen=True, eq=False)
class Finding:
    """A diagnosis, and the experiment as each convention in it has it, or the reason why it cannot be set so."""

    asked: Asked
    diagnosis: Diagnosis
    settings: Mapping[Convention, Experiment | str]


class Diagnosing(QObject):
    """Answers one question at a time; ``found``, ``failed`` or ``cancelled`` ends it.

    ``numbers_read`` and ``not_read`` answer :meth:`read` and :meth:`open`, by the stage that these were for; ``opened``
    tells of a file with Q, K and V.
    """

    running_changed = Signal(bool)
    progressed = Signal(float)
    found = Signal(object)
    failed = Signal(str)
    cancelled = Signal()
    numbers_read = Signal(str, object, str)
    not_read = Signal(str, str)
    opened = Signal(object)

    def __init__(self, worker: Worker, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = worker

    @property
    def running(self) -> bool:
        return self._worker.running(DIAGNOSE)

    def start(self, asked: Asked, device: str) -> None:
        """Look for the convention, in place of whatever is being looked for."""
        self._worker.submit(
            DIAGNOSE,
            lambda: _find(asked, device),
            Priority.BACKGROUND,
            self._on_found,
            self._on_failure,
            self.progressed.emit,
        )
        self.running_changed.emit(True)

    def cancel(self) -> None:
        """Give up."""
        if self.running:
            self._worker.cancel(DIAGNOSE)
            self.running_changed.emit(False)
            self.cancelled.emit()

    def read(self, stage: str, text: str) -> None:
        """Read numbers that were pasted; only the last text of a stage counts."""
        self._submit(stage, lambda: numbers_in(text), lambda numbers: self.numbers_read.emit(stage, numbers, ""))

    def open(self, stage: str, path: Path) -> None:
        """Read a file: numbers of ``stage``, or Q, K and V with whatever stages it has."""
        self._submit(stage, lambda: _opened(path), partial(self._on_opened, stage, path))

    def forget(self, stage: str) -> None:
        """What is being read for ``stage`` is wanted no more."""
        self._worker.cancel(READ.format(stage))

    def _submit(self, stage: str, make: Any, done: Any) -> None:
        failed = partial(self._on_not_read, stage)
        self._worker.submit(READ.format(stage), at_once(make), Priority.TRACE, done, failed)

    def _on_opened(self, stage: str, path: Path, opened: TensorFile | Numbers) -> None:
        if isinstance(opened, Numbers):
            self.numbers_read.emit(stage, opened, path.name)
        elif all(name in opened.arrays for name in "QKV"):
            self.opened.emit(opened)
        else:
            given = {name: opened.arrays[name] for name in tensor_file.STAGES if name in opened.arrays}
            for name, numbers in given.items():
                self.numbers_read.emit(name, numbers, path.name)
            if not given:
                held = ", ".join([*opened.arrays, *opened.others]) or "no array"
                self.not_read.emit(stage, f"{path.name}: expected scores, weights or output, received {held}")

    def _on_found(self, finding: Finding) -> None:
        self.running_changed.emit(False)
        self.found.emit(finding)

    def _on_failure(self, error: BaseException) -> None:
        self.running_changed.emit(False)
        self.failed.emit(_said(error))
        if not isinstance(error, ExperimentError | FileError | MemoryError) and not _is_full(error):
            raise error

    def _on_not_read(self, stage: str, error: BaseException) -> None:
        self.not_read.emit(stage, _said(error))
        if not isinstance(error, Unreadable | FileError | MemoryError):
            raise error


def _find(asked: Asked, device: str) -> Steps:
    # imported here, in the worker: the first paint does not wait for torch
    from attn_gui.compute.diagnose import diagnose_steps

    question = asked.question()
    diagnosis: Diagnosis = yield from diagnose_steps(question, device)
    shown = diagnosis.matches or tuple(m.convention for m in (diagnosis.nearest,) if m is not None)
    settings: dict[Convention, Experiment | str] = {}
    for convention in shown:
        why_not = inexpressible(question.experiment, convention)
        settings[convention] = with_convention(question.experiment, convention) if why_not is None else why_not
        yield 1.0
    return Finding(asked, diagnosis, settings)


def _opened(path: Path) -> TensorFile | Numbers:
    if path.suffix.lower() not in ARRAYS:
        return tensor_file.read(path)
    return Numbers.of(arrays_in(path)[""])


def _is_full(error: BaseException) -> bool:
    """Whether a device has no memory left, as torch says it."""
    return "OutOfMemory" in type(error).__name__


def _said(error: BaseException) -> str:
    if isinstance(error, FileError):
        return f"{error.path.name}: {reason(error)}"
    if isinstance(error, MemoryError) or _is_full(error):
        return str(error) or "It takes more memory than there is"
    return f"{str(error)[:1].upper()}{str(error)[1:]}" or "Something unexpected went wrong"
