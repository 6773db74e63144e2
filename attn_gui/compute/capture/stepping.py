"""Work that cannot be cut into steps, done beside a generator that tells how far it is."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from typing import Generic, TypeVar

Result = TypeVar("Result")
Report = Callable[[float], None]

# the generator's step, in which it waits
STEP_S = 0.02
# one at a time: what was stopped may still be on its way to its next report, with a model that it has changed
_TURN = threading.Lock()


class Stopped(BaseException):
    """Raised inside stopped work by its next report. No Exception, so that nothing on the way takes it for a fault."""


def in_steps(work: Callable[[Report], Result]) -> Generator[float, None, Result]:
    """Do ``work`` in a thread of its own; yields the part done, 0 to 1, that it reports, and returns its result.

    Loading a model and running it are single calls into another library, which only tell that they go on. Between two
    yields little time passes, however long they take. Closing the generator makes the next report raise Stopped.
    """
    running = _Running(work)
    running.thread.start()
    try:
        while not running.ended.wait(STEP_S):
            yield running.part
    finally:
        running.stopped.set()
    if running.error is not None:
        raise running.error
    return running.results[0]


class _Running(Generic[Result]):
    def __init__(self, work: Callable[[Report], Result]) -> None:
        self.part = 0.0
        self.results: list[Result] = []
        self.error: BaseException | None = None
        self.stopped, self.ended = threading.Event(), threading.Event()
        self.thread = threading.Thread(target=self._run, args=(work,), name="attn-gui model")

    def _run(self, work: Callable[[Report], Result]) -> None:
        try:
            with _TURN:
                self._report(0.0)
                self.results.append(work(self._report))
        except BaseException as error:
            self.error = error
        finally:
            self.ended.set()

    def _report(self, part: float) -> None:
        if self.stopped.is_set():
            raise Stopped
        self.part = part
