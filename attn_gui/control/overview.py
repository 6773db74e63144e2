"""Overview: the heads of all layers of the session, pictured and scored in the worker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, Signal

from attn_gui.control.document import Document
from attn_gui.control.overview_jobs import Pictured, Scored, Wanted, pictures, rolled_out, scores
from attn_gui.control.worker import Priority, Worker
from attn_gui.model.asks import PictureAsk
from attn_gui.model.errors import ExperimentError
from attn_gui.model.head_scores import HEAD_SCORES
from attn_gui.model.layers import stack_of
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.model.trace import Head

if TYPE_CHECKING:
    from attn_gui.compute.layer_traces import LayerTraces

PICTURES, SCORES, ROLLOUT = "layers.pictures", "layers.scores", "layers.rollout"


class Overview(QObject):
    """Has pictures and scores of heads computed, one after another and after all that is looked at more closely.

    What is wanted later takes the place of what was wanted before. ``pictured(Pictured)`` and ``scored(Scored)`` come
    for each head; ``progressed(part)`` tells of scores and of rollout, ``rested`` that nothing more is wanted of
    either. ``failed(text)`` says in words why there is something less.
    """

    pictured = Signal(object)
    scored = Signal(object)
    progressed = Signal(float)
    rested = Signal()
    failed = Signal(str)

    def __init__(self, worker: Worker, document: Document, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = worker
        self._document = document
        self._traces: LayerTraces | None = None
        self._owed: dict[str, tuple[PictureAsk | None, set[tuple[int, Head]]]] = {}

    @property
    def busy(self) -> bool:
        """Whether scores or a rollout are on their way."""
        return self._worker.running(SCORES) or self._worker.running(ROLLOUT)

    def want_pictures(self, wanted: Sequence[Wanted], ask: PictureAsk) -> None:
        """Have ``ask`` answered of each head, those first that come first."""
        if not wanted:
            self._worker.cancel(PICTURES)
        elif not self._comes(PICTURES, wanted, ask):
            self._worker.submit(
                PICTURES,
                lambda: pictures(self._traces_now(), wanted, ask),
                Priority.REFINE,
                failed=self._on_no_pictures,
                partly=self._on_pictured,
            )

    def want_scores(self, wanted: Sequence[Wanted]) -> None:
        """Have each head scored, those first that come first."""
        if not wanted:
            self._stop(SCORES)
        elif not self._comes(SCORES, wanted):
            self._worker.submit(
                SCORES,
                lambda: scores(self._traces_now(), wanted),
                Priority.BACKGROUND,
                lambda _: self.rested.emit(),
                self._on_no_scores,
                progress=self.progressed.emit,
                partly=self._on_scored,
            )

    def roll_out(self) -> None:
        """Have the attention rollout over the layers that the current one belongs to, as one more experiment."""
        session = self._document.session
        stack = [session.experiments[index] for index in stack_of(session)]
        self._worker.submit(
            ROLLOUT,
            lambda: rolled_out(self._traces_now(), stack),
            Priority.BACKGROUND,
            lambda named: self._add(session, named),
            self._on_no_rollout,
            self.progressed.emit,
            owed=True,
        )

    def stop(self) -> None:
        """Give up scores and rollout; pictures come on."""
        self._stop(SCORES)
        self._stop(ROLLOUT)

    def forget(self) -> None:
        """Give up everything, and the traces that were kept for it."""
        self._worker.cancel(PICTURES)
        self.stop()
        self._traces = None

    def _comes(self, key: str, wanted: Sequence[Wanted], ask: PictureAsk | None = None) -> bool:
        """Whether all that is wanted is on its way; else it is from now on."""
        keys = {(experiment.revision, head) for experiment, head in wanted}
        before = self._owed.get(key)
        if before is not None and before[0] == ask and keys <= before[1] and self._worker.running(key):
            return True
        self._owed[key] = ask, keys
        return False

    def _on_pictured(self, answer: Pictured) -> None:
        self._owed[PICTURES][1].discard((answer.revision, answer.head))
        self.pictured.emit(answer)

    def _on_scored(self, answer: Scored) -> None:
        self._owed[SCORES][1].discard((answer.revision, answer.head))
        self.scored.emit(answer)

    def _on_no_pictures(self, error: BaseException) -> None:
        """The file that the weights lie in may have been changed."""
        self._tell(error)
        for revision, head in list(self._owed[PICTURES][1]):
            self._on_pictured(Pictured(revision, head, None))

    def _on_no_scores(self, error: BaseException) -> None:
        self._tell(error)
        for revision, head in list(self._owed[SCORES][1]):
            assert isinstance(head, int)
            self._on_scored(Scored(revision, head, np.full(len(HEAD_SCORES), np.nan)))
        self.rested.emit()

    def _tell(self, error: BaseException) -> None:
        if not isinstance(error, ExperimentError | MemoryError):
            raise error
        self.failed.emit(str(error) or "That takes more memory than there is")

    def _stop(self, key: str) -> None:
        if self._worker.running(key):
            self._worker.cancel(key)
            self.rested.emit()

    def _add(self, session: Session, named: NamedExperiment) -> None:
        now = self._document.session
        if now.experiments is not session.experiments:
            self.failed.emit("The rollout was not shown, since you went on editing: it is of layers as they were")
        else:
            experiments = (*now.experiments, named)
            self._document.apply_session(
                "Attention rollout", replace(now, experiments=experiments, current=len(experiments) - 1)
            )
        self.rested.emit()

    def _on_no_rollout(self, error: BaseException) -> None:
        self.rested.emit()
        self._tell(error)

    def _traces_now(self) -> LayerTraces:
        """In the worker: the traces that are kept between one look and the next."""
        # imported here: the first paint does not wait for torch
        from attn_gui.compute.layer_traces import LayerTraces

        feed, device = self._document.feed, self._document.device
        if self._traces is None or self._traces.device != device:
            self._traces = LayerTraces(device, feed.memory)
        self._traces.shown = feed.trace
        return self._traces
