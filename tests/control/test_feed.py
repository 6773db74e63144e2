"""Feed: the first edit at once, a burst ends with the last, asks answered for the present trace, failures keep it."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

import attn_gui.compute.trace as compute
from attn_gui.compute import budget
from attn_gui.control import feed as feed_module
from attn_gui.control.feed import Feed
from attn_gui.control.worker import Worker
from attn_gui.model.answers import Reading, StageValues
from attn_gui.model.asks import Ask, CellAsk, PictureAsk, RowAsk, StageAsk
from attn_gui.model.edits import delete_tokens, set_cells
from attn_gui.model.errors import TooLarge
from attn_gui.model.experiment import Experiment
from attn_gui.model.picture import Picture
from attn_gui.model.reshape import with_variant
from attn_gui.model.variant import Variant
from tests.control.waiting import until

WAIT = 60.0
E = Experiment.from_tokens("abcde", np.arange(10.0).reshape(5, 2) / 10)


class Watched:
    """A feed, and what it has said."""

    def __init__(self) -> None:
        self.worker = Worker()
        self.feed = Feed(self.worker)
        self.traced: list[Experiment] = []
        self.answers: list[tuple[str, Any, Experiment]] = []
        self.failures: list[BaseException] = []
        self.busy: list[bool] = []
        self.order: list[str] = []
        self.feed.traced.connect(self._on_traced)
        self.feed.answered.connect(self._on_answered)
        self.feed.failed.connect(self.failures.append)
        self.feed.busy_changed.connect(self.busy.append)

    def _on_traced(self, trace: Any) -> None:
        self.order.append("traced")
        self.traced.append(trace.experiment)

    def _on_answered(self, slot: str, answer: Any) -> None:
        self.order.append(slot)
        assert self.feed.trace is not None
        self.answers.append((slot, answer, self.feed.trace.experiment))

    def of(self, slot: str) -> list[Any]:
        return [answer for where, answer, _ in self.answers if where == slot]


@pytest.fixture
def watched(qtbot: QtBot) -> Iterator[Watched]:
    made = Watched()
    yield made
    made.worker.close()


class Stopped:
    """trace_steps in which a chosen experiment waits after its first step until it is let go on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *which: Experiment) -> None:
        self.started, self.open = threading.Event(), threading.Event()
        self.begun: list[Experiment] = []
        self._which, self._real = which, compute.trace_steps
        monkeypatch.setattr(compute, "trace_steps", self._steps)

    def _steps(self, experiment: Experiment, device: str, memory: int | None) -> Generator[float, None, Any]:
        self.begun.append(experiment)
        if any(experiment is stopped for stopped in self._which):
            self.started.set()
            while not self.open.wait(0.002):
                yield 0.1
        return (yield from self._real(experiment, device, memory))


def edited(value: float) -> Experiment:
    return set_cells(E, "tokens", 0, 0, value)


def test_a_trace_and_its_answers(watched: Watched, qtbot: QtBot) -> None:
    feed = watched.feed
    feed.ask("A", PictureAsk("A_masked", diverging=True))
    feed.ask("cell", CellAsk(0, 1, 3))
    feed.compute(E, "cpu")
    assert feed.busy
    until(qtbot, lambda: not feed.busy)
    assert watched.traced == [E]
    assert watched.order == ["traced", "A", "cell"]
    assert isinstance(watched.of("A")[0], Picture)
    assert isinstance(watched.of("cell")[0], Reading)
    assert watched.busy == [True, False]
    assert feed.trace is not None
    assert feed.trace.device == "cpu"


def test_the_first_edit_is_shown_at_once_and_a_burst_ends_with_the_last(watched: Watched, qtbot: QtBot) -> None:
    burst = [edited(k) for k in range(30)]
    for e in burst:
        watched.feed.compute(e, "cpu")
    until(qtbot, lambda: not watched.feed.busy)
    assert watched.traced[0] is burst[0]
    assert watched.traced[-1] is burst[-1]
    assert len(watched.traced) <= 3
    assert watched.busy == [True, False]


