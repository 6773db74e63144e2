"""Worker: latest wins, the urgent between steps, cancelling, failures, and no thread left."""

from __future__ import annotations

import gc
import threading
import traceback
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QCoreApplication, QThread
from pytestqt.qtbot import QtBot

from attn_gui.control.worker import Priority, Steps, Worker, at_once
from tests.control.waiting import until

WAIT = 60.0


@pytest.fixture
def worker(qtbot: QtBot) -> Iterator[Worker]:
    made = Worker()
    yield made
    made.close()


class Gate:
    """A job that stops after its first step until it is let go on."""

    def __init__(self, result: Any = "gate", more: int = 0) -> None:
        self.started, self.open = threading.Event(), threading.Event()
        self.ended = threading.Event()
        self._result, self._more = result, more

    def __call__(self) -> Steps:
        try:
            self.started.set()
            self.open.wait(WAIT)
            for _ in range(1 + self._more):
                yield 0.5
            return self._result
        finally:
            self.ended.set()


class Heard:
    """What the callbacks were told, in order, and in which thread."""

    def __init__(self) -> None:
        self.said: list[tuple[str, Any]] = []
        self.threads: set[Any] = set()

    def __call__(self, what: str) -> Callable[[Any], None]:
        def hear(value: Any) -> None:
            self.threads.add(threading.current_thread())
            self.said.append((what, value))

        return hear


def constant(value: Any) -> Callable[[], Steps]:
    return at_once(lambda: value)


def test_a_result_arrives_in_the_gui_thread(worker: Worker, qtbot: QtBot) -> None:
    heard, where = Heard(), []
    worker.submit("a", at_once(lambda: where.append(threading.current_thread()) or 7), Priority.TRACE, heard("done"))
    assert worker.busy
    assert worker.running("a")
    until(qtbot, lambda: not worker.busy)
    assert heard.said == [("done", 7)]
    assert heard.threads == {threading.current_thread()}
    assert where[0] is not threading.current_thread()
    assert not worker.running("a")


def test_of_jobs_with_one_key_only_the_latest_is_heard(worker: Worker, qtbot: QtBot) -> None:
    heard, gate = Heard(), Gate()
    worker.submit("a", gate, Priority.TRACE, heard("first"))
    assert gate.started.wait(WAIT)
    worker.submit("a", constant(2), Priority.TRACE, heard("second"))
    worker.submit("a", constant(3), Priority.TRACE, heard("third"))
    gate.open.set()
    until(qtbot, lambda: not worker.busy)
    assert heard.said == [("third", 3)]
    assert gate.ended.is_set()  # the superseded one was told to stop


def test_a_result_that_is_already_on_its_way_is_dropped_once_superseded(worker: Worker, qtbot: QtBot) -> None:
    heard, finished = Heard(), threading.Event()
    worker.submit("a", constant(1), Priority.TRACE, heard("first"))
    worker.submit("b", at_once(finished.set), Priority.TRACE)
    assert finished.wait(WAIT)  # "a" has been computed and reported, and the report waits in the event queue
    worker.submit("a", constant(2), Priority.TRACE, heard("second"))
    until(qtbot, lambda: not worker.busy)
    assert heard.said == [("second", 2)]


def test_the_urgent_is_served_between_two_steps(worker: Worker, qtbot: QtBot) -> None:
    heard, gate = Heard(), Gate(more=3)
    worker.submit("long", gate, Priority.BACKGROUND, heard("long"))
    assert gate.started.wait(WAIT)
    worker.submit("later", constant("c"), Priority.BACKGROUND, heard("later"))
    worker.submit("trace", constant("b"), Priority.TRACE, heard("trace"))
    worker.submit("ask", constant("a"), Priority.ASK, heard("ask"))
    gate.open.set()
    until(qtbot, lambda: not worker.busy)
    assert [what for what, _ in heard.said] == ["ask", "trace", "long", "later"]


def test_a_trace_is_interrupted_by_an_ask_and_not_by_a_trace(worker: Worker, qtbot: QtBot) -> None:
    heard, gate = Heard(), Gate()
    worker.submit("one", gate, Priority.TRACE, heard("one"))
    assert gate.started.wait(WAIT)
    worker.submit("two", constant(2), Priority.TRACE, heard("two"))
    worker.submit("ask", constant(0), Priority.ASK, heard("ask"))
    gate.open.set()
    until(qtbot, lambda: not worker.busy)
    assert [what for what, _ in heard.said] == ["ask", "one", "two"]


def test_jobs_of_one_priority_go_in_order(worker: Worker, qtbot: QtBot) -> None:
    heard, gate = Heard(), Gate()
    worker.submit("gate", gate, Priority.ASK)
    assert gate.started.wait(WAIT)
    for k in range(5):
        worker.submit(f"k{k}", constant(k), Priority.TRACE, heard("done"))
    gate.open.set()
    until(qtbot, lambda: not worker.busy)
    assert [value for _, value in heard.said] == list(range(5))


def test_cancelling_stops_at_the_next_step_and_says_nothing(worker: Worker, qtbot: QtBot) -> None:
    heard, gate = Heard(), Gate(more=1_000_000)
    worker.submit("a", gate, Priority.TRACE, heard("done"), heard("failed"), heard("progress"))
    assert gate.started.wait(WAIT)
    worker.cancel("a")
    assert not worker.busy
    gate.open.set()
    assert gate.ended.wait(WAIT)
    QCoreApplication.processEvents()
    assert heard.said == []


