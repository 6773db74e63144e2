"""Feed: what the views see of the computation. They read finished arrays from here and nowhere else."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal

from attn_gui.control.worker import Priority, Steps, Worker
from attn_gui.model.asks import Ask, PictureAsk
from attn_gui.model.experiment import Experiment
from attn_gui.model.trace import Trace

# a running trace younger than this is let finish, so that a burst of edits (a drag) shows states on the way
PATIENCE_S = 0.2

TRACE = "trace"

# by slot, with the asks that they answer
Answers = dict[str, tuple[Ask, Any]]


class Feed(QObject):
    """Has experiments traced, latest wins, and answers the views' asks along with each trace.

    A view keeps an ask in a slot of its own name; the answer comes by ``answered`` each time there is a new trace or
    the ask has changed. ``traced`` comes first, then the pictures, then, a moment later, everything else.
    """

    traced = Signal(object)
    answered = Signal(str, object)
    failed = Signal(object)
    progressed = Signal(float)
    busy_changed = Signal(bool)

    def __init__(self, worker: Worker, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.trace: Trace | None = None
        self._worker = worker
        self._asks: dict[str, Ask] = {}
        self._wanted: tuple[Experiment, str] | None = None
        self._submitted = 0.0

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

    def ask(self, slot: str, ask: Ask | None) -> None:
        """Keep ``ask`` in ``slot``, in place of the one there; None empties it."""
        if self._asks.get(slot) == ask:
            return
        if ask is None:
            del self._asks[slot]
            self._worker.cancel(slot)
            return
        self._asks[slot] = ask
        trace = self.trace
        if trace is not None:
            self._worker.submit(
                slot,
                lambda: _answer(trace, ask),
                Priority.ASK,
                partial(self.answered.emit, slot),
                self.failed.emit,
            )

    def _submit(self) -> None:
        if self._wanted is None:
            return
        (experiment, device), self._wanted = self._wanted, None
        self._submitted = time.monotonic()
        # the eye is on the heatmaps: they are drawn before the rest is even worked out
        pictures: dict[str, Ask] = {s: ask for s, ask in self._asks.items() if isinstance(ask, PictureAsk)}
        self._worker.submit(
            TRACE,
            lambda: _trace(experiment, device, pictures),
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
        self.trace = trace
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
                self.answered.emit(slot, answer)

    def _on_failure(self, error: BaseException) -> None:
        self.failed.emit(error)
        self._go_on()

    def _go_on(self) -> None:
        if self._wanted is not None:
            self._submit()
        elif not self.busy:  # what was traced may have led to another edit
            self.busy_changed.emit(False)


def _trace(experiment: Experiment, device: str, asks: dict[str, Ask]) -> Steps:
    # imported here, in the worker: the first paint does not wait for torch
    from attn_gui.compute.trace import trace_steps

    trace = yield from trace_steps(experiment, device)
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


def _answer(trace: Trace, ask: Ask) -> Steps:
    from attn_gui.compute.answers import answer

    return (yield from answer(trace, ask))
