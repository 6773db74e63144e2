"""The peer of the window: torch's forward pass, shown by pyqtgraph in a bare QMainWindow, in a process of its own.

``python -m tests.bench.bare_window`` answers each line "n d_model heads" on stdin with the seconds from a changed
number to both heatmaps painted. ``Peer`` is the other end.
"""

from __future__ import annotations

import sys
from time import perf_counter

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEventLoop
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QMainWindow, QWidget

from tests.bench.answering import Answering
from tests.bench.subject import Forward, Size, experiment

WINDOW = (1280, 800)


class Heatmap(pg.PlotWidget):
    """A plot with axes that holds one image."""

    def __init__(self, loop: QEventLoop, colours: np.ndarray) -> None:
        super().__init__()
        self._loop = loop
        self.image = pg.ImageItem(axisOrder="row-major")
        self.image.setLookupTable(colours)
        self.addItem(self.image)
        self.awaited = False

    def show_values(self, values: np.ndarray) -> None:
        self.awaited = True
        self.image.setImage(values, levels=(values.min(), values.max()))

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.awaited:
            self.awaited = False
            self._loop.quit()


class BareWindow(QMainWindow):
    """Two heatmaps side by side and nothing else."""

    def __init__(self) -> None:
        super().__init__()
        self._loop = QEventLoop()
        colours = pg.colormap.get("viridis").getLookupTable(nPts=256)
        self._heatmaps = [Heatmap(self._loop, colours) for _ in range(2)]
        centre = QWidget()
        row = QHBoxLayout(centre)
        for heatmap in self._heatmaps:
            row.addWidget(heatmap)
        self.setCentralWidget(centre)
        self.resize(*WINDOW)

    def edit(self, forward: Forward, value: float) -> float:
        """Seconds from a changed embedding to both heatmaps painted."""
        started = perf_counter()
        forward.X[0, 0] = value
        A, N, _ = forward()
        for heatmap, stage in zip(self._heatmaps, (A, N), strict=True):
            heatmap.show_values(stage[0].numpy())
        while any(heatmap.awaited for heatmap in self._heatmaps):
            self._loop.exec()
        return perf_counter() - started


class Peer(Answering):
    """The bare window in its own process."""

    def __init__(self) -> None:
        super().__init__("tests.bench.bare_window")

    def __enter__(self) -> Peer:
        return self

    def edit(self, size: Size) -> float:
        """As :meth:`BareWindow.edit`."""
        return float(self.ask(f"{size.n} {size.d_model} {size.heads}"))


def main() -> int:
    application = QApplication.instance() or QApplication(["bare"])
    window = BareWindow()
    window.show()
    size, forward = None, None
    for count, words in enumerate(sys.stdin):
        asked = Size(*map(int, words.split()))
        if asked != size or forward is None:
            size, forward = asked, Forward(experiment(asked))
        application.processEvents()
        print(window.edit(forward, 1.0 + count % 2 / 2), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
