"""The peer of the map: one pyqtgraph image as large as its view, moved about, in a process of its own; or several.

``python -m tests.bench.bare_map WIDTH HEIGHT COUNT`` answers each line with a number of steps on stdin with the seconds
that each step of the tour took, from the move to the paint of all COUNT views, side by side in one window, and those in
which it computed. ``BareMap`` is the other end.
"""

from __future__ import annotations

import json
import sys
from functools import partial

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QRectF
from PySide6.QtWidgets import QApplication, QHBoxLayout, QWidget

from tests.bench.answering import Answering
from tests.bench.frames import Frame, Frames
from tests.bench.moves import Move, Zoom, tour


class Map(pg.GraphicsView):
    """A view and its image."""

    def __init__(self, width: int, height: int) -> None:
        super().__init__()
        self.setFixedSize(width, height)
        self._size = float(width), float(height)
        self._image = pg.ImageItem(axisOrder="row-major")
        self._image.setLookupTable(pg.colormap.get("viridis").getLookupTable(nPts=256))
        self._image.setImage(np.random.default_rng(0).random((height, width), np.float32), levels=(0.0, 1.0))
        self.addItem(self._image)
        self._place = QRectF(0.0, 0.0, *self._size)

    def move_by(self, move: Move) -> bool:
        """Whether that changed anything: the image goes on covering the view."""
        width, height = self._size
        old, place = self._place, QRectF(self._place)
        if isinstance(move, Zoom):
            x, y = move.x * width, move.y * height
            left, top = x - (x - old.left()) * move.factor, y - (y - old.top()) * move.factor
            place = QRectF(left, top, max(width, old.width() * move.factor), max(height, old.height() * move.factor))
        else:
            place.translate(move.x, move.y)
        place.moveLeft(min(0.0, max(place.left(), width - place.width())))
        place.moveTop(min(0.0, max(place.top(), height - place.height())))
        if place == old:
            return False
        self._place = place
        self._image.setRect(place)
        return True


class Maps(QWidget):
    """Several of them side by side, which move together."""

    def __init__(self, width: int, height: int, count: int) -> None:
        super().__init__()
        self.maps = [Map(width, height) for _ in range(count)]
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        for each in self.maps:
            row.addWidget(each)

    def move_by(self, move: Move) -> bool:
        """Whether that changed anything."""
        moved = [each.move_by(move) for each in self.maps]
        return all(moved)


class BareMap(Answering):
    """Bare maps in a process of their own."""

    def __init__(self, width: int, height: int, count: int = 1) -> None:
        super().__init__("tests.bench.bare_map", str(width), str(height), str(count))

    def __enter__(self) -> BareMap:
        return self

    def tour(self, steps: int) -> list[Frame]:
        return [Frame(*seconds) for seconds in json.loads(self.ask(str(steps)))]


def main(width: int, height: int, count: int) -> int:
    application = QApplication.instance() or QApplication(["bare"])
    window = Maps(width, height, count)
    window.show()
    application.processEvents()
    frames = Frames(window, window.maps)
    for words in sys.stdin:
        made = [frames.time(partial(window.move_by, move)) for move in tour(int(words))]
        print(json.dumps([(frame.seconds, frame.computing) for frame in made if frame is not None]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:4])))
