"""An ask answered at once."""

from __future__ import annotations

from typing import Any

from attn_gui.compute.answers import answer
from attn_gui.model.asks import Ask
from attn_gui.model.trace import Trace


def answered(trace: Trace, ask: Ask) -> Any:
    """What the worker would answer to ``ask``, and that it said how far it was, from 0 to 1."""
    steps = answer(trace, ask)
    while True:
        try:
            assert 0 <= next(steps) <= 1
        except StopIteration as finished:
            return finished.value
