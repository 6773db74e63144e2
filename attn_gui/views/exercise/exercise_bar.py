"""ExerciseBar: what is asked, how the last check went, and Check."""

from __future__ import annotations

from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from attn_gui.control.exercising import Exercising
from attn_gui.model.exercise import Exercise
from attn_gui.model.session import Session
from attn_gui.views import half_typed
from attn_gui.views.context import Context
from attn_gui.views.elided_label import ElidedLabel

CHANGED = "What was given has been changed, and marking tells."
UNDO, RESTORE = f"{CHANGED} Undo it to go on.", f"{CHANGED} Restore it to go on."
LOST = f"{CHANGED} Put it back, or go on in the file as it was handed out."


class ExerciseBar(QFrame):
    """Two lines, the second once there is something to say."""

    def __init__(self, context: Context, exercising: Exercising, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._exercising = exercising
        self.setObjectName("exercise")
        self.setAccessibleName("Exercise")
        self.asked, self.outcome = ElidedLabel(), ElidedLabel()
        self.outcome.setObjectName("muted")
        self.check = QPushButton("&Check")
        self.restore = QPushButton("&Restore")
        self.restore.setToolTip("Have the given numbers as they were handed out")
        self.answers = QPushButton("Show ans&wers")
        self.mine = QPushButton("&My answers")
        self.mine.setCheckable(True)
        self.mine.setToolTip("Show what you typed, in place of the panels")
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 12, 8)
        row.setSpacing(8)
        lines = QVBoxLayout()
        lines.setSpacing(4)
        lines.addWidget(self.asked)
        lines.addWidget(self.outcome)
        row.addLayout(lines, 1)
        for button in (self.restore, self.check, self.answers, self.mine):
            row.addWidget(button)
        self.check.clicked.connect(lambda: exercising.check() if half_typed.commit() else None)
        self.answers.clicked.connect(lambda: exercising.show_answers() if half_typed.commit() else None)
        self.restore.clicked.connect(lambda: exercising.restore() if half_typed.commit() else None)
        exercising.changed.connect(self._on_check)
        exercising.checking_changed.connect(lambda on: self.refresh())
        context.document.changed.connect(self._on_document)
        context.document.undo_stack.canUndoChanged.connect(lambda on: self.refresh())
        context.look.changed.connect(self._dress)
        self._dress()

    def refresh(self) -> None:
        """Say how things stand."""
        exercising, exercise = self._exercising, self._exercising.exercise
        if exercise is None:
            return
        self.asked.setText(_asked(exercise))
        words = self._outcome(exercise)
        self.outcome.setText(words)
        self.outcome.setVisible(bool(words))
        self.setAccessibleDescription(" ".join(filter(None, (self.asked.text(), words))))
        self.restore.setVisible(exercising.given is not None and not exercising.is_as_given)
        self.check.setVisible(bool(exercise.blank))
        self.check.setEnabled(exercising.may_check)
        self.check.setToolTip(self._why_not(exercise))
        self.answers.setVisible(exercise.tries is not None and bool(exercise.blank))
        self.answers.setEnabled(exercising.may_show)
        self.answers.setToolTip(self._when(exercise))
        self.mine.setVisible(not exercise.blank)

    def _outcome(self, exercise: Exercise) -> str:
        exercising, tally = self._exercising, self._exercising.tally
        if not exercising.is_as_given:
            return f"⚠ {self._changed}"
        if exercising.checking:
            return "Checking"
        words = []
        if exercising.marked is not None:
            marks = [mark for mark in exercising.marked.marks if mark.right + mark.wrong + mark.carried]
            words += [f"{mark.words}.{f' Likely: {mark.cause}.' if mark.cause else ''}" for mark in marks]
        if tally.shown:
            words.append(f"Answers shown after {_checks(tally.checks)}.")
        elif not exercise.blank:
            words.append(f"Solved in {_checks(tally.checks)}.")
        elif tally.checks:
            words.append(f"{_checks(tally.checks).capitalize()} so far.")
        return " ".join(words)

    @property
    def _changed(self) -> str:
        if self._exercising.given is not None:
            return RESTORE
        # a file may have come so
        return UNDO if self._context.document.undo_stack.canUndo() else LOST

    def _why_not(self, exercise: Exercise) -> str:
        if not self._exercising.is_as_given:
            return self._changed
        return "" if exercise.answers else "Type an answer first"

    def _when(self, exercise: Exercise) -> str:
        left = (exercise.tries or 0) - self._exercising.tally.checks
        return (
            f"After {left} more check{'s' if left > 1 else ''}" if left > 0 else "Your answers can then not be changed"
        )

    def _on_check(self) -> None:
        self.refresh()
        if self.isVisible() and self.outcome.text():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, self.outcome.text()))

    def _on_document(self, before: Session, after: Session) -> None:
        if after.named.exercise is not None:
            self.refresh()

    def _dress(self) -> None:
        theme = self._context.look.theme
        width = 2 if theme.name == "contrast" else 1
        self.setStyleSheet(
            f"QFrame#exercise {{ background: {theme.band}; border: {width}px solid {theme.line}; border-radius: 6px; }}"
        )


def _asked(exercise: Exercise) -> str:
    *first, last = exercise.asked
    stages = f"{', '.join(first)} and {last}" if first else last
    whose = f" for {exercise.student}" if exercise.student else ""
    places = "1 decimal" if exercise.decimals == 1 else f"{exercise.decimals} decimals"
    return f"Exercise{whose}: fill in {stages} to {places}, then check."


def _checks(count: int) -> str:
    return "1 check" if count == 1 else f"{count} checks"
