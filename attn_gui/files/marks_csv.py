"""Marks as CSV: a line for each student and stage, and one for each file that could not be marked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from attn_gui.files.atomic import write_bytes
from attn_gui.files.csv_labels import quoted
from attn_gui.files.csv_matrix import LINE_END
from attn_gui.model.exercise import Tally
from attn_gui.model.experiment import Experiment
from attn_gui.model.marks import Mark
from attn_gui.model.session import NamedExperiment, Session

COLUMNS = ("student", "stage", "cells", "right", "carried forward", "wrong", "blank", "likely cause", "file", "remark")


@dataclass(frozen=True)
class MarkedFile:
    """What a file came to: ``marks``, none where it could not be marked, for the reason that ``remarks`` give."""

    path: Path
    student: str = ""
    marks: tuple[Mark, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def lines(self) -> list[tuple[object, ...]]:
        """Its lines of the table, cell by cell."""
        remark = "; ".join(self.remarks)
        if not self.marks:
            return [(self.student, *[""] * 7, str(self.path), remark)]
        return [
            (self.student, m.stage, m.cells, m.right, m.carried, m.wrong, m.blank, m.cause, str(self.path), remark)
            for m in self.marks
        ]


def remarks_on(
    handed_in: Session, named: NamedExperiment, given: Experiment | None, marks: Sequence[Mark]
) -> Iterator[str]:
    """What a teacher should know of an exercise besides its marks; ``given``: the experiment as it was handed out."""
    if given is None:
        yield "what was given or asked was changed and cannot be had again: marked by what is in the file"
    elif given is not named.experiment:
        yield "the given numbers were changed: marked by those handed out"
    tally = Tally.of(handed_in.view)
    if tally.shown:
        yield f"answers shown after {tally.checks} check{'s' if tally.checks != 1 else ''}"
    elif named.exercise is not None:
        opened = [mark.stage for mark in marks if mark.stage in named.exercise.opened and not mark.solved]
        if opened:
            yield f"shown although not right: {', '.join(opened)}"


def with_doubles(files: Sequence[MarkedFile]) -> list[MarkedFile]:
    """``files`` with a remark on those whose student has handed in another."""
    students = Counter(file.student for file in files if file.marks and file.student)
    return [
        replace(file, remarks=(*file.remarks, "another file is of the same student"))
        if students[file.student] > 1
        else file
        for file in files
    ]


def marks_csv(files: Sequence[MarkedFile]) -> bytes:
    """The table, with a line of names above it."""
    lines = [COLUMNS, *(line for file in files for line in file.lines)]
    # half a surrogate pair, which a name may hold, is no text in UTF-8
    cells = ([str(cell).encode("utf-8", "replace").decode() for cell in line] for line in lines)
    return LINE_END.join([*(b",".join(map(quoted, line)) for line in cells), b""])


def write_marks(path: Path, files: Sequence[MarkedFile]) -> None:
    """Put the table at ``path``; raises FileError."""
    write_bytes(path, marks_csv(files))
