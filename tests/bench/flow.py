"""The flow view in the program's own window, against the same lines drawn by QPainter alone."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEventLoop, QLineF, QTimer
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from attn_gui.views.flow.drawer import FlowDrawer
from attn_gui.views.flow.places import Places
from attn_gui.views.flow.strokes import MOST_SMOOTH, STEPS, pen
from attn_gui.views.main_window import MainWindow
from attn_gui.views.theme import LIGHT
from tests.bench.edit_to_painted import PATIENCE_S, Watched, opened
from tests.bench.frames import Frames, after_paint
from tests.bench.report import Case, Pairs
from tests.bench.subject import Size, alternate, experiment

SIZE = Size(200, 64, 8)
LIMIT = 1.5
COUNT = 40
BUDGET_S = 20.0
PEER = "the same lines, made beforehand, drawn by QPainter in a bare widget"


def cases() -> list[Case]:
    return [Case(f"flow, n {SIZE.n}", PEER, LIMIT, partial(measure, SIZE))]


def measure(size: Size, count: int = COUNT) -> Pairs:
    """From another threshold, which leaves out nothing, to the lines painted; the first pair is not counted."""
    with opened(experiment(size)) as watched:
        ours = Ours(watched)
        peer = Peer(ours.drawer.canvas.places, ours.weights)
        try:
            return alternate(ours, peer, count, BUDGET_S)
        finally:
            peer.view.close()
            peer.view.deleteLater()


class Ours:
    """The drawer, with all lines of the first head in sight."""

    def __init__(self, watched: Watched) -> None:
        self.drawer = opened_drawer(watched.window)
        watched.settle()
        self._position = 0
        self._loop = QEventLoop()
        self._patience = QTimer()
        self._patience.setSingleShot(True)
        self._patience.timeout.connect(self._loop.quit)
        self._awaited: object = None
        after_paint(self.drawer.canvas, self._on_painted)

    def __call__(self) -> None:
        self._position = 1 - self._position
        self._awaited = self.drawer.canvas.flow
        self._patience.start(int(PATIENCE_S * 1000))
        self.drawer.threshold.slider.setValue(self._position)
        self._loop.exec()
        if not self._patience.isActive():
            raise TimeoutError("the flow was not painted")
        self._patience.stop()

    @property
    def weights(self) -> NDArray[Any]:
        """N as it is drawn, [n_q, n_k]."""
        flow, places = self.drawer.canvas.flow, self.drawer.canvas.places
        assert flow is not None
        N = np.zeros((places.n_q, places.n_k))
        N[flow.query, flow.key] = flow.weight
        return N

    def _on_painted(self) -> None:
        flow = self.drawer.canvas.flow
        if flow is not None and flow is not self._awaited:
            self._loop.quit()


class Peer:
    """A bare widget as large as the canvas."""

    def __init__(self, places: Places, N: NDArray[Any]) -> None:
        self.view = BareLines(places, N)
        self.view.show()
        self._frames = Frames(self.view, [self.view])

    def __call__(self) -> None:
        self._frames.time(self._again)

    def _again(self) -> bool:
        self.view.update()
        return True


class BareLines(QWidget):
    """Draws a line for each weight, the heaviest last, with the pens that the program has for them."""

    def __init__(self, places: Places, N: NDArray[Any]) -> None:
        super().__init__()
        self.setFixedSize(round(places.width), round(places.height))
        query, key = np.nonzero(N)
        order = np.argsort(N[query, key])
        query, key = query[order], key[order]
        levels = np.floor(np.log2(N[query, key]) * STEPS)
        full = min(float(N.max()), 1 / places.one)
        self._batches = []
        for first, stop in pairwise([0, *(np.flatnonzero(np.diff(levels)) + 1).tolist(), len(levels)]):
            weight = 2 ** ((levels[first] + 0.5) / STEPS)
            colours = LIGHT.colour("muted"), LIGHT.colour("panel")
            start, end = (
                (places.y(side, 0) + index[first:stop] * places.pitch).tolist()
                for side, index in (("query", query), ("key", key))
            )
            lines = [QLineF(places.left, a, places.right, b) for a, b in zip(start, end, strict=True)]
            smooth = len(levels) - stop < MOST_SMOOTH
            self._batches.append((smooth, pen(*colours, weight * places.one, weight / full), lines))

    @property
    def count(self) -> int:
        """How many lines."""
        return sum(len(lines) for _, _, lines in self._batches)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), LIGHT.colour("panel"))
        for smooth, with_pen, lines in self._batches:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, smooth)
            painter.setPen(with_pen)
            painter.drawLines(lines)


def opened_drawer(window: MainWindow) -> FlowDrawer:
    """The flow drawer of ``window``, in sight."""
    dock = next(dock for dock in window.docks if dock.objectName() == "flow")
    dock.toggleViewAction().trigger()
    drawer = dock.widget()
    assert isinstance(drawer, FlowDrawer)
    return drawer
