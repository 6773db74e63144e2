"""Worker: the one thread that everything long runs on."""

from __future__ import annotations

import itertools
import math
import threading
import time
import traceback
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal


class Priority(IntEnum):
    """Which job goes first; between two steps of a job the more urgent ones are served."""

    ASK = 0
    TRACE = 1
    REFINE = 2
    BACKGROUND = 3
    PASS = 4


# of the part done, or of results on the way
Steps = Generator[Any, None, Any]

# between two reports of how far a job is: more are not seen, and each wakes the GUI thread
PROGRESS_S = 0.03


@dataclass
class Job:
    """Work to do: ``make()`` gives the steps, a generator that returns the result.

    It yields the part done, 0 to 1, and for ``partly`` anything else that is worth showing on the way.
    """

    id: int
    key: str
    priority: Priority
    make: Callable[[], Steps]
    done: Callable[[Any], None] | None
    failed: Callable[[BaseException], None] | None
    progress: Callable[[float], None] | None
    partly: Callable[[Any], None] | None
    owed: bool
    cancelled: threading.Event = field(default_factory=threading.Event)


class Worker(QObject):
    """Runs jobs one step at a time; of the jobs with one key, only the latest counts.

    A job holds data and bound methods, never Qt objects of its own. Its callbacks are called in the thread that the
    Worker lives in, by a queued signal, and only while the job is the latest of its key. ``ended(key)`` comes after the
    last of them.
    """

    ended = Signal(str)
    _report = Signal(int, str, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._ids = itertools.count(1)
        self._jobs: dict[int, Job] = {}  # those not yet reported done, in the GUI thread
        self._latest: dict[str, int] = {}
        self._queue: list[Job] = []
        self._wake = threading.Condition()
        self._closing = False
        self._report.connect(self._deliver, Qt.ConnectionType.QueuedConnection)
        self._thread = threading.Thread(target=self._run, name="attn-gui worker", daemon=True)
        self._thread.start()

    def submit(
        self,
        key: str,
        make: Callable[[], Steps],
        priority: Priority,
        done: Callable[[Any], None] | None = None,
        failed: Callable[[BaseException], None] | None = None,
        progress: Callable[[float], None] | None = None,
        *,
        partly: Callable[[Any], None] | None = None,
        owed: bool = False,
    ) -> int:
        """Queue a job in place of any other with ``key``; returns its id.

        ``owed``: the person asked for it, so that the program does not end without it, or without asking.
        """
        self.cancel(key)
        job = Job(next(self._ids), key, priority, make, done, failed, progress, partly, owed)
        self._jobs[job.id] = job
        self._latest[key] = job.id
        with self._wake:
            self._queue.append(job)
            self._wake.notify()
        return job.id

    def cancel(self, key: str) -> None:
        """Drop the job with ``key``: it stops at its next step, and none of its callbacks is called any more."""
        job = self._jobs.pop(self._latest.pop(key, 0), None)
        if job is not None:
            job.cancelled.set()
            with self._wake:
                if job in self._queue:
                    self._queue.remove(job)

    @property
    def busy(self) -> bool:
        """Whether any job is queued, at work or not yet reported."""
        return bool(self._jobs)

    @property
    def owing(self) -> bool:
        """Whether a job that is owed is queued, at work or not yet reported."""
        return any(job.owed for job in self._jobs.values())

    def running(self, key: str) -> bool:
        """Whether a job with ``key`` is queued or at work."""
        return key in self._latest

    def close(self, timeout: float = 5.0) -> None:
        """Cancel everything and wait for the thread to end."""
        for key in list(self._latest):
            self.cancel(key)
        with self._wake:
            self._closing = True
            self._wake.notify()
        self._thread.join(timeout)

    def _deliver(self, job_id: int, what: str, value: object) -> None:
        job = self._jobs.get(job_id)
        if job is None:
            return
        if what == "progress":
            if job.progress is not None:
                job.progress(float(value))  # type: ignore[arg-type]
            return
        if what == "partly":
            if job.partly is not None:
                job.partly(value)
            return
        del self._jobs[job_id]
        self._latest.pop(job.key, None)
        try:
            if what == "done" and job.done is not None:
                job.done(value)
            elif what == "failed" and isinstance(value, BaseException):
                if job.failed is None:
                    raise value  # nobody expected it: the fault hook reports it
                job.failed(value)
        finally:
            self.ended.emit(job.key)

    # below: the worker's own thread

    def _run(self) -> None:
        while True:
            with self._wake:
                while not self._queue and not self._closing:
                    self._wake.wait()
                if self._closing:
                    return
                job = self._take(len(Priority))
            if job is not None:
                self._work(job)

    def _take(self, below: int) -> Job | None:
        """The most urgent queued job of a priority under ``below``; the caller holds the lock."""
        ready = [job for job in self._queue if job.priority < below]
        if not ready:
            return None
        job = min(ready, key=lambda j: (j.priority, j.id))
        self._queue.remove(job)
        return job

    def _work(self, job: Job) -> None:
        try:
            steps = job.make()
            told = -math.inf
            try:
                while not job.cancelled.is_set():
                    part = next(steps)
                    if not isinstance(part, float | int):
                        self._report.emit(job.id, "partly", part)
                    elif job.progress is not None and time.monotonic() - told >= PROGRESS_S:
                        told = time.monotonic()
                        self._report.emit(job.id, "progress", part)
                    self._serve_above(job.priority)
                steps.close()
            except StopIteration as finished:
                if not job.cancelled.is_set():
                    self._report.emit(job.id, "done", finished.value)
        except BaseException as error:
            # an error is kept longer than the job: without this, all that the job's frames held, gigabytes perhaps
            traceback.clear_frames(error.__traceback__)
            self._report.emit(job.id, "failed", error)

    def _serve_above(self, priority: Priority) -> None:
        while True:
            with self._wake:
                job = None if self._closing else self._take(priority)
            if job is None:
                return
            self._work(job)


def at_once(function: Callable[[], Any]) -> Callable[[], Steps]:
    """A job of one step."""

    def make() -> Steps:
        return function()
        yield

    return make
