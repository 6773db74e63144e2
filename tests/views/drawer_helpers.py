"""What the tests of the drawers share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from attn_gui.control.feed import Feed
from attn_gui.model.asks import Ask
from attn_gui.model.experiment import Experiment
from attn_gui.model.initialise import initial_weights
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.views.context import Context

WIDTH = 12


def several_heads(heads: int = 4, kv_heads: int | None = None, n: int = 5, width: int = WIDTH) -> Experiment:
    """A multi-head experiment of random numbers."""
    weights = initial_weights("linear", width, width, heads, seed=7, kv_heads=kv_heads)
    X = np.random.RandomState(5).standard_normal((n, width))
    names = [f"t{index}" for index in range(n)]
    return Experiment.from_tokens(names, X, weights, heads=heads, kv_heads=kv_heads)


def given() -> Experiment:
    """An experiment without weights."""
    random = np.random.RandomState(2)
    return Experiment.from_qkv(random.rand(3, 2), random.rand(3, 2), random.rand(3, 2))


def open_experiment(context: Context, experiment: Experiment) -> None:
    context.document.open(Session((NamedExperiment("test", experiment),)), None)
    context.selection.fit(experiment)


@contextmanager
def asks_recorded(feed: Feed) -> Iterator[list[tuple[str, Ask | None]]]:
    """Every ask that reaches the feed meanwhile."""
    seen: list[tuple[str, Ask | None]] = []
    original = feed.ask

    def ask(slot: str, ask: Ask | None) -> None:
        seen.append((slot, ask))
        original(slot, ask)

    feed.ask = ask  # type: ignore[method-assign]
    try:
        yield seen
    finally:
        del feed.ask  # type: ignore[method-assign]
