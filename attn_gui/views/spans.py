"""Spans: how many decimals numbers need on screen and how wide they come out, without looking at each twice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_gui.model.table import Table
from attn_gui.views.figures import common_decimals, shown

BLOCK = 8192

Array = NDArray[Any]


@dataclass(frozen=True)
class Span:
    """The decimals that write some numbers as exactly as allowed, and the lowest and highest finite one."""

    decimals: int = 1
    low: float = 0.0
    high: float = 0.0

    def joined(self, other: Span) -> Span:
        """The span of both's numbers."""
        return Span(max(self.decimals, other.decimals), min(self.low, other.low), max(self.high, other.high))

    @property
    def widest(self) -> tuple[str, str]:
        """Texts of which one is at least as wide as any of the numbers, in figures of one width."""
        return shown(self.low, self.decimals), shown(self.high, self.decimals)


def span_of(values: Array, most: int) -> Span:
    """The span of ``values`` [rows, columns] with ``most`` decimals at most."""
    span = Span()
    rows = max(1, BLOCK // max(1, values.shape[1]))
    for start in range(0, len(values), rows):
        span = span.joined(_span(values[start : start + rows], most, span.decimals))
    return span


class TableSpans:
    """Spans of the versions of a Table: only chunks that are new are looked at."""

    def __init__(self) -> None:
        self._most = -1
        self._known: dict[tuple[int, int], tuple[Array, Span]] = {}

    def of(self, table: Table, most: int) -> Span:
        """The span of ``table`` with ``most`` decimals at most."""
        known = self._known if most == self._most else {}
        self._most, self._known = most, {}
        whole = Span()
        for chunk in table.chunks:
            # the chunk is kept beside its span, so its memory stays its own
            place = chunk.__array_interface__["data"][0], chunk.size
            held = known.get(place) or (chunk, _span(chunk, most, 1))
            self._known[place] = held
            whole = whole.joined(held[1])
        return whole


def _span(values: Array, most: int, least: int) -> Span:
    finite = values[np.isfinite(values)]
    if not finite.size:
        return Span()
    decimals = common_decimals(finite, most, min(least, most))
    return Span(decimals, min(0.0, float(finite.min())), max(0.0, float(finite.max())))
