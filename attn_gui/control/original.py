"""Original: the trace of what the experiment at hand is compared with, as it was captured or as a file stores it."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from attn_gui.control.document import Document
from attn_gui.control.feed import Feed
from attn_gui.control.worker import Priority, Steps, Worker
from attn_gui.model.experiment import Experiment
from attn_gui.model.trace import Trace

JOB = "original"


class Original(QObject):
    """Traced once it is wanted, and let go of once another experiment is at hand."""

    changed = Signal()

    def __init__(self, worker: Worker, feed: Feed, document: Document, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.trace: Trace | None = None
        self._worker, self._feed, self._document = worker, feed, document
        self._asked: tuple[Experiment, str] | None = None
        document.changed.connect(lambda before, after: self._forget_another())

    @property
    def experiment(self) -> Experiment | None:
        """What the experiment at hand is compared with; None where there is no such thing."""
        return self._document.session.named.original

    def want(self) -> None:
        """Have its trace made on the device in use, unless it is there or on its way."""
        e, device = self.experiment, self._document.device
        if e is None or (self._asked is not None and self._asked[0] is e and self._asked[1] == device):
            return
        self._asked = e, device
        memory = self._feed.memory
        self._worker.submit(JOB, lambda: _trace(e, device, memory), Priority.ASK, self._on_trace, self._on_failure)

    def _forget_another(self) -> None:
        if self._asked is not None and self._asked[0] is not self.experiment:
            self._worker.cancel(JOB)
            self._asked = self.trace = None

    def _on_trace(self, trace: Trace) -> None:
        self.trace = trace
        self.changed.emit()

    def _on_failure(self, error: BaseException) -> None:
        self._asked = None
        self._feed.failed.emit(error)


def _trace(experiment: Experiment, device: str, memory: int | None) -> Steps:
    # imported here, in the worker: the first paint does not wait for torch
    from attn_gui.compute.trace import trace_steps

    return (yield from trace_steps(experiment, device, memory))
