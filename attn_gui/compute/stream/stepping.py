"""Several scans at once, one in each lane, in steps that others may come between."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from functools import partial

from attn_gui.compute.stream.lanes import Lanes
from attn_gui.compute.stream.scan import Scanned

Steps = Generator[float, None, None]
# half of what a step may take, since a segment may be long
STEP_S = 0.025


def together(
    lanes: Lanes, scans: Iterator[Generator[None, None, Scanned]]
) -> Generator[tuple[int, list[Scanned]], None, None]:
    """Run ``scans``, one in each lane; after each step yields how many have ended, and those that just have."""
    running: list[Generator[None, None, Scanned]] = []
    ended = 0
    while True:
        while len(running) < lanes.count and (following := next(scans, None)) is not None:
            running.append(following)
        if not running:
            return
        results = lanes.run([partial(_advance, each, time.monotonic() + STEP_S) for each in running])
        running = [each for each, result in zip(running, results, strict=True) if result is None]
        finished = [result for result in results if result is not None]
        ended += len(finished)
        yield ended, finished


def _advance(scan: Generator[None, None, Scanned], until: float) -> Scanned | None:
    """Go on with ``scan`` for a while; its result once it has ended."""
    try:
        while True:
            next(scan)
            if time.monotonic() >= until:
                return None
    except StopIteration as stopped:
        result: Scanned = stopped.value
        return result
