"""Frames of a tour over the map of very many tokens, in the program's own window, at rest and during a pass.

One map is N alone, over the whole width of the window; both are A and N side by side. A frame ends when all of the
window is painted: the matrix, the names and sums of its rows, the names of its columns, the minimap, and where both
maps are shown the tables beside them, which follow. The peer paints as many images as large, and nothing else.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from statistics import median
from time import perf_counter

import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QApplication

from attn_gui.control.feed import PASS
from attn_gui.views.main_window import MainWindow
from tests.bench.bare_map import BareMap
from tests.bench.edit_to_painted import PATIENCE_S, Watched, opened
from tests.bench.frames import Frame, Frames, Stalls
from tests.bench.moves import Move, Zoom, tour
from tests.bench.report import RATIO, Amount, Case, milliseconds
from tests.bench.subject import Size, experiment

SIZE = Size(32_768, 64, 1)
STEPS = 500
LIMIT = 1.5
PEERS = {1: "an ImageItem of the heatmap's size in a bare view", 2: "two of them side by side in a bare window"}
MAPS = {1: "one map", 2: "both maps"}
# both maps bring the two tables and twice the labels along, for which the peer has nothing
LIMITS = {1: LIMIT, 2: None}


@dataclass(frozen=True)
class Toured:
    """Each frame, and the longest that the GUI thread answered nothing."""

    ours: list[Frame]
    peer: list[Frame]
    stall: float


def cases() -> list[Case]:
    made = []
    for maps, peer in PEERS.items():
        for when, index in (("", 0), (" during a pass", 1)):
            words, toured = f"tour of {MAPS[maps]}{when}", partial(_one, maps, index)
            made += [
                Case(f"{words}, n {SIZE.n:,}", peer, LIMITS[maps], partial(median_frame, toured)),
                Case(f"{words}, computing", peer, None, partial(median_computing, toured)),
                Case(f"{words}, 99 of 100 frames", peer, None, partial(slow_frame, toured)),
                Case(f"{words}, longest stall", "", None, partial(longest_stall, toured)),
            ]
    return made


@cache
def tours(size: Size, steps: int, maps: int) -> tuple[Toured, Toured]:
    """At rest, and during a pass; after each the peer's, while nothing else runs."""
    # A and N are never held whole here, however small
    with opened(experiment(size), memory=0) as watched:
        formula = watched.window.formula
        if maps == 1:
            formula.alone.show(formula.weights)
            watched.settle()
        canvases = [panel.heatmap.plot.canvas for panel in (formula.weights, formula.scores)[:maps]]
        frames = Frames(watched.window, canvases)
        with BareMap(canvases[0].width(), canvases[0].height(), maps) as peer:
            peer.tour(steps // 10)
            at_rest = _toured(watched, frames, peer, steps, before=lambda: None)
            passing = _toured(watched, frames, peer, steps, before=partial(_have_a_pass, watched.window))
    return at_rest, passing


def median_frame(toured: Callable[[], Toured]) -> Amount:
    """The ratio of the medians by the clock."""
    return _ratio([frame.seconds for frame in toured().ours], [frame.seconds for frame in toured().peer])


def median_computing(toured: Callable[[], Toured]) -> Amount:
    """The ratio of the medians of processor time, ours with that of the parts that come into sight meanwhile."""
    return _ratio([frame.computing for frame in toured().ours], [frame.computing for frame in toured().peer])


def slow_frame(toured: Callable[[], Toured]) -> Amount:
    """The 99th percentile."""
    both = ([frame.seconds for frame in frames] for frames in (toured().ours, toured().peer))
    ours, peer = (float(np.quantile(times, 0.99)) for times in both)
    return Amount(ours * 1000, "ms", ("", f"{milliseconds([peer])} ms"))


def longest_stall(toured: Callable[[], Toured]) -> Amount:
    return Amount(toured().stall * 1000, "ms")


def _ratio(ours: list[float], peer: list[float]) -> Amount:
    return Amount(median(ours) / median(peer), RATIO, (f"{milliseconds(ours)} ms", f"{milliseconds(peer)} ms"))


def _one(maps: int, index: int) -> Toured:
    return tours(SIZE, STEPS, maps)[index]


def _toured(watched: Watched, frames: Frames, peer: BareMap, steps: int, before: Callable[[], None]) -> Toured:
    """``before`` comes before each step and does not count."""
    window, stalls = watched.window, Stalls()
    window.formula.weights.heatmap.pointer.fit()
    watched.settle()
    ours = []
    for move in tour(steps):
        before()
        with stalls:
            frame = frames.time(partial(_change, window, move))
        if frame is not None:
            ours.append(frame)
    window.context.worker.cancel(PASS)
    watched.settle()
    return Toured(ours, peer.tour(steps), stalls.longest)


def _change(window: MainWindow, move: Move) -> bool:
    """What the wheel or a drag does; whether that shows another part."""
    heatmap, bands = window.formula.weights.heatmap, window.context.bands
    plot = heatmap.plot
    before = plot.grid
    if isinstance(move, Zoom):
        area = plot.area
        at = QPointF(area.left() + move.x * area.width(), area.top() + move.y * area.height())
        heatmap.pointer.zoom(move.factor, at)
    else:
        bands.scroll(bands.top - move.y / bands.pitch)
        plot.columns.scroll(plot.columns.left - move.x / before.cell_width)
    return plot.grid != before


def _have_a_pass(window: MainWindow) -> None:
    """Begin another if none is running."""
    context = window.context
    if context.worker.running(PASS):
        return
    context.document.apply("Edit", replace(context.document.experiment))
    end = perf_counter() + PATIENCE_S
    while not context.worker.running(PASS):
        if perf_counter() > end:
            raise TimeoutError("no pass was begun")
        QApplication.processEvents()
        time.sleep(0.001)
