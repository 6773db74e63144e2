"""Passes over rows that wait where a test needs them to be, however fast the machine is."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import pytest

from attn_gui.compute.stream.trace import StreamedTrace
from attn_gui.control.worker import Steps
from attn_gui.model.trace import Head


class Lingering:
    """Lets no pass go on from a step after which ``here`` holds of its trace; more urgent work is served meanwhile."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.here: Callable[[StreamedTrace], bool] = lambda trace: True
        real = StreamedTrace.passes

        def passes(trace: StreamedTrace, first: Sequence[Head] = ()) -> Steps:
            for part in real(trace, first):
                yield part
                while self.here(trace):
                    time.sleep(0.001)
                    yield part

        monkeypatch.setattr(StreamedTrace, "passes", passes)

    def let_go(self) -> None:
        """Hold up no pass any more."""
        self.here = lambda trace: False
