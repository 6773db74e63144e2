"""Document: the one mutable object. It holds a Session; intents come in as undo commands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QSignalBlocker, Signal
from PySide6.QtGui import QUndoGroup, QUndoStack

from attn_gui.control.commands import ChangeSession, Step
from attn_gui.control.feed import Feed
from attn_gui.files import examples
from attn_gui.model.experiment import Experiment
from attn_gui.model.session import BESIDE, NamedExperiment, Session
from attn_gui.model.session_title import session_title

UNDO_BYTES = 256 << 20
AS_SHIPPED = "Of the example as shipped: "


@dataclass(frozen=True, eq=False)
class Unsaved:
    """Work that no file holds, and the file that it is a later state of, None where there is none."""

    session: Session
    path: Path | None

    @property
    def name(self) -> str:
        """What the person knows it by."""
        return self.path.name if self.path is not None else session_title(self.session)


@dataclass(frozen=True, eq=False)
class _Home:
    """What is open while a visit is paid elsewhere: it stays as it is, with the work of it that no file holds."""

    session: Session
    path: Path | None
    undo_stack: QUndoStack
    undo_bytes: int
    first: Session | None
    departures: list[ChangeSession]
    dropped: list[tuple[Session, Path | None]]
    unsaved: tuple[Unsaved, ...]


class Document(QObject):
    """The session that is open, its undo history and its file.

    ``changed(before, after)`` carries two Sessions, after every change, undo and redo; ``revisited(before, after)``
    follows it after an undo or a redo. ``unsaved_changed`` says that :attr:`modified`, or what was left unsaved by
    departures, is no longer the same. ``work_kept`` tells of work that is kept without a step: tables to check, and
    interventions. ``visit_ended(back)`` says that a :meth:`visit` is over, by :meth:`come_back` or
    by something else having been opened. Nothing is computed until :meth:`start`.
    """

    changed = Signal(object, object)
    revisited = Signal(object, object)
    unsaved_changed = Signal()
    work_kept = Signal()
    path_changed = Signal()
    device_changed = Signal(str)
    visit_ended = Signal(bool)

    def __init__(self, session: Session, feed: Feed, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.feed = feed
        self.path: Path | None = None
        self.undo_group = QUndoGroup(self)
        self.undo_stack = self._new_stack()
        self._home: _Home | None = None
        self.device = "cpu"
        self._started = False
        self._undo_bytes = 0
        self._held: dict[Path, Session] = {}  # what each file holds
        self._first: Session | None = session  # where the history begins, if that is nobody's work yet
        self._departures: list[ChangeSession] = []
        self._dropped: list[tuple[Session, Path | None]] = []  # left by departures that the history has forgotten
        self._told: tuple[bool, tuple[object, ...]] = (False, ())

    @property
    def experiment(self) -> Experiment:
        return self.session.experiment

    @property
    def title(self) -> str:
        """What files made of it are called at first: as its own file, or else as the session.

        With the name of the layer where it has several.
        """
        own = self.path.stem if self.path is not None else session_title(self.session)
        named = self.session.named
        several = len(self.session.experiments) > 1 and named.place is not None and named.name != own
        return f"{own}, {named.name}" if several else own

    @property
    def modified(self) -> bool:
        """Whether what is shown is another state than its file's or, without a file, than it was come upon in.

        Never during a visit, of which nothing is to be saved.
        """
        return self._home is None and self._is_unsaved(self.session, self.path)

    @property
    def unsaved(self) -> tuple[Unsaved, ...]:
        """All work that no file holds: what departures left, the oldest first, and what is shown, if it is modified."""
        if self._home is not None:
            return tuple(work for work in self._home.unsaved if not self._is_saved(work))
        found: list[Unsaved] = []
        taken: set[Path] = set()
        for session, path in reversed([*self._left(), (self.session, self.path)]):
            own = None if path in taken else path  # a file that something else went into later is no longer its own
            if path is not None:
                taken.add(path)
            if self._is_unsaved(session, own):
                found.append(Unsaved(session, own))
        return tuple(reversed(found))

    @property
    def dirty(self) -> bool:
        """Whether there is work that no file holds and that is not a shipped example as it was shipped."""
        return bool(self.unsaved)

    def is_held(self, session: Session) -> bool:
        """Whether a file holds ``session``."""
        return any(held.same_work(session) for held in self._held.values())

    def start(self) -> None:
        """Begin computing; called once the window has been painted."""
        self._started = True
        self._compute()

    def apply(self, label: str, experiment: Experiment, merge: str | None = None) -> None:
        """Make ``experiment`` the current one, as one undo step called ``label``.

        Steps that follow one another with the same ``merge`` key become one. The note of a shipped example, which
        speaks of its numbers, is marked as such from then on.
        """
        session = self.session.with_experiment(experiment)
        if session.named.note in examples.notes():
            session = session.with_current(replace(session.named, note=AS_SHIPPED + session.named.note))
        self.apply_session(label, session, merge)

    def apply_named(self, label: str, named: NamedExperiment) -> None:
        """Put ``named`` in place of the current experiment, as one undo step."""
        self.apply_session(label, self.session.with_current(named))

    def depart(self, label: str, to: NamedExperiment | Session) -> None:
        """Go on with ``to`` as a document of no file yet, as one undo step; the view stays as it is.

        What was unsaved stays so; of what is come upon there is nothing to save yet.
        """
        session = replace(Session((to,)) if isinstance(to, NamedExperiment) else to, view=self.session.view)
        self._push(ChangeSession(self, label, session, departure=True))

    @property
    def visiting(self) -> bool:
        return self._home is not None

    def visit(self, named: NamedExperiment) -> None:
        """Show ``named`` with a history of its own, until :meth:`come_back` brings back what is open as it is now."""
        assert self._home is None, "a visit is over before another begins"
        self._home = _Home(
            self.session,
            self.path,
            self.undo_stack,
            self._undo_bytes,
            self._first,
            self._departures,
            self._dropped,
            self.unsaved,
        )
        session = Session((named,), view=self.session.view)
        self.undo_stack = self._new_stack()
        self._undo_bytes, self._first, self._departures, self._dropped = 0, session, [], []
        self._move_to(None)
        self._show(session)

    def come_back(self) -> None:
        """End a visit: what was open before is shown again as it was, and can be undone and redone as before."""
        home = self._leave_visit()
        self._move_to(home.path)
        self._show(home.session, keep_view=False)
        self.visit_ended.emit(True)

    def apply_session(self, label: str, session: Session, merge: str | None = None) -> None:
        """Make ``session`` the current one, as one undo step."""
        self._push(ChangeSession(self, label, session, merge))

    def _push(self, command: ChangeSession) -> None:
        self._undo_bytes += command.cost()
        # what was undone goes with the push
        self._departures = [departure for departure in self._departures if departure.done]
        if command.departure:
            self._departures.append(command)
        self.undo_stack.push(command)
        if self._undo_bytes > UNDO_BYTES:
            self._forget_oldest()

    def open(self, session: Session, path: Path | None, *, clean: bool = True) -> None:
        """Show another session, with a history of its own. Unless it is ``clean`` no file holds it. A visit ends."""
        visited = self._home is not None
        if visited:
            self._leave_visit()
        self._departures, self._dropped = [], []
        self.undo_stack.clear()
        self._undo_bytes = 0
        self._held = {path: session} if clean and path is not None else {}
        self._first = session if clean and path is None else None
        self.path = path
        self._show(replace(session), keep_view=False)
        self.path_changed.emit()
        if visited:
            self.visit_ended.emit(False)

    def saved(self, path: Path, session: Session) -> None:
        """``session``, the present one or one before it, is now in ``path``, which is the document's from now on."""
        self.path = path
        self.written(path, session)
        self.path_changed.emit()

    def written(self, path: Path, session: Session) -> None:
        """``session`` is now in ``path``, whatever is shown."""
        self._held[path] = session
        self._review()

    def show(self, index: int) -> None:
        """Have the experiment at ``index`` of the session in sight; no undo step, since nothing is changed by it.

        An undo step of another experiment brings that one back to sight. Raises ExperimentError where there is none.
        """
        if index != self.session.current:
            self._show(replace(self.session, current=index))

    def keep_view(self, **choices: Any) -> None:
        """Keep view choices in the session, without an undo step: they are not part of what is explored.

        Some are work all the same, which a file has to hold.
        """
        self.session = replace(self.session, view={**self.session.view, **choices})
        if not self.visiting and any(name in choices for name in BESIDE):
            self._review()
            self.work_kept.emit()

    def set_device(self, device: str) -> None:
        """Compute on ``device`` from now on."""
        if device != self.device:
            self.device = device
            self.device_changed.emit(device)
            self._compute()

    def recompute(self) -> None:
        self._compute()

    def _new_stack(self) -> QUndoStack:
        stack = QUndoStack(self.undo_group)
        stack.setActive()
        return stack

    def _leave_visit(self) -> _Home:
        """Have the history again that there was before the visit."""
        home, self._home = self._home, None
        assert home is not None, "there is no visit to end"
        visited, self.undo_stack = self.undo_stack, home.undo_stack
        self.undo_stack.setActive()
        self._undo_bytes, self._first = home.undo_bytes, home.first
        self._departures, self._dropped = home.departures, home.dropped
        visited.deleteLater()
        return home

    def _is_saved(self, work: Unsaved) -> bool:
        """Whether a file has come to hold ``work``, which none held."""
        return self.is_held(work.session) if work.path is None else not self._is_unsaved(work.session, work.path)

    def _move_to(self, path: Path | None) -> None:
        """Be another document, whose file is ``path``: said also where neither has one."""
        self.path = path
        self.path_changed.emit()

    def _left(self) -> Iterator[tuple[Session, Path | None]]:
        """What departures left, with its file, the oldest first."""
        yield from self._dropped
        for departure in self._departures:
            if departure.done:
                yield departure.before, departure.origin

    def _is_unsaved(self, session: Session, path: Path | None) -> bool:
        if path is not None:
            held = self._held.get(path)
            return held is None or not held.same_work(session)
        return not self._is_untouched(session) and not self.is_held(session)

    def _is_untouched(self, session: Session) -> bool:
        """Whether ``session`` is as it was come upon."""
        first = self._first is not None and self._first.same_work(session)
        return first or any(departure.after.same_work(session) for departure in self._departures)

    def _review(self) -> None:
        """Say so if other work is unsaved than before; which of the present document's states is no matter."""
        if self.signalsBlocked():
            return
        modified, unsaved = self.modified, self.unsaved
        left = tuple((id(work.session.experiments), work.path) for work in unsaved[: -1 if modified else None])
        if (modified, left) != self._told:
            self._told = (modified, left)
            self.unsaved_changed.emit()

    def _show(self, session: Session, keep_view: bool = True, revisited: bool = False) -> None:
        before = self.session
        self.session = replace(session, view=before.view) if keep_view else session
        self._review()
        self.changed.emit(before, self.session)
        if revisited:
            self.revisited.emit(before, self.session)
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
        self._dropped += [(gone.before, gone.origin) for gone in commands[:first] if gone.departure]
        begin = commands[first].before
        self._first = begin if self._is_untouched(begin) else None
        self._rebuild([Step.of(command) for command in commands[first:]])

    def _commands(self) -> list[ChangeSession]:
        stack = self.undo_stack
        return [c for c in map(stack.command, range(stack.count())) if isinstance(c, ChangeSession)]

    def _rebuild(self, steps: list[Step]) -> None:
        """Make ``steps``, all of them done, the whole history. Nobody need know."""
        stack, now, path = self.undo_stack, self.session, self.path
        started, self._started = self._started, False
        quiet = QSignalBlocker(self), QSignalBlocker(stack)
        stack.clear()
        self._departures = []
        for step in steps:
            self.session, self.path = step.before, step.origin
            command = ChangeSession(self, step.label, step.after, departure=step.departure)
            command.destination = step.destination
            stack.push(command)
            command.merge = step.merge  # not earlier: two steps that a save kept apart would become one
            if command.departure:
                self._departures.append(command)
        for blocker in quiet:
            blocker.unblock()
        self.session, self.path = now, path
        self._started = started
