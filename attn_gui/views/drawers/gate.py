"""Gate: a Feed for a view that is not always in sight."""

from __future__ import annotations

from attn_gui.control.feed import Feed
from attn_gui.control.worker import Worker
from attn_gui.model.asks import Ask
from attn_gui.model.experiment import Experiment
from attn_gui.model.trace import Trace


class Gate(Feed):
    """Passes on everything that ``feed`` says, but asks only while it is open; meanwhile it keeps them."""

    def __init__(self, feed: Feed, worker: Worker) -> None:
        super().__init__(worker)
        self._feed = feed
        self._kept: dict[str, Ask] = {}
        self._open = False
        self.trace = feed.trace
        self.arrangement = feed.arrangement
        feed.traced.connect(self._pass_trace)
        feed.answered.connect(self._pass_answer)
        feed.failed.connect(self.failed)
        feed.progressed.connect(self.progressed)
        feed.busy_changed.connect(self.busy_changed)

    @property
    def busy(self) -> bool:
        return self._feed.busy

    def compute(self, experiment: Experiment, device: str) -> None:
        self._feed.compute(experiment, device)

    def cancel(self) -> None:
        self._feed.cancel()

    def ask(self, slot: str, ask: Ask | None) -> None:
        if ask is None:
            self._kept.pop(slot, None)
        else:
            self._kept[slot] = ask
        if self._open:
            self._feed.ask(slot, ask)

    def set_open(self, is_open: bool) -> None:
        """Have the asks that are kept answered from now on, or no longer."""
        if is_open != self._open:
            self._open = is_open
            for slot, ask in self._kept.items():
                self._feed.ask(slot, ask if is_open else None)

    def _pass_trace(self, trace: Trace) -> None:
        self.trace, self.arrangement = trace, self._feed.arrangement
        self.traced.emit(trace)

    def _pass_answer(self, slot: str, answer: object) -> None:
        if slot in self._kept:
            self.answered.emit(slot, answer)
