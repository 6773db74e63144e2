"""Flow: the weights as lines from queries to keys, and how much of them the lines show."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attn_gui.model.arranging import PLAIN, Arranged, Arrangement, framed
from attn_gui.model.experiment import Experiment
from attn_gui.model.trace import Head

Array = np.ndarray[Any, Any]

# lines that an answer holds at most, and tokens that one column shows at most
MOST_LINES = 40_000
MOST_TOKENS = 512


@dataclass(frozen=True)
class FlowAsk:
    """The largest weights of N between ``queries`` and ``keys``, [start, stop), of each of ``heads``.

    summed: one line for a query and a key, of their weights in all these heads added up, in place of a line a head.
    threshold: weights below are left out. most: of the rest, so many of the largest are had, over all heads.
    arranged: which tokens are left out, or have one place with others; queries and keys are those that are drawn so.
    """

    heads: tuple[Head, ...]
    queries: tuple[int, int]
    keys: tuple[int, int]
    threshold: float = 0.0
    most: int = MOST_LINES
    summed: bool = False
    arranged: Arrangement = PLAIN

    def within(self, experiment: Experiment) -> FlowAsk:
        """The ask for ``experiment``, brought within its bounds; of a column MOST_TOKENS at most."""
        heads = tuple(dict.fromkeys(h if h == "mean" else min(h, experiment.heads - 1) for h in self.heads))
        drawn = framed(experiment, self.arranged)
        queries, keys = _within(self.queries, drawn.n_q), _within(self.keys, drawn.n_k)
        return replace(self, heads=heads, queries=queries, keys=keys)

    @property
    def groups(self) -> tuple[tuple[Head, ...], ...]:
        """The heads whose weights one line holds, of each kind of line that is told apart."""
        return (self.heads,) if self.summed else tuple((head,) for head in self.heads)

    @property
    def heaviest(self) -> int:
        """What the weight of a line may come to, where the weights of a row sum to 1."""
        return max(len(group) for group in self.groups)


@dataclass(frozen=True, eq=False)
class Shares:
    """Of each token of a column: the weight, summed over the heads, and the lines, within the window.

    shown: the weight of the lines that are had; within: of all lines between the two windows; both [tokens], float64.
    lines_shown, lines: how many of either, [tokens].
    """

    shown: Array
    within: Array
    lines_shown: Array
    lines: Array


@dataclass(frozen=True, eq=False)
class Flow:
    """Lines from queries to keys, the heaviest first; lines of one weight by head, query and key.

    ask: what was asked for, brought within the bounds of the experiment. head: which of ``ask.groups`` each line is of,
    by its place there; query, key: which tokens it joins, counted from the first of all; weight: of N, float64; all
    [lines]. A cell has a line where the mask allows it and its weight is more than 0.
    queries, keys: what each token of the windows has. total: the sum of each query's weights over all keys and the
    heads, those out of the window included, [queries]; beyond: the part of it that goes to keys out of the window;
    hidden: the part that goes to keys that are not drawn. odd: how many weights of the window are no numbers, or
    infinite, and so have no line. drawn: how the tokens are, None where each has its own place.
    """

    ask: FlowAsk
    head: Array
    query: Array
    key: Array
    weight: Array
    queries: Shares
    keys: Shares
    total: Array
    beyond: Array
    hidden: Array
    odd: int
    drawn: Arranged | None = None


def _within(window: tuple[int, int], length: int) -> tuple[int, int]:
    start = max(0, min(window[0], length - 1))
    return start, max(start + 1, min(window[1], length, start + MOST_TOKENS))
