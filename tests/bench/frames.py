"""How long a changed view takes until it is painted, and how long the GUI thread answers nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter
from typing import Any

from PySide6.QtCore import QEventLoop, QObject, Qt, QTimer
from PySide6.QtGui import QPaintEvent

# a screen shows so many pictures
PACE_S = 1 / 60
PATIENCE_MS = 60_000
BEAT_MS = 2


class Frames(QObject):
    """Times changes of ``views``, as many a second at most as a screen shows; between them events are served."""

    def __init__(self, views: Sequence[Any]) -> None:
        super().__init__()
        self._views = list(views)
        self._awaited: set[Any] = set()
        self._painted = 0.0
        self._loop = QEventLoop()
        self._patience, self._pace = _single_shot(self._loop), _single_shot(self._loop)
        for view in views:
            after_paint(view, partial(self._on_painted, view))

    def time(self, change: Callable[[], bool]) -> float | None:
        """Seconds from before ``change`` until each view is painted; None where it says that it changed nothing."""
        started = perf_counter()
        self._awaited = set(self._views)
        if not change():
            self._awaited = set()
            return None
        self._patience.start(PATIENCE_MS)
        while self._awaited and self._patience.isActive():
            self._loop.exec()
        self._patience.stop()
        if self._awaited:
            raise TimeoutError("a changed view was not painted")
        seconds = self._painted - started
        self._pace.start(max(0, round((PACE_S - seconds) * 1000)))
        self._loop.exec()
        return seconds

    def _on_painted(self, view: Any) -> None:
        self._awaited.discard(view)
        if not self._awaited and self._patience.isActive():
            self._painted = perf_counter()
            self._patience.stop()
            self._loop.quit()


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
