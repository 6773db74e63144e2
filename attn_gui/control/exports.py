"""Exports: stages of the trace that is shown, written to files or put on the clipboard by the worker."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication

from attn_gui.control.feed import Feed
from attn_gui.control.worker import Priority, Steps, Worker
from attn_gui.files.csv_labels import neutralised
from attn_gui.files.csv_matrix import BLOCK_CELLS, ReadRows, row_blocks
from attn_gui.files.errors import FileError
from attn_gui.files.export import Form, export_folder, export_stage, file_name, folder_for
from attn_gui.files.export_parts import Part, export_part, lines_of, part_name
from attn_gui.files.export_size import experiment_bytes, part_bytes, stage_bytes
from attn_gui.files.layout import distinct_stages_of, layout
from attn_gui.files.numbers import rows_text
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.session import NamedExperiment
from attn_gui.model.stages import STAGES
from attn_gui.model.trace import Head, Trace

EXPORT = "export"
COPY = "copy a stage"
MAX_COPIED_CELLS = 1_000_000


@dataclass(frozen=True)
class Order:
    """What to write: one ``stage`` (of one head, of the mean, or of every head with None), or with None everything.

    part: what of a square stage, as CSV; None for all of it.
    """

    form: Form
    stage: str | None = None
    head: Head | None = None
    part: Part | None = None

    def files(self, experiment: Experiment) -> list[tuple[str, Head | None, str]]:
        """The stage, the head and the name of each file of numbers."""
        return [
            (stage, head, self._name(stage, head))
            for stage in self._stages(experiment)
            for head in self._heads_of_files(experiment, stage)
        ]

    def in_folder(self, experiment: Experiment) -> bool:
        """Whether the files go into a folder of their own."""
        return self.stage is None or len(self.files(experiment)) > 1

    def cells(self, experiment: Experiment) -> int:
        """How many numbers are written."""
        stages = self._stages(experiment)
        if self.part is not None:
            rows, columns = lines_of(experiment, self.part)
            return rows * columns * len(self.files(experiment))
        return sum(layout(experiment, stage).cells * self._tables(experiment, stage) for stage in stages)

    def bytes(self, experiment: Experiment) -> int:
        """About how large the files become where no number is round, and much less where many are."""
        stages = self._stages(experiment)
        if self.part is not None:
            return part_bytes(experiment, self.part) * len(self.files(experiment))
        total = sum(stage_bytes(experiment, stage, self._tables(experiment, stage), self.form) for stage in stages)
        if self.stage is None:
            total += experiment_bytes(experiment)
        return total

    def _name(self, stage: str, head: Head | None) -> str:
        if self.part is not None and head is not None:
            return part_name(stage, head, self.part)
        return file_name(stage, head, self.form)

    def _stages(self, experiment: Experiment) -> tuple[str, ...]:
        return distinct_stages_of(experiment) if self.stage is None else (self.stage,)

    def _tables(self, experiment: Experiment, stage: str) -> int:
        return experiment.heads if self.head is None and STAGES[stage].per_head else 1

    def _heads_of_files(self, experiment: Experiment, stage: str) -> list[Head | None]:
        if not STAGES[stage].per_head:
            return [None]
        if self.head is not None:
            return [self.head]
        # a file in matrix form holds one table
        return list(range(experiment.heads)) if self.form == "csv" else [None]


class Exports(QObject):
    """Carries out one order at a time, from the trace that is shown when it is given.

    ``finished(path)``, ``failed(error)`` or ``cancelled`` ends it; the last two leave no file half written.
    """

    running_changed = Signal(bool)
    progressed = Signal(float)
    finished = Signal(object)
    failed = Signal(object)
    cancelled = Signal()
    copied = Signal()
    copy_failed = Signal(object)

    def __init__(self, worker: Worker, feed: Feed, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = worker
        self._feed = feed

    @property
    def running(self) -> bool:
        return self._worker.running(EXPORT)

    def export(self, order: Order, named: NamedExperiment, path: Path) -> None:
        """Write what ``order`` says to the file or the folder ``path``; ``named`` gives the experiment's name and note.

        Raises RuntimeError while another export runs, and before anything has been computed.
        """
        trace = self._feed.trace
        if self.running or trace is None:
            raise RuntimeError("an export is running" if self.running else "nothing has been computed yet")
        shown = replace(named, experiment=trace.experiment)
        self._worker.submit(
            EXPORT,
            lambda: _write(trace, order, shown, path),
            Priority.BACKGROUND,
            lambda _: self._on_finish(path),
            self._on_failure,
            self.progressed.emit,
        )
        self.running_changed.emit(True)

    def cancel(self) -> None:
        """Give up the running export: what it was writing is not there, what was there before still is."""
        if self.running:
            self._worker.cancel(EXPORT)
            self.running_changed.emit(False)
            self.cancelled.emit()

    def copy(self, stage: str, head: Head) -> None:
        """Put a stage on the clipboard as tab-separated text with its labels, every number exact.

        Raises RuntimeError before anything has been computed.
        """
        trace = self._feed.trace
        if trace is None:
            raise RuntimeError("nothing has been computed yet")
        # ahead of a running export: the person is about to paste
        self._worker.submit(COPY, lambda: _text(trace, stage, head), Priority.TRACE, self._on_text, self._on_no_text)

    def _on_finish(self, path: Path) -> None:
        self.running_changed.emit(False)
        self.finished.emit(path)

    def _on_failure(self, error: BaseException) -> None:
        self.running_changed.emit(False)
        self.failed.emit(error)
        if not isinstance(error, FileError | MemoryError):
            raise error

    def _on_text(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self.copied.emit()

    def _on_no_text(self, error: BaseException) -> None:
        self.copy_failed.emit(error)
        if not isinstance(error, ExperimentError | MemoryError):
            raise error


def _write(trace: Trace, order: Order, named: NamedExperiment, path: Path) -> Steps:
    if order.stage is None:
        yield from export_folder(trace, named, path, distinct_stages_of(trace.experiment), order.form)
        return
    files = order.files(trace.experiment)
    if len(files) == 1:
        stage, head, _ = files[0]
        yield from _written(trace, order, stage, head, path)
        return
    with folder_for([name for _, _, name in files], path):
        for done, (stage, head, name) in enumerate(files):
            with closing(_written(trace, order, stage, head, path / name)) as parts:
                for part in parts:
                    yield (done + part) / len(files)


def _written(trace: Trace, order: Order, stage: str, head: Head | None, path: Path) -> Steps:
    """One file of an order."""
    if order.part is not None and head is not None:
        return export_part(trace, stage, head, path, order.part)
    return export_stage(trace, stage, head, path, order.form)


def _text(trace: Trace, stage: str, head: Head) -> Steps:
    table = layout(trace.experiment, stage)
    if table.cells > MAX_COPIED_CELLS:
        received = f"{table.cells:,}, which are better exported to a file"
        raise ExperimentError("copy", f"at most {MAX_COPIED_CELLS:,} cells", received)
    read = _reader(trace, stage, head)
    lines = ["\t".join([table.row_kind, *(_cell(label) for label in table.columns)])]
    for rows in row_blocks(table, BLOCK_CELLS):
        texts = rows_text(read(rows), trace.experiment.precision)
        for label, text in zip(table.rows[rows], texts, strict=True):
            lines.append(_cell(label) + "\t" + text.decode("ascii").replace(",", "\t"))
        yield rows.stop / len(table.rows)
    return "\n".join(lines)


def _reader(trace: Trace, stage: str, head: Head) -> ReadRows:
    if STAGES[stage].square:
        matrix = trace.matrix(stage, head)
        return lambda rows: matrix.block(rows, slice(0, matrix.shape[1]))
    values = trace.stage(stage, 0 if head == "mean" else head)
    return lambda rows: values[rows]


def _cell(label: str) -> str:
    """``label`` as a cell that a spreadsheet takes as text."""
    safe = neutralised(label)
    return '"' + safe.replace('"', '""') + '"' if safe.startswith('"') or any(c in safe for c in "\t\r\n") else safe