def test_a_burst_with_pauses_shows_states_on_the_way(watched: Watched, qtbot: QtBot) -> None:
    watched.feed.compute(E, "cpu")
    until(qtbot, lambda: not watched.feed.busy)  # torch is there
    for k in range(4):
        watched.feed.compute(edited(k), "cpu")
        until(qtbot, lambda: not watched.feed.busy)
    assert [e.tokens.embeddings[0, 0] for e in watched.traced[1:]] == [0, 1, 2, 3]


def test_a_long_trace_gives_way_to_the_last_edit(
    watched: Watched, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed_module, "PATIENCE_S", 0.1)
    first, last = edited(1), edited(2)
    stopped = Stopped(monkeypatch, first)
    watched.feed.compute(first, "cpu")
    assert stopped.started.wait(WAIT)
    watched.feed.compute(last, "cpu")  # sooner than the patience: nothing else is asked after it
    until(qtbot, lambda: not watched.feed.busy)
    assert watched.traced == [last]  # the first never came to its end
    assert watched.busy == [True, False]


def test_a_short_trace_is_let_finish(watched: Watched, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed_module, "PATIENCE_S", 60.0)
    first, middle, last = edited(1), edited(2), edited(3)
    stopped = Stopped(monkeypatch, first)
    watched.feed.compute(first, "cpu")
    assert stopped.started.wait(WAIT)
    watched.feed.compute(middle, "cpu")
    watched.feed.compute(last, "cpu")
    stopped.open.set()
    until(qtbot, lambda: not watched.feed.busy)
    assert watched.traced == [first, last]
    assert stopped.begun == [first, last]


def test_an_edit_made_by_what_was_traced_is_traced_too(watched: Watched, qtbot: QtBot) -> None:
    later = edited(9)

    def react(trace: Any) -> None:
        if trace.experiment is E:
            watched.feed.compute(later, "cpu")
            watched.order.append("asked for more")

    watched.feed.traced.connect(react)
    watched.feed.compute(E, "cpu")
    until(qtbot, lambda: watched.traced == [E, later] and not watched.feed.busy)
    assert watched.busy[-1] is False
    assert watched.busy.count(False) == 1  # never said to be idle while a trace is on its way


