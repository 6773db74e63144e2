"""A window of the weights as the screen has it, after a pass, against a bare product, exponentials and an ImageItem."""

from __future__ import annotations

from functools import partial

import numpy as np
import pyqtgraph as pg
import torch
from PySide6.QtGui import QImage

from attn_gui.compute.picture import picture
from attn_gui.compute.stream.trace import StreamedTrace
from attn_gui.model.asks import PictureAsk
from attn_gui.model.experiment import Experiment
from attn_gui.views.heatmap.canvas import MatrixImage
from attn_gui.views.heatmap.grid import Grid
from attn_gui.views.heatmap.image import in_sight, sampled
from attn_gui.views.theme import LIGHT
from tests.bench.given import Passes, given, tensors
from tests.bench.report import Case, Pairs
from tests.bench.subject import alternate

TOKENS, SIDE = 32_768, 1024
LIMIT = 1.5
COUNT = 60
BUDGET_S = 15.0
PEER = "bare product, exp, ImageItem.setImage and render"


def cases() -> list[Case]:
    name = f"window of {SIDE:,} x {SIDE:,}, n {TOKENS:,}"
    return [Case(name, PEER, LIMIT, partial(measure, TOKENS, SIDE))]


def measure(n: int, side: int, count: int = COUNT) -> Pairs:
    """Windows at random places, the same for both."""
    subject = given(n)
    passes = Passes(subject)
    passes.prepare()
    passes()
    assert passes.trace is not None
    ours, peer = Ours(passes.trace, side), Peer(subject, side)
    random = np.random.default_rng(0)

    def elsewhere() -> None:
        top, left = random.integers(0, n - side + 1, 2).tolist()
        ours.corner = peer.corner = top, left

    return alternate(ours, peer, count, BUDGET_S, elsewhere)


class Ours:
    """A picture of N from ``corner`` on, (row, column), and the image of it that a heatmap paints."""

    def __init__(self, trace: StreamedTrace, side: int) -> None:
        self.corner = (0, 0)
        self._trace, self._side = trace, side
        self._image = MatrixImage()
        self._image.set_table(LIGHT.sequential)

    def __call__(self) -> QImage:
        e, side, (top, left) = self._trace.experiment, self._side, self.corner
        ask = PictureAsk("N", window=(top, top + side, left, left + side), size=(side, side))
        pictures = [picture(self._trace, ask.request(e))]
        grid = Grid(e.n_q, e.n_k, side, side, -float(left), -float(top), 1.0, 1.0)
        self._image.show_pixels(*sampled(in_sight(pictures, grid), grid, 1.0))
        self._image.render()
        return self._image.qimage


class Peer:
    """The exponentials of the scores there, and pyqtgraph's image of them."""

    def __init__(self, of: Experiment, side: int) -> None:
        self.corner = (0, 0)
        Q, self._K, _ = tensors(of)
        self._Q = Q * of.scale
        self._side = side
        self._image = pg.ImageItem(axisOrder="row-major")
        self._image.setLookupTable(LIGHT.sequential)

    def __call__(self) -> QImage:
        top, left = self.corner
        with torch.inference_mode():
            P = (self._Q[top : top + self._side] @ self._K[left : left + self._side].T).exp_()
        self._image.setImage(P.numpy(), autoLevels=False, levels=(0.0, 20.0))
        self._image.render()
        return self._image.qimage
