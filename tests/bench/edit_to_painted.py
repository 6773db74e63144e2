"""From an edited cell to both heatmaps painted, in the program's own window."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QApplication
from pyqtgraph import GraphicsView

from attn_gui.app import open_window
from attn_gui.model.edits import set_cells
from attn_gui.model.experiment import Experiment
from attn_gui.model.picture import Picture
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.views.main_window import MainWindow
from tests.bench.bare_window import WINDOW, Peer
from tests.bench.report import Case, Pairs
from tests.bench.subject import SIZES, WIDE, Size, experiment

LIMIT = 1.5
COUNT = 40
BUDGET_S = 25.0
QUIET_S = 0.25
PATIENCE_S = 60.0
PEER = "torch forward, two ImageItems in a bare window"


def cases() -> list[Case]:
    return [
        Case(f"edit to painted, {size}", PEER, None if size == WIDE else LIMIT, partial(measure, size))
        for size in [*SIZES, WIDE]
    ]


def measure(size: Size, count: int = COUNT, budget: float = BUDGET_S) -> Pairs:
    """Pairs of seconds from edit to painted, the first not counted."""
    times = []
    end = perf_counter() + budget
    peer = Peer()
    try:
        with opened(experiment(size)) as window:
            while len(times) <= count and (perf_counter() < end or len(times) <= 3):
                ours = window.edit(1.0 + len(times) % 2 / 4)
                times.append((ours, peer.edit(size)))
    finally:
        peer.close()
    return Pairs(tuple(a for a, _ in times[1:]), tuple(b for _, b in times[1:]))


@contextmanager
def opened(first: Experiment) -> Iterator[Watched]:
    """The program's window on ``first``, computed and painted."""
    application = QApplication.instance() or QApplication(["attn-gui"])
    assert isinstance(application, QApplication)
    application.setStyle("Fusion")
    with tempfile.TemporaryDirectory() as profile:
        window = open_window(Session((NamedExperiment("bench", first),)), Path(profile))
        window.resize(*WINDOW)
        window.show()
        try:
            watched = Watched(window)
            watched.settle()
            yield watched
        finally:
            window.context.document.undo_stack.setClean()
            window.close()
            window.context.worker.close()
            window.deleteLater()
            application.processEvents()


class Watched:
    """A window whose heatmaps tell when they have been painted with the pictures of an edit."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self._loop = QEventLoop()
        self._views = {
            stage: panel.findChildren(GraphicsView)[0]
            for stage, panel in (("A", window.formula.scores), ("N", window.formula.weights))
        }
        for stage, view in self._views.items():
            _after_paint(view, partial(self._on_painted, stage))
        self._awaited: Experiment | None = None
        self._arrived: set[str] = set()
        self._painted: set[str] = set()
        self._last_paint = perf_counter()
        window.context.feed.answered.connect(self._on_answer)

    def edit(self, value: float) -> float:
        """Seconds from a changed embedding to both heatmaps painted; returns once the window has come to rest."""
        document = self._window.context.document
        self._arrived, self._painted = set(), set()
        started = perf_counter()
        self._awaited = set_cells(document.experiment, "tokens", 0, 0, value)
        document.apply("Edit", self._awaited)
        QTimer.singleShot(int(PATIENCE_S * 1000), self._loop, self._loop.quit)
        self._loop.exec()
        if self._painted != set(self._views):
            raise TimeoutError("the heatmaps were not painted")
        took = self._last_paint - started
        self._awaited = None
        self.settle()
        return took

    def settle(self) -> None:
        """Until everything is computed and nothing has been painted for a while (cells that changed flash)."""
        context = self._window.context
        end = perf_counter() + PATIENCE_S
        while True:
            QApplication.processEvents()
            trace = context.feed.trace
            shown = trace is not None and trace.experiment is context.document.experiment
            if shown and not context.worker.busy and perf_counter() - self._last_paint > QUIET_S:
                return
            if perf_counter() > end:
                raise TimeoutError("the window did not come to rest")
            time.sleep(0.005)

    def _on_answer(self, slot: str, answer: object) -> None:
        trace = self._window.context.feed.trace
        if isinstance(answer, Picture) and trace is not None and trace.experiment is self._awaited:
            self._arrived.add(answer.request.stage[0])

    def _on_painted(self, stage: str) -> None:
        if self._awaited is None or self._painted != set(self._views):
            self._last_paint = perf_counter()
        if self._awaited is not None and stage in self._arrived:
            self._painted.add(stage)
            if self._painted == set(self._views):
                self._loop.quit()


def _after_paint(view: Any, call: Callable[[], None]) -> None:
    paint = view.paintEvent

    def painted(event: QPaintEvent) -> None:
        paint(event)
        call()

    view.paintEvent = painted
