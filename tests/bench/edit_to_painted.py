"""From an edited cell to both heatmaps painted, in the program's own window."""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import perf_counter

from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop, QObject, QTimer
from PySide6.QtWidgets import QApplication

from attn_gui.app import open_window
from attn_gui.model.edits import set_cells
from attn_gui.model.experiment import Experiment
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.views.heatmap.heatmap import Heatmap
from attn_gui.views.main_window import MainWindow
from tests.bench.bare_window import WINDOW, Peer
from tests.bench.frames import after_paint
from tests.bench.report import Case, Pairs
from tests.bench.subject import SIZES, WIDE, Size, experiment

LIMIT = 1.5
COUNT = 40
BUDGET_S = 25.0
QUIET_S = 0.2
PATIENCE_S = 300.0
PEER = "torch forward, two ImageItems in a bare window"


def cases() -> list[Case]:
    return [
        Case(f"edit to painted, {size}", PEER, None if size == WIDE else LIMIT, partial(measure, size))
        for size in [*SIZES, WIDE]
    ]


def measure(size: Size, count: int = COUNT, budget: float = BUDGET_S) -> Pairs:
    """Pairs of seconds from edit to painted, the first not counted."""
    times: list[tuple[float, float]] = []
    end = perf_counter() + budget
    with Peer() as peer, opened(experiment(size)) as window:
        while len(times) <= count and (perf_counter() < end or len(times) <= 3):
            ours = window.edit(1.0 + len(times) % 2 / 2)
            times.append((ours, peer.edit(size)))
    return Pairs(tuple(a for a, _ in times[1:]), tuple(b for _, b in times[1:]))


@contextmanager
def opened(first: Experiment, memory: int | None = None) -> Iterator[Watched]:
    """The program's window on ``first``, computed and painted; memory: what A and N may take, as in ``trace``."""
    application = QApplication.instance() or QApplication(["attn-gui"])
    assert isinstance(application, QApplication)
    application.setStyle("Fusion")
    with tempfile.TemporaryDirectory() as profile:
        window = open_window(Session((NamedExperiment("bench", first),)), Path(profile))
        window.context.feed.memory = memory
        window.resize(*WINDOW)
        window.show()
        try:
            watched = Watched(window)
            watched.settle()
            # as the program does once its first result is there
            gc.collect()
            gc.freeze()
            yield watched
        finally:
            window.context.document.open(window.context.document.session, None)
            window.close()
            window.context.worker.close()
            window.deleteLater()
            application.processEvents()


class Watched(QObject):
    """A window whose heatmaps tell when they have been painted with the pictures of an edit."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__()
        self.window = window
        self._loop = QEventLoop()
        self._patience = QTimer()
        self._patience.setSingleShot(True)
        self._patience.timeout.connect(self._loop.quit)
        self._heatmaps = [panel.heatmap for panel in (window.formula.scores, window.formula.weights)]
        for heatmap in self._heatmaps:
            after_paint(heatmap.plot.canvas, partial(self._on_painted, heatmap))
        self._awaited: Experiment | None = None
        self._painted: dict[Heatmap, float] = {}
        self._last_paint = perf_counter()

    def edit(self, value: float) -> float:
        """Seconds from a changed embedding to both heatmaps painted; returns once the window has come to rest."""
        document = self.window.context.document
        self._painted = {}
        self._patience.start(int(PATIENCE_S * 1000))
        started = perf_counter()
        self._awaited = set_cells(document.experiment, "tokens", 0, 0, value)
        document.apply("Edit", self._awaited)
        while len(self._painted) < len(self._heatmaps) and self._patience.isActive():
            self._loop.exec()
        self._patience.stop()
        if len(self._painted) < len(self._heatmaps):
            raise TimeoutError("the heatmaps were not painted")
        self.settle()
        return max(self._painted.values()) - started

    def settle(self) -> None:
        """Until everything is computed and nothing has been painted for a while (cells that changed flash)."""
        context = self.window.context
        application = QCoreApplication.instance()
        assert application is not None
        self._last_paint = perf_counter()
        application.installEventFilter(self)
        end = perf_counter() + PATIENCE_S
        while context.worker.busy or context.feed.trace is None or perf_counter() - self._last_paint < QUIET_S:
            if perf_counter() > end:
                raise TimeoutError("the window did not come to rest")
            application.processEvents()
            time.sleep(0.005)
        application.removeEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            self._last_paint = perf_counter()
        return False

    def _on_painted(self, heatmap: Heatmap) -> None:
        if self._awaited is not None and heatmap.pictures.experiment is self._awaited:
            self._painted.setdefault(heatmap, perf_counter())
            if len(self._painted) == len(self._heatmaps):
                self._loop.quit()
