"""Several scans at once, one in each lane, in steps that others may come between."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterator
from functools import partial

from attn_gui.compute.stream.lanes import Lanes
from attn_gui.compute.stream.scan import Scanned

Steps = Generator[float, None, None]
# not all of what a step may take, since a segment may be long
STEP_S = 0.04


def together(
    lanes: Lanes, scans: Iterator[Generator[None, None, Scanned]]
) -> Generator[tuple[int, list[Scanned]], None, None]:
    """Run ``scans``, one in each lane; after each step yields how many have ended, and those that just have."""
    source = _Source(scans)
    running: list[Generator[None, None, Scanned] | None] = [None] * lanes.count
    ended = 0
    while True:
        until = time.monotonic() + STEP_S
        results = lanes.run([partial(_advance, each, source, until) for each in running])
        running = [each for each, _ in results]
        finished = [scanned for _, some in results for scanned in some]
        ended += len(finished)
        if finished or any(running):
            yield ended, finished
        if not any(running):
            return


class _Source:
    """Scans that several threads take from."""

    def __init__(self, scans: Iterator[Generator[None, None, Scanned]]) -> None:
        self._scans = scans
        self._lock = threading.Lock()

    def take(self) -> Generator[None, None, Scanned] | None:
        with self._lock:
            return next(self._scans, None)


def _advance(
    scan: Generator[None, None, Scanned] | None, source: _Source, until: float
) -> tuple[Generator[None, None, Scanned] | None, list[Scanned]]:
    """Go on with ``scan``, then with others, for a while: what is left of the last one, and those that have ended."""
    ended: list[Scanned] = []
    while True:
        scan = scan or source.take()
        if scan is None:
            return None, ended
        try:
            while True:
                next(scan)
                if time.monotonic() >= until:
                    return scan, ended
        except StopIteration as stopped:
            ended.append(stopped.value)
            scan = None
        if time.monotonic() >= until:
            return source.take(), ended
