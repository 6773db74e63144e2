"""How long a changed view takes until it is painted, and how long the GUI thread answers nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

from PySide6.QtCore import QEvent, QEventLoop, QObject, Qt, QTimer
from PySide6.QtGui import QPaintEvent

# a screen shows so many pictures
PACE_S = 1 / 60
PATIENCE_MS = 60_000
BEAT_MS = 2


@dataclass(frozen=True)
class Frame:
    """Seconds by the clock, and those that the threads of this process computed meanwhile, all together."""

    seconds: float
    computing: float


class Frames(QObject):
    """Times changes of ``views``, as many a second at most as a screen shows; between them events are served.

    A frame ends when ``window``, which they are in, has painted all that was to be painted, the views and whatever
    stands beside them.
    """

    def __init__(self, window: Any, views: Sequence[Any]) -> None:
        super().__init__()
        self._window = window
        self._views = list(views)
        self._awaited: set[Any] = set()
        self._ended = (0.0, 0.0)
        self._loop = QEventLoop()
        self._patience, self._pace = _single_shot(self._loop), _single_shot(self._loop)
        for view in views:
            after_paint(view, partial(self._on_painted, view))
        window.installEventFilter(self)

    def time(self, change: Callable[[], bool]) -> Frame | None:
        """From before ``change`` until everything is painted; None where it says that it changed nothing."""
        started = perf_counter(), time.process_time()
        self._awaited = set(self._views)
        if not change():
            self._awaited = set()
            return None
        self._patience.start(PATIENCE_MS)
        while self._patience.isActive():
            self._loop.exec()
        if self._awaited:
            raise TimeoutError("a changed view was not painted")
        frame = Frame(self._ended[0] - started[0], self._ended[1] - started[1])
        self._pace.start(max(0, round((PACE_S - frame.seconds) * 1000)))
        self._loop.exec()
        return frame

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() != QEvent.Type.UpdateRequest or not self._patience.isActive():
            return False
        self._window.event(event)  # paints all that was asked for
        if not self._awaited:
            self._ended = perf_counter(), time.process_time()
            self._patience.stop()
            self._loop.quit()
        return True

    def _on_painted(self, view: Any) -> None:
        self._awaited.discard(view)


class Stalls:
    """``longest``: the seconds that the event loop left a timer waiting, while this was entered."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._last = 0.0
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._on_beat)

    def __enter__(self) -> Stalls:
        self._last = perf_counter()
        self._timer.start(BEAT_MS)
        return self

    def __exit__(self, *error: object) -> None:
        self._timer.stop()
        self._on_beat()

    def _on_beat(self) -> None:
        now = perf_counter()
        self.longest = max(self.longest, now - self._last - BEAT_MS / 1000)
        self._last = now


def after_paint(view: Any, call: Callable[[], None]) -> None:
    """Have ``call`` called each time ``view`` has been painted."""
    paint = view.paintEvent

    def painted(event: QPaintEvent) -> None:
        paint(event)
        call()

    view.paintEvent = painted


def _single_shot(loop: QEventLoop) -> QTimer:
    timer = QTimer()
    timer.setSingleShot(True)
    timer.setTimerType(Qt.TimerType.PreciseTimer)
    timer.timeout.connect(loop.quit)
    return timer
