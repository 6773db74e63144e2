"""The grid of a mapped file of many heads, from opening it to painted, against numpy.load of the same file.

``python -m tests.bench.layers FILE`` answers each line on stdin with the megabytes that are the process's own once the
heads in sight are painted, and how many those are. ``Shown`` is the other end (on Linux).
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import ClassVar

import numpy as np
from PySide6.QtCore import QEventLoop, QRect, QSize, QTimer
from PySide6.QtGui import QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QWidget

from attn_gui.control.document import Document
from attn_gui.control.feed import Feed
from attn_gui.control.notices import Notices
from attn_gui.control.overview_jobs import Pictured
from attn_gui.control.selection import Selection
from attn_gui.control.settings import Settings
from attn_gui.control.worker import Worker
from attn_gui.model.experiment import Experiment
from attn_gui.model.layer_place import LayerPlace
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.views.bands import Bands
from attn_gui.views.context import Context
from attn_gui.views.layers.layers_drawer import LayersDrawer
from attn_gui.views.layers.layers_grid import GRID, SIDE
from attn_gui.views.look import Look
from tests.bench.answering import Answering
from tests.bench.report import RATIO, Amount, Case, milliseconds

LAYERS, HEADS, TOKENS = 12, 12, 1024
LIMIT, COUNT = 2.0, 5
PATIENCE_MS = 120_000
# of half precision, 8.6 GB, of which the file system holds nothing
SPARSE = (32, 32, 2048, 2048)
MOST_MB = 1000.0


def cases() -> list[Case]:
    name = f"grid of {LAYERS * HEADS} heads, n {TOKENS:,}"
    made = [Case(name, "numpy.load of the file, and the bare painting beside", LIMIT, partial(measure, TOKENS))]
    if sys.platform == "linux":
        layers, heads, n, _ = SPARSE
        told = f"the file has {np.prod(SPARSE) * 2 / 1e6:,.0f} MB"
        made.append(Case(f"memory of a grid, {layers} x {heads} heads, n {n:,}", told, MOST_MB, own_memory))
    return made


@dataclass(frozen=True)
class Grids:
    """Seconds of each grid, of painting as much bare, and of numpy.load."""

    unit: ClassVar[str] = RATIO
    ours: tuple[float, ...]
    bare: tuple[float, ...]
    loads: tuple[float, ...]

    @property
    def value(self) -> float:
        """The median of the grid's time without the bare painting, to that of the load next to it."""
        return median((a - b) / c for a, b, c in zip(self.ours, self.bare, self.loads, strict=True))

    @property
    def told(self) -> tuple[str, str]:
        return f"{milliseconds(self.ours)} ms", f"{milliseconds(self.loads)} + {milliseconds(self.bare)} ms"


def measure(n: int, count: int = COUNT) -> Grids:
    """All heads of a file in sight at once; the first time does not count."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "attn.npy"
        write(path, n)
        times = [(grid(path), painting(LAYERS * (HEADS + 1)), load(path)) for _ in range(count + 1)][1:]
    ours, bare, loads = zip(*times, strict=True)
    return Grids(ours, bare, loads)


def write(path: Path, n: int) -> None:
    """Weights [layers, heads, n, n], float32, a layer at a time."""
    random = np.random.default_rng(0)
    mapped = np.lib.format.open_memmap(path, "w+", np.float32, (LAYERS, HEADS, n, n))
    for layer in mapped:
        layer[:] = random.random(layer.shape, np.float32) ** 4
        layer /= layer.sum(axis=-1, keepdims=True)
    mapped.flush()


def load(path: Path) -> float:
    """Seconds of the peer."""
    started = perf_counter()
    np.load(path)
    return perf_counter() - started


def grid(path: Path) -> float:
    """Seconds from opening the file until every head of it is painted, in a drawer that is there already."""
    with _drawer(QSize((HEADS + 1) * GRID.width() + 200, LAYERS * GRID.height() + 200)) as drawer:
        started = perf_counter()
        drawer.context.document.open(opened(path), None)
        _wait_painted(drawer, LAYERS * (HEADS + 1))
        return perf_counter() - started


def painting(count: int) -> float:
    """Seconds of painting ``count`` images with a line each, and nothing else."""
    view = _Bare(count)
    view.show()
    QApplication.processEvents()
    started = perf_counter()
    view.repaint()
    return perf_counter() - started


def opened(path: Path) -> Session:
    """The layers of a file of weights, none of which is read yet."""
    mapped = np.load(path, mmap_mode="r")
    return Session(
        tuple(
            NamedExperiment(f"Layer {k + 1}", Experiment.from_weights(layer), place=LayerPlace(k))
            for k, layer in enumerate(mapped)
        )
    )


def own_memory(shape: tuple[int, int, int, int] = SPARSE) -> Amount:
    """Megabytes of a process that shows the heads in sight of a file with holes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sparse.npy"
        np.lib.format.open_memmap(path, "w+", np.float16, shape)
        with Shown(path) as shown:
            megabytes, heads = shown.look()
    return Amount(megabytes, "MB", (f"{heads} heads", ""))


