"""Document: the one mutable object. It holds a Session; intents come in as undo commands."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QSignalBlocker, Signal
from PySide6.QtGui import QUndoStack

from attn_gui.control.commands import ChangeSession, Step
from attn_gui.control.feed import Feed
from attn_gui.model.experiment import Experiment
from attn_gui.model.session import NamedExperiment, Session

UNDO_BYTES = 256 << 20


class Document(QObject):
    """The session that is open, its undo history and its file.

    ``changed(before, after)`` carries two Sessions, after every change, undo and redo. Nothing is computed until
    :meth:`start`.
    """

    changed = Signal(object, object)
    path_changed = Signal()
    device_changed = Signal(str)

    def __init__(self, session: Session, feed: Feed, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.feed = feed
        self.path: Path | None = None
        self.undo_stack = QUndoStack(self)
        self.device = "cpu"
        self._started = False
        self._undo_bytes = 0

    @property
    def experiment(self) -> Experiment:
        return self.session.experiment

    @property
    def dirty(self) -> bool:
        """Whether there are changes that no file holds."""
        return not self.undo_stack.isClean()

    def start(self) -> None:
        """Begin computing; called once the window has been painted."""
        self._started = True
        self._compute()

    def apply(self, label: str, experiment: Experiment, merge: str | None = None) -> None:
        """Make ``experiment`` the current one, as one undo step called ``label``.

        Steps that follow one another with the same ``merge`` key become one.
        """
        self.apply_session(label, self.session.with_experiment(experiment), merge)

    def apply_named(self, label: str, named: NamedExperiment) -> None:
        """Put ``named`` in place of the current experiment, as one undo step."""
        self.apply_session(label, self.session.with_current(named))

    def depart(self, label: str, named: NamedExperiment) -> None:
        """Go on with ``named`` as a document of no file yet, as one undo step.

        What was unsaved stays so; where nothing was, there is nothing to save yet.
        """
        dirty = self.dirty
        self._push(ChangeSession(self, label, self.session.with_current(named), departure=True))
        if not dirty:
            self.undo_stack.setClean()

    def apply_session(self, label: str, session: Session, merge: str | None = None) -> None:
        """Make ``session`` the current one, as one undo step."""
        self._push(ChangeSession(self, label, session, merge))

    def _push(self, command: ChangeSession) -> None:
        self._undo_bytes += command.cost()
        self.undo_stack.push(command)
        if self._undo_bytes > UNDO_BYTES:
            self._forget_oldest()

    def open(self, session: Session, path: Path | None, *, clean: bool = True) -> None:
        """Show another session, with a history of its own."""
        self.undo_stack.clear()
        self._undo_bytes = 0
        if not clean:
            self.undo_stack.resetClean()
        self._show(replace(session), keep_view=False)
        self.path = path
        self.path_changed.emit()

    def saved(self, path: Path, session: Session) -> None:
        """``session``, which is the present one or one of the history, is now in ``path``."""
        self.path = path
        if self.session.same_work(session):
            self.undo_stack.setClean()
        else:
            steps = self._steps()
            states = [step.before for step in steps[:1]] + [step.after for step in steps]
            clean = [index for index, state in enumerate(states) if state.same_work(session)]
            self._rebuild(steps, clean[0] if clean else -1)
        self.path_changed.emit()

    def keep_view(self, **choices: Any) -> None:
        """Keep view choices in the session, without an undo step: they are not part of what is explored."""
        self.session = replace(self.session, view={**self.session.view, **choices})

    def set_device(self, device: str) -> None:
        """Compute on ``device`` from now on."""
        if device != self.device:
            self.device = device
            self.device_changed.emit(device)
            self._compute()

    def recompute(self) -> None:
        self._compute()

    def _move_to(self, path: Path | None) -> None:
        if path != self.path:
            self.path = path
            self.path_changed.emit()

    def _show(self, session: Session, keep_view: bool = True) -> None:
        before = self.session
        self.session = replace(session, view=before.view) if keep_view else session
        self.changed.emit(before, self.session)
        if self.session.experiment is not before.experiment or not keep_view:
            self._compute()

    def _compute(self) -> None:
        if self._started:
            self.feed.compute(self.experiment, self.device)

    def _forget_oldest(self) -> None:
        """Keep the latest steps that fit half of UNDO_BYTES (Qt's stack can only be shortened as a whole)."""
        commands = self._commands()
        costs = [command.cost() for command in commands]
        self._undo_bytes = sum(costs)
        if self._undo_bytes <= UNDO_BYTES:
            return  # steps that became one, or were undone and replaced, had been counted each
        first = len(commands) - 1
        while first > 0 and sum(costs[first - 1 :]) <= UNDO_BYTES // 2:
            first -= 1
        self._undo_bytes = sum(costs[first:])
        self._rebuild([Step.of(command) for command in commands[first:]], self.undo_stack.cleanIndex() - first)

    def _commands(self) -> list[ChangeSession]:
        stack = self.undo_stack
        return [c for c in map(stack.command, range(stack.count())) if isinstance(c, ChangeSession)]

    def _steps(self) -> list[Step]:
        return [Step.of(command) for command in self._commands()]

    def _rebuild(self, steps: list[Step], clean: int) -> None:
        """Make ``steps`` the whole history, with the file's state at index ``clean`` of it. Nobody need know."""
        stack, now, path = self.undo_stack, self.session, self.path
        undone = stack.count() - stack.index()
        started, self._started = self._started, False
        quiet = QSignalBlocker(self), QSignalBlocker(stack)
        stack.clear()
        if clean != 0:
            stack.resetClean()
        for index, step in enumerate(steps, start=1):
            self.session, self.path = step.before, step.origin
            command = ChangeSession(self, step.label, step.after, departure=step.departure)
            stack.push(command)
            command.merge = step.merge  # not earlier: two steps that a save kept apart would become one
            if index == clean:
                stack.setClean()
        stack.setIndex(len(steps) - undone)
        for blocker in quiet:
            blocker.unblock()
        self.session, self.path = now, path
        self._started = started
