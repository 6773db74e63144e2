"""A trace that nobody holds any more gives its memory back at once: dragging makes many of them."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import numpy as np
import pytest

from attn_gui.compute.picture import picture
from attn_gui.compute.reading import read_cell
from attn_gui.compute.trace import trace
from attn_gui.model.asks import PictureAsk
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collector")
def test_nothing_waits_for_the_garbage_collector() -> None:
    e = Experiment.from_tokens("abcd", np.eye(4), heads=2, rule=Causal())
    t = trace(e)
    for head in (0, "mean"):
        picture(t, PictureAsk("N", head).request(e))
        read_cell(t, head, 1, 1)
    watched = [weakref.ref(t), weakref.ref(t._stages)]
    shown = t.stage("N", 0)
    del t
    assert [ref() for ref in watched] == [None, None]
    assert shown[1].sum() == pytest.approx(1)
