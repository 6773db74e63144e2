"""The first picture of the weights of very many tokens, against the bare computation of the rows that it samples."""

from __future__ import annotations

from functools import partial

import torch

from attn_gui.compute.picture import picture
from attn_gui.compute.stream.overview import factor_for
from attn_gui.compute.stream.trace import SIDE, StreamedTrace
from attn_gui.model.asks import PictureAsk
from attn_gui.model.experiment import Experiment
from attn_gui.model.picture import Picture
from tests.bench.given import Passes, given, tensors
from tests.bench.report import Case, Pairs
from tests.bench.subject import alternate

TOKENS = 131_072
LIMIT = 1.5
COUNT = 10
BUDGET_S = 30.0
# scores at once in the peer, 64 MB: fastest here, and small enough anywhere
CELLS = 1 << 24


def cases() -> list[Case]:
    return [Case(f"first picture, n {TOKENS:,}", "softmax(Q K' scale) of its rows", LIMIT, partial(measure, TOKENS))]


def measure(n: int, count: int = COUNT) -> Pairs:
    """From a trace that has computed nothing to a picture of all of N."""
    subject = given(n)
    passes = Passes(subject)

    def ours() -> Picture:
        assert passes.trace is not None
        return first_picture(passes.trace)

    return alternate(ours, Sampled(subject), count, BUDGET_S, passes.prepare)


def first_picture(trace: StreamedTrace) -> Picture:
    for _ in trace.matrix("N", 0).begun("max"):
        pass
    return picture(trace, PictureAsk("N", size=(SIDE, SIDE)).request(trace.experiment))


class Sampled:
    """The peer: the weights of as many rows as the picture has, [rows, n], computed and forgotten."""

    def __init__(self, of: Experiment) -> None:
        Q, self._K, _ = tensors(of)
        self._scale = of.scale
        self._Q = Q[:: factor_for(of.n_q, SIDE)].contiguous()

    def __call__(self) -> int:
        rows = 0
        with torch.inference_mode():
            for some in self._Q.split(max(1, CELLS // len(self._K))):
                rows += len(torch.softmax(some @ self._K.T * self._scale, dim=-1))
        return rows
