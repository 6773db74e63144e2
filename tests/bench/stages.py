"""The parts of an edit by themselves: the computation without a window, and the pictures."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pyqtgraph as pg

from attn_gui.compute.picture import picture
from attn_gui.compute.trace import trace
from attn_gui.model.asks import PictureAsk
from attn_gui.model.trace import Trace
from tests.bench.report import Case, Pairs
from tests.bench.subject import SIZES, WIDE, Forward, Size, alternate, experiment

COUNT = 60
BUDGET_S = 6.0


def cases() -> list[Case]:
    sizes = [*SIZES, WIDE]
    traces = [Case(f"trace, {size}", "torch forward", None, partial(measure_trace, size)) for size in sizes]
    peer = "pyqtgraph.makeARGB of A and N"
    return traces + [Case(f"pictures, {size}", peer, None, partial(measure_pictures, size)) for size in sizes]


def measure_trace(size: Size, count: int = COUNT) -> Pairs:
    """The computation against the same in plain torch."""
    of = experiment(size)
    return alternate(lambda: trace(of), Forward(of), count, BUDGET_S)


def measure_pictures(size: Size, count: int = COUNT) -> Pairs:
    """Both pictures of a head against pyqtgraph's, which ImageItem makes as it is painted."""
    traced = trace(experiment(size))
    return alternate(partial(_ours, traced), _peer(traced), count, BUDGET_S)


def _ours(traced: Trace) -> None:
    for ask in (PictureAsk("A", diverging=True), PictureAsk("N")):
        picture(traced, ask.request(traced.experiment))


def _peer(traced: Trace) -> Callable[[], None]:
    colours = pg.colormap.get("viridis").getLookupTable(nPts=256)
    shown = [traced.stage(name, 0) for name in ("A", "N")]

    def make() -> None:
        for values in shown:
            pg.makeARGB(values, lut=colours, levels=(values.min(), values.max()), useRGBA=False)

    return make
