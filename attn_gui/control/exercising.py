"""Exercising: types into the exercise that is open, has it checked in the worker, and shows what may be shown."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from PySide6.QtCore import QObject, Signal

from attn_gui.control.document import Document
from attn_gui.control.notices import Notices
from attn_gui.control.worker import Priority, Steps, Worker
from attn_gui.files.exercise_files import given_again
from attn_gui.model.check import Checked, GivenTable, Verdict
from attn_gui.model.errors import ExperimentError
from attn_gui.model.exercise import TALLY, Exercise, Tally
from attn_gui.model.experiment import Experiment
from attn_gui.model.marks import Mark
from attn_gui.model.session import Session
from attn_gui.model.trace import Head

CHECK = "check the exercise"
TOPIC = "exercise"


@dataclass(frozen=True, eq=False)
class Marked:
    """What a check has found: a mark for each stage, and the tables as they were checked."""

    exercise: Exercise
    experiment: Experiment
    marks: tuple[Mark, ...]
    results: tuple[Checked, ...]

    @cached_property
    def by_place(self) -> Mapping[tuple[str, Head], tuple[GivenTable, Checked]]:
        """By stage and head what had been typed, and what is to be said of it."""
        found: dict[tuple[str, Head], tuple[GivenTable, Checked]] = {}
        for result in self.results:
            stage, head = result.table.stage, result.table.head
            assert head != "mean", "nobody is asked for a mean"
            found[stage, head] = self.exercise.answer(self.experiment, stage, head), result
        return found


class Exercising(QObject):
    """``changed``: another check, or another exercise; ``checking_changed``: a check begins or ends."""

    changed = Signal()
    checking_changed = Signal(bool)

    def __init__(self, worker: Worker, document: Document, notices: Notices, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = worker
        self._document = document
        self._notices = notices
        self.marked: Marked | None = None
        self._given: tuple[Experiment, Experiment | None] | None = None
        self._handed_out: tuple[str, Experiment] | None = None  # the last one that could be had, by its fingerprint
        document.changed.connect(self._on_document)

    @property
    def exercise(self) -> Exercise | None:
        """The exercise that is open."""
        return self._document.session.named.exercise

    @property
    def tally(self) -> Tally:
        return Tally.of(self._document.session.view)

    @property
    def checking(self) -> bool:
        return self._worker.running(CHECK)

    @property
    def is_as_given(self) -> bool:
        """Whether what was given is as it was handed out."""
        return self.given is self._document.experiment

    @property
    def given(self) -> Experiment | None:
        """The experiment as it was handed out; None where it cannot be had again."""
        experiment, exercise = self._document.experiment, self.exercise
        if exercise is None:
            return None
        if self._given is None or self._given[0] is not experiment:
            found = given_again(self._document.session.named)
            if found is not None:
                self._handed_out = exercise.fingerprint, found
            elif self._handed_out is not None and self._handed_out[0] == exercise.fingerprint:
                found = self._handed_out[1]
            self._given = experiment, found
        return self._given[1]

    def restore(self) -> None:
        """Have what was given again, as one undo step."""
        if self.given is not None and not self.is_as_given:
            self._document.apply("Restore what was given", self.given)

    @property
    def may_check(self) -> bool:
        """Whether there is something to check, with the numbers that were given, and it is not too late."""
        exercise = self.exercise
        if exercise is None or exercise.too_large(self._document.experiment) is not None:
            return False
        begun = bool(exercise.answers) and bool(exercise.blank)
        return begun and self.is_as_given and not self.tally.shown and not self.checking

    @property
    def may_show(self) -> bool:
        """Whether the answers may be shown now."""
        exercise = self.exercise
        return exercise is not None and bool(exercise.blank) and self.tally.may_show(exercise)

    def answer(self, stage: str, head: int) -> GivenTable:
        """What has been typed for a stage that is asked."""
        exercise = self.exercise
        assert exercise is not None, "there is no exercise"
        return exercise.answer(self._document.experiment, stage, head)

    def type(self, table: GivenTable, label: str) -> None:
        """Have ``table`` in place of what was typed for its stage, as one undo step; not once answers were shown."""
        named = self._document.session.named
        if named.exercise is not None and not self.tally.shown:
            exercise = named.exercise.with_answer(table)
            self._document.apply_named(label, replace(named, exercise=exercise))

    def verdict(self, stage: str, head: int, row: int, column: int) -> Verdict:
        """What the last check said of a cell; BLANK where it was not answered, or otherwise than now."""
        now = self.answer(stage, head)
        found = None if self.marked is None else self.marked.by_place.get((stage, now.head))
        if found is None:
            return Verdict.BLANK
        typed, checked = found
        if checked.verdicts.shape != now.shape or typed.cells[row][column] != now.cells[row][column]:
            return Verdict.BLANK
        return Verdict(int(checked.verdicts[row, column]))

    def check(self) -> None:
        """Have what is typed judged; what is wholly right is hidden no longer."""
        exercise, experiment = self.exercise, self._document.experiment
        if exercise is not None and self.may_check:
            device = self._document.device
            self._worker.submit(
                CHECK,
                lambda: _marked(exercise, experiment, device),
                Priority.TRACE,
                self._on_marked,
                self._on_failure,
            )
            self.checking_changed.emit(True)

    def show_answers(self) -> None:
        """Hide nothing any more; what was typed stays as it is from then on."""
        named = self._document.session.named
        if named.exercise is not None and self.may_show:
            self._keep(replace(self.tally, shown=True))
            opened = named.exercise.opening(named.exercise.asked)
            self._document.apply_named("Show the answers", replace(named, exercise=opened))

    def _on_marked(self, marked: Marked) -> None:
        self.checking_changed.emit(False)
        named = self._document.session.named
        if named.exercise is None or named.exercise.fingerprint != marked.exercise.fingerprint:
            return  # the person has gone on to something else
        self.marked = marked
        tally, digest = self.tally, _digest(marked.exercise)
        if digest != tally.last:
            self._keep(replace(tally, checks=tally.checks + 1, last=digest))
        solved = [mark.stage for mark in marked.marks if mark.solved and mark.stage in named.exercise.blank]
        if solved:
            opened = named.exercise.opening(solved)
            self._document.apply_named("Check", replace(named, exercise=opened))
        self.changed.emit()

    def _keep(self, tally: Tally) -> None:
        # no undo takes back that something was checked or shown
        self._document.keep_view(**{TALLY: tally.plain()})

    def _on_failure(self, error: BaseException) -> None:
        self.checking_changed.emit(False)
        self._notices.error(f"The exercise could not be checked: {error}", TOPIC)
        if not isinstance(error, ExperimentError | MemoryError):
            raise error

    def _on_document(self, before: Session, after: Session) -> None:
        one, other = before.named.exercise, after.named.exercise
        if one is other:
            return
        if one is None or other is None or one.fingerprint != other.fingerprint:
            self.marked = None
            self._worker.cancel(CHECK)
        self.changed.emit()


def _digest(exercise: Exercise) -> str:
    """What tells the answers of one check from those of another."""
    return hashlib.sha256(repr(exercise.answers).encode("utf-8", "backslashreplace")).hexdigest()[:16]


def _marked(exercise: Exercise, experiment: Experiment, device: str) -> Steps:
    # imported here, in the worker: the first paint does not wait for torch
    from attn_gui.compute.marking import mark_steps

    marks, results = yield from mark_steps(exercise, experiment, device)
    return Marked(exercise, experiment, marks, results)