def test_cancelling_what_has_not_begun(worker: Worker, qtbot: QtBot) -> None:
    gate, begun = Gate(), []
    worker.submit("gate", gate, Priority.TRACE)
    assert gate.started.wait(WAIT)
    worker.submit("a", at_once(lambda: begun.append(1)), Priority.TRACE)
    worker.cancel("a")
    worker.cancel("never there")
    gate.open.set()
    until(qtbot, lambda: not worker.busy)
    assert begun == []


def test_progress_comes_before_the_result(worker: Worker, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attn_gui.control.worker.PROGRESS_S", 0.0)

    def steps() -> Steps:
        yield 0.25
        yield 0.75
        return "all"

    heard = Heard()
    worker.submit("a", steps, Priority.TRACE, heard("done"), heard("failed"), heard("progress"))
    until(qtbot, lambda: not worker.busy)
    assert heard.said == [("progress", 0.25), ("progress", 0.75), ("done", "all")]


@pytest.mark.parametrize("error", [ValueError("bad"), MemoryError(), KeyboardInterrupt(), SystemExit(3)])
def test_a_failure_is_told_and_the_worker_lives_on(worker: Worker, qtbot: QtBot, error: BaseException) -> None:
    def steps() -> Steps:
        yield 0.5
        raise error

    heard = Heard()
    worker.submit("a", steps, Priority.TRACE, heard("done"), heard("failed"))
    worker.submit("b", constant(2), Priority.TRACE, heard("b"))
    until(qtbot, lambda: not worker.busy)
    assert heard.said == [("failed", error), ("b", 2)]


def test_a_failure_before_the_first_step(worker: Worker, qtbot: QtBot) -> None:
    heard = Heard()
    worker.submit("a", lambda: 1 / 0, Priority.TRACE, heard("done"), heard("failed"))  # type: ignore[arg-type]
    until(qtbot, lambda: not worker.busy)
    assert [what for what, _ in heard.said] == ["failed"]
    assert isinstance(heard.said[0][1], ZeroDivisionError)


def test_a_failure_of_a_superseded_job_is_not_told(worker: Worker, qtbot: QtBot) -> None:
    open_gate, started = threading.Event(), threading.Event()

    def steps() -> Steps:
        started.set()
        open_gate.wait(WAIT)
        raise ValueError("too late")
        yield

    heard = Heard()
    worker.submit("a", steps, Priority.TRACE, heard("done"), heard("failed"))
    assert started.wait(WAIT)
    worker.submit("a", constant(2), Priority.TRACE, heard("done"), heard("failed"))
    open_gate.set()
    until(qtbot, lambda: not worker.busy)
    assert heard.said == [("done", 2)]


class Large:
    """Stands for a tensor."""


def test_an_error_does_not_hold_on_to_what_its_job_held(worker: Worker, qtbot: QtBot) -> None:
    watched: list[weakref.ref[Large]] = []

    def inner() -> None:
        large = Large()
        watched.append(weakref.ref(large))
        raise MemoryError("out of memory")

    def steps() -> Steps:
        inner()
        yield

    heard = Heard()
    worker.submit("a", steps, Priority.TRACE, None, heard("failed"))
    until(qtbot, lambda: not worker.busy)
    error = heard.said[0][1]
    assert watched[0]() is None
    assert "in inner" in "".join(traceback.format_exception(error))


def test_closing_cancels_waits_and_leaves_no_thread(qtbot: QtBot) -> None:
    before = set(threading.enumerate())
    worker, gate, heard = Worker(), Gate(more=1_000_000), Heard()
    worker.submit("a", gate, Priority.TRACE, heard("done"), heard("failed"))
    worker.submit("b", constant(1), Priority.TRACE, heard("done"), heard("failed"))
    assert gate.started.wait(WAIT)
    gate.open.set()
    worker.close()
    assert set(threading.enumerate()) == before
    assert gate.ended.is_set()
    QCoreApplication.processEvents()
    assert heard.said == []
    assert not worker.busy


def test_closing_an_idle_worker_is_quick(qtbot: QtBot) -> None:
    worker = Worker()
    worker.close(timeout=1.0)
    assert not worker._thread.is_alive()


actions = st.lists(
    st.tuples(st.sampled_from(["submit", "cancel", "events"]), st.sampled_from("abc"), st.sampled_from(Priority)),
    max_size=25,
)


@given(actions)
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_asked_the_last_of_each_key_is_heard_and_no_superseded_one(
    worker: Worker, made: list[tuple[str, str, Priority]]
) -> None:
    heard: list[tuple[str, int]] = []
    newest: dict[str, int | None] = {}

    def job(key: str, number: int) -> Callable[[Any], None]:
        def hear(value: Any) -> None:
            assert value == number
            assert newest[key] == number  # never a superseded or cancelled one
            heard.append((key, number))

        return hear

    for number, (action, key, priority) in enumerate(made):
        if action == "submit":
            newest[key] = number
            worker.submit(key, constant(number), priority, job(key, number))
        elif action == "cancel":
            newest[key] = None
            worker.cancel(key)
        else:
            QCoreApplication.processEvents()
    for _ in range(2000):
        if not worker.busy:
            break
        QCoreApplication.processEvents()
        QThread.msleep(1)
    assert not worker.busy
    for key, number in newest.items():
        assert number is None or heard.count((key, number)) == 1


def test_jobs_hold_nothing_once_they_are_done(worker: Worker, qtbot: QtBot) -> None:
    large = Large()
    watched = weakref.ref(large)
    worker.submit("a", constant(large), Priority.TRACE, lambda value: None)
    del large
    until(qtbot, lambda: not worker.busy)
    worker.submit("b", constant(1), Priority.TRACE)
    until(qtbot, lambda: not worker.busy)
    gc.collect()
    assert watched() is None
