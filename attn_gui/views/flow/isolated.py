"""Isolated: one token's lines, and the weight of each token at their other end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_gui.model.flow import Flow, Shares
from attn_gui.views.flow.places import Side


@dataclass(frozen=True, eq=False)
class Isolated:
    """The lines of token ``index`` of a column.

    chosen: their places in the flow, the heaviest first; ends: weights of the tokens at the other end, summed over the
    heads, the heaviest first. shown, within: weight of the lines that are drawn and of all between what is in sight;
    total: all that a query gives, NaN for a key, of which it is not known; beyond: what goes to keys out of sight;
    hidden: what goes to keys that are not drawn.
    """

    side: Side
    index: int
    chosen: NDArray[Any]
    ends: dict[int, float]
    lines_shown: int
    lines: int
    shown: float
    within: float
    total: float
    beyond: float
    hidden: float


def isolate(flow: Flow, side: Side, index: int) -> Isolated | None:
    """What ``flow`` has of a token; None where it is not within its windows."""
    start, stop = flow.ask.queries if side == "query" else flow.ask.keys
    if not start <= index < stop:
        return None
    own, other = (flow.query, flow.key) if side == "query" else (flow.key, flow.query)
    chosen = np.flatnonzero(own == index)
    ends: dict[int, float] = {}
    for token, weight in zip(other[chosen].tolist(), flow.weight[chosen].tolist(), strict=True):
        ends[token] = ends.get(token, 0.0) + weight
    place, shares = index - start, flow.queries if side == "query" else flow.keys
    total, beyond, hidden = np.nan, 0.0, 0.0
    if side == "query":
        total, beyond, hidden = (float(each[place]) for each in (flow.total, flow.beyond, flow.hidden))
    return Isolated(
        side,
        index,
        chosen,
        dict(sorted(ends.items(), key=lambda item: (-item[1], item[0]))),
        *_of(shares, place),
        total,
        beyond,
        hidden,
    )


def _of(shares: Shares, place: int) -> tuple[int, int, float, float]:
    counts = int(shares.lines_shown[place]), int(shares.lines[place])
    return *counts, float(shares.shown[place]), float(shares.within[place])
