"""Feed: what the views see of the computation. They read finished arrays from here and nowhere else."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal

from attn_gui.control.worker import Priority, Steps, Worker
from attn_gui.model.answers import NotYet
from attn_gui.model.arranging import PLAIN, Arranged, Arrangement, arranged, framed
from attn_gui.model.asks import Ask, PictureAsk, StatisticsAsk
from attn_gui.model.experiment import Experiment
from attn_gui.model.picture import Picture
from attn_gui.model.trace import Head, Trace

# a running trace younger than this is let finish, so that a burst of edits (a drag) shows states on the way
PATIENCE_S = 0.2

TRACE = "trace"
PASS = "pass"
# while a pass goes over the rows, pictures of what it has come to are brought up to date so often, other answers less
LOOK_S, ASK_AGAIN_S = 0.25, 1.0

# by slot, with the asks that they answer
Answers = dict[str, tuple[Ask, Any]]


class Feed(QObject):
    """Has experiments traced, latest wins, and answers the views' asks along with each trace.

    A view keeps an ask in a slot of its own name; the answer comes by ``answered`` each time there is a new trace or
    the ask has changed. ``traced`` comes first, then the pictures of the head in view, then, a moment later, everything
    else, other heads last. What is too large to be there at once comes in better and better pictures; an ask that has
    to wait is answered by NotYet first. ``passed`` tells how much of all rows is there, 0 to 1.
    """

    arrangement: Arrangement = PLAIN  # how the matrices are drawn that this feed tells of

    traced = Signal(object)
    answered = Signal(str, object)
    failed = Signal(object)
    progressed = Signal(float)
    passed = Signal(float)
    busy_changed = Signal(bool)

    def __init__(self, worker: Worker, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.trace: Trace | None = None
        self.failing = False  # whether the last trace that was asked for could not be had
        self._worker = worker
        self._asks: dict[str, Ask] = {}
        self._wanted: tuple[Experiment, str] | None = None
        self._submitted = 0.0
        self.memory: int | None = None
        self._coarse: set[str] = set()  # slots whose pictures the pass will make better
        self._waiting: set[str] = set()
        self._pass_first: list[Head] = []
        self._looked = self._asked_again = 0.0

    @property
    def experiment(self) -> Experiment | None:
        """Whose tokens the rows and columns of matrices are called after; None before the first trace."""
        return None if self.trace is None else self.framed(self.trace.experiment)

    @property
    def arranged(self) -> Arranged | None:
        """How matrices are drawn without some tokens, or with several in one place; None where they are not."""
        return None if self.trace is None else arranged(self.trace.experiment, self.arrangement)

    def framed(self, experiment: Experiment) -> Experiment:
        """An experiment whose tokens are called as those of ``experiment`` are drawn."""
        return framed(experiment, self.arrangement)

    @property
    def busy(self) -> bool:
        """Whether a trace is on its way."""
        return self._worker.running(TRACE)

    def compute(self, experiment: Experiment, device: str) -> None:
        """Have ``experiment`` traced on ``device``; the last asked for is sure to be shown, those before may be."""
        self._wanted = (experiment, device)
        if not self.busy:
            self._submit()
            self.busy_changed.emit(True)
        else:
            self._supersede()

    def cancel(self) -> None:
        """Give up the trace on its way; the last one stays."""
        self._wanted = None
        if self.busy:
            self._worker.cancel(TRACE)
            self.busy_changed.emit(False)

    @property
    def passing(self) -> bool:
        """Whether a pass over all rows is on its way."""
        return self._worker.running(PASS)

    def stop_pass(self) -> None:
        """Let the rows be that are not there yet, until :meth:`resume_pass` or another trace."""
        self._worker.cancel(PASS)

    def resume_pass(self) -> None:
        """Go over the rows that are not there yet, if no trace is on its way that will be gone over anyway."""
        if not self.busy:
            self._start_pass()

    def ask(self, slot: str, ask: Ask | None) -> None:
        """Keep ``ask`` in ``slot``, in place of the one there; None empties it."""
        if self._asks.get(slot) == ask:
            return
        if ask is None:
            del self._asks[slot]
            self._worker.cancel(slot)
            return
        self._asks[slot] = ask
        self._have_answered(slot)
        if self._worker.running(PASS) and self._first_heads()[:1] != self._pass_first[:1]:
            self._start_pass()

    def _have_answered(self, slot: str) -> None:
        """Have the ask in ``slot`` answered from the trace that there is."""
        trace, ask = self.trace, self._asks[slot]
        if trace is not None:
            done = partial(self._on_answer, slot, ask)
            priority = Priority.REFINE if self._aside(ask) else Priority.ASK
            self._worker.submit(slot, lambda: _answer(trace, ask), priority, done, self.failed.emit)

    def _on_answer(self, slot: str, ask: Ask, answer: Any) -> None:
        for slots, holds in (
            (self._waiting, isinstance(answer, NotYet)),
            (self._coarse, isinstance(answer, Picture) and answer.sampled),
        ):
            (slots.add if holds else slots.discard)(slot)
        self.answered.emit(slot, answer)
        trace = self.trace
        # what was answered may have led to another ask
        finer = isinstance(answer, Picture) and answer.finer and self._asks.get(slot) == ask
        if finer and trace is not None and isinstance(ask, PictureAsk) and not self._worker.running(slot):
            self._worker.submit(
                slot,
                lambda: _refined(trace, ask),
                Priority.REFINE,
                partial(self._on_refined, slot),
                self.failed.emit,
                partly=partial(self.answered.emit, slot),
            )

    def _on_refined(self, slot: str, picture: Picture) -> None:
        self._coarse.discard(slot)
        self.answered.emit(slot, picture)

    def _aside(self, ask: Ask) -> bool:
        """Whether ``ask`` has to wait for all that is looked at: it goes over every cell, or shows another head."""
        if isinstance(ask, PictureAsk):
            return ask.head != self._head_in_view()
        return isinstance(ask, StatisticsAsk)

    def _head_in_view(self) -> Head | None:
        """The head of the largest picture."""
        pictures = [ask for ask in self._asks.values() if isinstance(ask, PictureAsk)]
        return max(pictures, key=lambda ask: ask.size[0] * ask.size[1]).head if pictures else None

    def _first_heads(self) -> list[Head]:
        """The heads that are looked at."""
        return list(dict.fromkeys(ask.head for ask in self._asks.values() if isinstance(ask, PictureAsk)))

    def _start_pass(self) -> None:
        """Go over all rows that are not there yet, those of the heads that are looked at first."""
        trace = self.trace
        if trace is None or trace.part() == 1:
            return
        heads = [h for h in self._first_heads() if h == "mean" or h < trace.experiment.heads]
        self._pass_first = heads
        self._worker.submit(
            PASS, lambda: trace.passes(heads), Priority.PASS, self._on_passed, self.failed.emit, self._on_passing
        )

    def _on_passing(self, part: float) -> None:
        self.passed.emit(part)
        now = time.monotonic()
        if now - self._looked > LOOK_S:
            self._looked = now
            self._ask_again(self._coarse)
        if now - self._asked_again > ASK_AGAIN_S:
            self._asked_again = now
            self._ask_again(self._waiting)

    def _on_passed(self, result: object) -> None:
        self.passed.emit(1.0)
        self._ask_again(self._coarse | self._waiting)

    def _ask_again(self, slots: set[str]) -> None:
        for slot in list(slots):
            if slot in self._asks and not self._worker.running(slot):
                self._have_answered(slot)

    def _submit(self) -> None:
        if self._wanted is None:
            return
        (experiment, device), self._wanted = self._wanted, None
        self._submitted = time.monotonic()
        # the eye is on the heatmaps: they are drawn before the rest is even worked out
        head = self._head_in_view()
        pictures: dict[str, Ask] = {
            slot: ask for slot, ask in self._asks.items() if isinstance(ask, PictureAsk) and ask.head == head
        }
        memory = self.memory
        self._worker.submit(
            TRACE,
            lambda: _trace(experiment, device, memory, pictures),
            Priority.TRACE,
            self._on_trace,
            self._on_failure,
            self._on_progress,
        )

    def _supersede(self) -> None:
        """Start what is wanted in place of a trace that has been running for long."""
        if self._wanted is not None and time.monotonic() - self._submitted > PATIENCE_S:
            self._submit()

    def _on_progress(self, part: float) -> None:
        self.progressed.emit(part)
        self._supersede()

    def _on_trace(self, result: tuple[Trace, Answers]) -> None:
        trace, pictures = result
        self.trace, self.failing = trace, False
        self._worker.cancel(PASS)
        for slot in self._asks:
            self._worker.cancel(slot)  # an answer about the trace before
        self.traced.emit(trace)
        self._tell(pictures)
        if self.busy:  # what was traced has led to another edit
            return
        rest = {
            slot: ask
            for slot, ask in self._asks.items()
            if pictures.get(slot, (None, None))[0] != ask and not self._worker.running(slot)
        }
        aside = [slot for slot, ask in rest.items() if self._aside(ask)]
        for slot in aside:
            del rest[slot]
            self._have_answered(slot)
        self._worker.submit(
            TRACE, lambda: _answers(trace, rest), Priority.TRACE, self._on_answers, self._on_failure, self._on_progress
        )

    def _on_answers(self, answers: Answers) -> None:
        self._tell(answers)
        self._go_on()

    def _tell(self, answers: Answers) -> None:
        for slot, (ask, answer) in answers.items():
            if self._asks.get(slot) == ask:
                self._worker.cancel(slot)
                self._on_answer(slot, ask, answer)

    def _on_failure(self, error: BaseException) -> None:
        self.failing = True
        self.failed.emit(error)
        self._go_on()

    def _go_on(self) -> None:
        if self._wanted is not None:
            self._submit()
        elif not self.busy:  # what was traced may have led to another edit
            self.busy_changed.emit(False)
            self._start_pass()


def _trace(experiment: Experiment, device: str, memory: int | None, asks: dict[str, Ask]) -> Steps:
    # imported here, in the worker: the first paint does not wait for torch
    from attn_gui.compute.trace import trace_steps

    trace = yield from trace_steps(experiment, device, memory)
    return trace, (yield from _answers(trace, asks))


def _answers(trace: Trace, asks: dict[str, Ask]) -> Steps:
    from attn_gui.compute.answers import answer

    answers: Answers = {}
    found: dict[Ask, Any] = {}  # several views may ask the same
    for slot, ask in asks.items():
        if ask not in found:
            found[ask] = yield from answer(trace, ask)
            yield 1.0
        answers[slot] = (ask, found[ask])
    return answers


def _refined(trace: Trace, ask: PictureAsk) -> Steps:
    from attn_gui.compute.answers import refine

    return (yield from refine(trace, ask))


def _answer(trace: Trace, ask: Ask) -> Steps:
    from attn_gui.compute.answers import answer

    return (yield from answer(trace, ask))