class Shown(Answering):
    """The grid of a file in a process of its own."""

    def __init__(self, path: Path) -> None:
        super().__init__("tests.bench.layers", str(path))

    def __enter__(self) -> Shown:
        return self

    def look(self) -> tuple[float, int]:
        """Megabytes, and heads in sight."""
        megabytes, heads = self.ask("look").split()
        return float(megabytes), int(heads)


class _Bare(QWidget):
    def __init__(self, count: int) -> None:
        super().__init__()
        self._count = count
        self._image = QImage(SIDE, SIDE, QImage.Format.Format_RGB32)
        self._image.fill(0x6080A0)
        self.resize((HEADS + 1) * GRID.width(), LAYERS * GRID.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        for k in range(self._count):
            row, column = divmod(k, HEADS + 1)
            place = QRect(column * GRID.width(), row * GRID.height(), SIDE, SIDE)
            painter.drawImage(place.topLeft(), self._image)
            painter.drawText(place.left(), place.bottom() + 14, "0.00")


@contextmanager
def _drawer(size: QSize) -> Iterator[LayersDrawer]:
    application = QApplication.instance() or QApplication(["bench"])
    with tempfile.TemporaryDirectory() as folder:
        worker = Worker()
        feed, settings = Feed(worker), Settings(Path(folder))
        document = Document(Session((NamedExperiment("none", Experiment.from_weights([[1.0]])),)), feed)
        context = Context(worker, feed, document, Selection(), settings, Notices(), Look(settings), Bands())
        context.look.refresh()
        drawer = LayersDrawer(context)
        drawer.resize(size)
        drawer.show()
        document.start()
        _wait_painted(drawer, 1)
        yield drawer
        drawer.hide()
        worker.close()
        drawer.deleteLater()
        application.processEvents()


def _wait_painted(drawer: LayersDrawer, count: int) -> None:
    """Until all heads in sight, ``count`` of them at least, are there and painted."""
    known, loop, patience = drawer.model.known, QEventLoop(), QTimer()
    came = 0

    def look(answer: Pictured) -> None:
        nonlocal came
        came += 1
        if came >= count and all(known.thumbnail(at) is not None for at in drawer.grid.in_sight()):
            loop.quit()

    patience.setSingleShot(True)
    patience.timeout.connect(loop.quit)
    patience.start(PATIENCE_MS)
    drawer.overview.pictured.connect(look)
    loop.exec()
    drawer.overview.pictured.disconnect(look)
    if not patience.isActive():
        raise TimeoutError("not all heads were painted")
    QApplication.processEvents()  # the last of them


def main(path: Path) -> int:
    with _drawer(QSize(1280, 400)) as drawer:
        drawer.context.document.open(opened(path), None)
        _wait_painted(drawer, 2)
        for _ in sys.stdin:
            status = Path("/proc/self/status").read_text()
            anonymous = next(line.split()[1] for line in status.splitlines() if line.startswith("RssAnon"))
            heads = sum(drawer.model.known.thumbnail(at) is not None for at in drawer.model.known.heads())
            print(int(anonymous) / 1000, heads, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