def test_cancelling_keeps_the_last_trace(watched: Watched, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    watched.feed.compute(E, "cpu")
    until(qtbot, lambda: not watched.feed.busy)
    shown = watched.feed.trace
    long = edited(1)
    stopped = Stopped(monkeypatch, long)
    watched.feed.compute(long, "cpu")
    assert stopped.started.wait(WAIT)
    watched.feed.compute(edited(2), "cpu")
    watched.feed.cancel()
    assert not watched.feed.busy
    stopped.open.set()
    until(qtbot, lambda: not watched.worker.busy)
    QCoreApplication.processEvents()
    assert watched.feed.trace is shown
    assert watched.traced == [E]
    assert watched.busy == [True, False, True, False]
    watched.feed.cancel()  # nothing to cancel, nothing to say
    assert watched.busy == [True, False, True, False]


def test_an_ask_is_answered_when_it_changes(watched: Watched, qtbot: QtBot) -> None:
    feed = watched.feed
    feed.ask("row", RowAsk(0, 0))
    QCoreApplication.processEvents()
    assert not watched.worker.busy  # nothing to ask of
    feed.compute(E, "cpu")
    until(qtbot, lambda: not watched.worker.busy)
    feed.ask("row", RowAsk(0, 1))
    feed.ask("row", RowAsk(0, 2))
    feed.ask("row", RowAsk(0, 2))
    until(qtbot, lambda: not watched.worker.busy)
    assert [row.i for row in watched.of("row")] == [0, 2]
    feed.ask("row", RowAsk(0, 3))
    feed.ask("row", None)
    feed.ask("row", None)
    until(qtbot, lambda: not watched.worker.busy)
    feed.compute(edited(1), "cpu")
    until(qtbot, lambda: not watched.worker.busy)
    assert len(watched.of("row")) == 2


def test_asks_are_answered_while_a_trace_runs(watched: Watched, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    feed = watched.feed
    feed.compute(E, "cpu")
    until(qtbot, lambda: not watched.worker.busy)
    long = edited(5)
    stopped = Stopped(monkeypatch, long)
    feed.compute(long, "cpu")
    assert stopped.started.wait(WAIT)
    feed.ask("cell", CellAsk(0, 2, 2))
    until(qtbot, lambda: len(watched.of("cell")) == 1)
    assert watched.answers[0][2] is E  # of the trace that is shown
    stopped.open.set()
    until(qtbot, lambda: not watched.worker.busy)
    assert [e for _, _, e in watched.answers] == [E, long]


def test_an_ask_that_changes_while_a_trace_runs_is_answered_again(
    watched: Watched, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = watched.feed
    feed.ask("cell", CellAsk(0, 0, 0))
    feed.compute(E, "cpu")
    until(qtbot, lambda: not watched.worker.busy)
    long = edited(5)
    stopped = Stopped(monkeypatch, long)
    feed.compute(long, "cpu")
    assert stopped.started.wait(WAIT)
    feed.ask("cell", CellAsk(0, 2, 2))
    until(qtbot, lambda: len(watched.of("cell")) == 2)
    stopped.open.set()
    until(qtbot, lambda: not watched.worker.busy)
    assert [(reading.i, e) for _, reading, e in watched.answers] == [(0, E), (2, E), (2, long)]


def test_no_answer_of_an_older_trace_comes_after_a_newer_one(watched: Watched, qtbot: QtBot) -> None:
    """Tokens come and go while asks change: every answer is of the trace that is shown then, and the last is right."""
    feed = watched.feed
    small = delete_tokens(E, "tokens", [1, 2, 3])
    seen: list[tuple[tuple[int, ...], Experiment]] = []

    def hear(slot: str, answer: Any) -> None:
        assert feed.trace is not None
        seen.append((answer.values.shape, feed.trace.experiment))

    feed.answered.connect(hear)
    for k in range(12):
        feed.ask("N", StageAsk("N" if k % 3 else "A"))
        feed.compute((E, small)[k % 2], "cpu")
        end = time.monotonic() + 0.004 * (k % 4)
        while time.monotonic() < end:
            QCoreApplication.processEvents()
    until(qtbot, lambda: not watched.worker.busy)
    assert seen
    assert all(shape == (e.n_q, e.n_k) for shape, e in seen)
    last = watched.answers[-1]
    assert isinstance(last[1], StageValues)
    assert last[1].ask == StageAsk("N")
    assert last[2] is small


def test_an_ask_made_by_what_was_traced_is_answered_once(watched: Watched, qtbot: QtBot) -> None:
    feed = watched.feed
    feed.ask("old", CellAsk(0, 0, 0))

    def react(trace: Any) -> None:
        feed.ask("old", CellAsk(0, 4, 4))
        feed.ask("new", CellAsk(0, 1, 1))

    feed.traced.connect(react)
    feed.compute(E, "cpu")
    until(qtbot, lambda: not watched.worker.busy)
    assert [(reading.i, reading.j) for reading in watched.of("old")] == [(4, 4)]
    assert [(reading.i, reading.j) for reading in watched.of("new")] == [(1, 1)]


def test_a_stage_that_is_not_there_any_more_is_answered_with_nothing(watched: Watched, qtbot: QtBot) -> None:
    feed = watched.feed
    feed.ask("context", StageAsk("context"))
    feed.compute(with_variant(E, Variant.CROSS), "cpu")
    until(qtbot, lambda: not watched.worker.busy)
    feed.compute(E, "cpu")
    until(qtbot, lambda: not watched.worker.busy)
    first, second = watched.of("context")
    assert first.values.shape == (5, 2)
    assert second is None


@pytest.mark.parametrize(
    "error", [TooLarge("A and N", 8_600_000_000, 100), torch.OutOfMemoryError("CUDA out of memory. Tried ...")]
)
def test_running_out_of_memory_keeps_the_last_trace(
    watched: Watched, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    feed = watched.feed
    feed.ask("cell", CellAsk(0, 0, 0))
    feed.compute(E, "cpu")
    until(qtbot, lambda: not feed.busy)
    shown = feed.trace

    def refuse(experiment: Experiment, device: torch.device, memory: int | None) -> bool:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(budget, "holds", refuse)
        feed.compute(edited(1), "cpu")
        until(qtbot, lambda: not feed.busy)
    assert watched.failures == [error]
    assert feed.trace is shown
    assert watched.busy == [True, False, True, False]
    feed.ask("cell", CellAsk(0, 3, 3))  # the old trace still answers
    until(qtbot, lambda: len(watched.of("cell")) == 2)
    feed.compute(edited(2), "cpu")  # and the next edit is computed
    until(qtbot, lambda: not feed.busy)
    assert watched.traced[-1].tokens.embeddings[0, 0] == 2


def test_running_out_of_memory_half_way_keeps_the_last_trace(
    watched: Watched, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = watched.feed
    feed.compute(E, "cpu")
    until(qtbot, lambda: not feed.busy)
    shown = feed.trace

    def fail(*arguments: Any, **options: Any) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory.")

    with monkeypatch.context() as patch:
        patch.setattr("attn_gui.compute.attention.softmax", fail)
        feed.compute(edited(1), "cpu")
        until(qtbot, lambda: not feed.busy)
    assert [type(error) for error in watched.failures] == [torch.OutOfMemoryError]
    assert feed.trace is shown


def test_after_a_failure_the_edit_that_waited_is_traced(
    watched: Watched, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed_module, "PATIENCE_S", 60.0)
    bad, good = edited(1), edited(2)
    started, go_on, real = threading.Event(), threading.Event(), compute.trace_steps

    def steps(experiment: Experiment, device: str, memory: int | None) -> Any:
        if experiment is bad:
            started.set()
            go_on.wait(WAIT)
            raise RuntimeError("no such kernel")
        return (yield from real(experiment, device, memory))

    monkeypatch.setattr(compute, "trace_steps", steps)
    watched.feed.compute(bad, "cpu")
    assert started.wait(WAIT)
    watched.feed.compute(good, "cpu")
    go_on.set()
    until(qtbot, lambda: not watched.feed.busy)
    assert [str(error) for error in watched.failures] == ["no such kernel"]
    assert watched.traced == [good]
    assert watched.busy == [True, False]


def test_progress_is_told(watched: Watched, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attn_gui.compute.dense.BLOCK_CELLS", 5)
    monkeypatch.setattr("attn_gui.control.worker.PROGRESS_S", 0.0)
    parts: list[float] = []
    watched.feed.progressed.connect(parts.append)
    watched.feed.compute(E, "cpu")
    until(qtbot, lambda: not watched.feed.busy)
    assert parts == [0.2, 0.4, 0.6, 0.8, 1.0]


@pytest.mark.parametrize(
    "ask", [PictureAsk("N"), StageAsk("output"), CellAsk(0, 0, 0), RowAsk(0, 0), PictureAsk("Q", "mean")]
)
def test_every_ask_is_a_value(ask: Ask) -> None:
    assert ask == type(ask)(**{f: getattr(ask, f) for f in ask.__dataclass_fields__})
    assert hash(ask) is not None


def test_an_unknown_device_is_a_failure_in_words(watched: Watched, qtbot: QtBot) -> None:
    watched.feed.compute(E, "abacus")
    until(qtbot, lambda: not watched.feed.busy)
    assert "abacus" in str(watched.failures[0])
