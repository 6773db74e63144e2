"""The lines of the flow view: the largest weights of a window, and the sums of all of them."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_gui.compute.merging import merged
from attn_gui.model.arranging import Arranged, arranged
from attn_gui.model.flow import Flow, FlowAsk, Shares
from attn_gui.model.trace import Head, Trace

# queries looked at in one step: of a long sequence their whole rows may have to be gone over first
STEP = 64

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class _Lines:
    """The place of their head, query, key and weight, [lines] each, by head, query and key."""

    head: Array
    query: Array
    key: Array
    weight: Array

    def of(self, chosen: Array) -> _Lines:
        return _Lines(self.head[chosen], self.query[chosen], self.key[chosen], self.weight[chosen])


def flow(trace: Trace, ask: FlowAsk) -> Generator[float, None, Flow]:
    """The answer to ``ask``, brought within the bounds of ``trace``, in short steps: yields the part done, 0 to 1."""
    ask = ask.within(trace.experiment)
    drawn = arranged(trace.experiment, ask.arranged)
    source = _Source(trace) if drawn is None else _Drawn(trace, drawn)
    (first, end), (left, right) = ask.queries, ask.keys
    within, lines = np.zeros((2, end - first, right - left))  # summed over the heads, [queries, keys]
    total, hidden = np.zeros((2, end - first))
    odd = 0
    kept = _lines([])
    blocks = [(k, row) for k in range(len(ask.groups)) for row in range(first, end, STEP)]
    steps, done = sum(len(ask.groups[place]) for place, _ in blocks), 0
    for place, row in blocks:
        rows = slice(row, min(row + STEP, end))
        here = slice(rows.start - first, rows.stop - first)
        N = np.zeros((rows.stop - row, right - left))
        for head in ask.groups[place]:
            weights, unusable = _weights(source, head, rows, slice(left, right))
            N += weights
            odd += unusable
            total[here] += source.row_sums(head, rows)
            hidden[here] += source.hidden(head, rows)
            done += 1
            if head != ask.groups[place][-1]:
                yield done / steps
        within[here] += N
        lines[here] += N > 0
        query, key = np.nonzero((N > 0) & (ask.threshold <= N))
        found = _Lines(np.full(len(query), place), query + row, key + left, N[query, key])
        kept = _largest(_lines([kept, found]), ask.most)
        yield done / steps
    # they come by head, query and key, which those of one weight keep to
    kept = kept.of(np.argsort(-kept.weight, kind="stable"))
    whole = (left, right) == (0, source.n_k)
    beyond = np.zeros_like(total) if whole else np.maximum(total - hidden - within.sum(axis=1), 0.0)
    queries = _shares(kept, kept.query - first, within.sum(axis=1), lines.sum(axis=1))
    keys = _shares(kept, kept.key - left, within.sum(axis=0), lines.sum(axis=0))
    return Flow(ask, kept.head, kept.query, kept.key, kept.weight, queries, keys, total, beyond, hidden, odd, drawn)


class _Source:
    """The weights of ``trace``, token by token."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    @property
    def n_k(self) -> int:
        return self._trace.experiment.n_k

    def block(self, head: Head, rows: slice, keys: slice) -> tuple[Array, NDArray[np.bool_]]:
        """N in float64, and what the mask allows, [rows, keys] each."""
        matrix = self._trace.matrix("N", head)
        return matrix.block(rows, keys).astype(np.float64), matrix.allowed(rows, keys)

    def row_sums(self, head: Head, rows: slice) -> Array:
        """The sums of ``rows`` of N over all keys, those that are not drawn included, [rows]."""
        return self._trace.row_sums(head, rows)

    def hidden(self, head: Head, rows: slice) -> Array:
        """What of them goes to keys that are not drawn, [rows]."""
        return np.zeros(rows.stop - rows.start)


class _Drawn(_Source):
    """The weights as ``found`` draws them: rows and keys are places. Sums over keys, means over queries."""

    def __init__(self, trace: Trace, found: Arranged) -> None:
        super().__init__(trace)
        self._tokens, self._found = _Source(trace), found

    @property
    def n_k(self) -> int:
        return len(self._found.keys.names)

    def block(self, head: Head, rows: slice, keys: slice) -> tuple[Array, NDArray[np.bool_]]:
        axes = self._found.queries, self._found.keys
        tokens = [axis.tokens(range(part.start, part.stop)) for axis, part in zip(axes, (rows, keys), strict=True)]
        N, allowed = self._tokens.block(head, *(slice(each.start, each.stop) for each in tokens))
        parts = [
            (axis.starts[part] - each.start, axis.stops[part] - each.start)
            for axis, part, each in zip(axes, (rows, keys), tokens, strict=True)
        ]
        return merged(N, allowed, parts[0], parts[1], sums=True)

    def row_sums(self, head: Head, rows: slice) -> Array:
        return self._means(rows, lambda tokens: self._tokens.row_sums(head, tokens))

    def hidden(self, head: Head, rows: slice) -> Array:
        keys = self._found.keys.hidden
        if not keys.any():
            return super().hidden(head, rows)
        every = slice(0, len(keys))
        return self._means(rows, lambda tokens: self._tokens.block(head, tokens, every)[0][:, keys].sum(axis=1))

    def _means(self, rows: slice, of: Callable[[slice], Array]) -> Array:
        """Of a number that each token has, its mean over those of each place, [rows]."""
        queries = self._found.queries
        tokens = queries.tokens(range(rows.start, rows.stop))
        numbers = of(slice(tokens.start, tokens.stop))[:, np.newaxis]
        one = np.zeros(1, np.intp), np.ones(1, np.intp)
        places = queries.starts[rows] - tokens.start, queries.stops[rows] - tokens.start
        return merged(numbers, np.ones(numbers.shape, bool), places, one, sums=True)[0][:, 0]


def _weights(source: _Source, head: Head, rows: slice, keys: slice) -> tuple[Array, int]:
    """A block of N in float64, 0 where there is no line, and how many weights are no numbers."""
    N, allowed = source.block(head, rows, keys)  # [rows, keys]
    finite = np.isfinite(N)
    there = allowed & finite & (N > 0)
    return np.where(there, N, 0.0), int((allowed & ~finite).sum())


def _largest(lines: _Lines, most: int) -> _Lines:
    """The ``most`` heaviest of ``lines`` in their order; of those that weigh the same, the first."""
    count = len(lines.weight)
    if count <= most:
        return lines
    least = np.partition(lines.weight, count - most)[count - most] if most else np.inf
    chosen = lines.weight > least
    chosen[np.flatnonzero(lines.weight == least)[: most - int(chosen.sum())]] = True
    return lines.of(chosen)


def _lines(parts: list[_Lines]) -> _Lines:
    none = np.zeros(0, np.intp)
    return _Lines(
        np.concatenate([none, *(part.head for part in parts)]),
        np.concatenate([none, *(part.query for part in parts)]),
        np.concatenate([none, *(part.key for part in parts)]),
        np.concatenate([np.zeros(0), *(part.weight for part in parts)]),
    )


def _shares(kept: _Lines, place: Array, within: Array, lines: Array) -> Shares:
    count = len(within)
    shown = np.bincount(place, kept.weight, count)
    return Shares(shown, within, np.bincount(place, minlength=count), lines.astype(np.intp))
