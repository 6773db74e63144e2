"""Cells of the mask set by hand, as sparse rectangles on top of a rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import InitVar, dataclass, field
from functools import cache, cached_property, partial
from itertools import chain, compress
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from attn_gui.model.errors import ExperimentError
from attn_gui.model.rectangles import NOTHING, Edges, covered, edges_of_cells, fewest, grid_of

# places of queries and of keys, [cells] each: whether something holds for them, [cells]
Ruled = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.bool_]]

# each takes time with every picture, and some microseconds to read
MAX_RECTANGLES = 100_000
# so few take no time, and stay as they were painted
FEW = 256
# how many times as many as were left they are before they are put together again: that takes some moves' time
GROWTH = 1.25
# of a block, cells that are painted at once rather than a rectangle at a time
MOST_AT_ONCE = 1 << 20


class Rectangle(NamedTuple):
    """Queries [top, bottom) by keys [left, right), allowed or not."""

    top: int
    bottom: int
    left: int
    right: int
    allowed: bool


@dataclass(frozen=True)
class Painted:
    """Rectangles in the order they were painted: a later one lies on top of an earlier one.

    edges: the same as rows of numbers, [n, 5] (:mod:`attn_gui.model.rectangles`); ``known`` gives them to whoever has
    them. settled: into how many they were put together last.
    Raises ExperimentError for too many rectangles, and for one that is none.
    """

    rectangles: tuple[Rectangle, ...] = ()
    known: InitVar[Edges | None] = None
    settled: int = field(default=0, repr=False, compare=False)
    edges: Edges = field(init=False, repr=False, compare=False)

    def __post_init__(self, known: Edges | None) -> None:
        if len(self.rectangles) > MAX_RECTANGLES:
            raise ExperimentError("painted", f"at most {MAX_RECTANGLES:,} rectangles", f"{len(self.rectangles):,}")
        edges = _edges_of(self.rectangles) if known is None else known
        top, bottom, left, right, _ = edges.T
        odd = (top < 0) | (top > bottom) | (left < 0) | (left > right)
        if odd.any():
            _refuse(self.rectangles, int(np.argmax(odd)))
        edges.flags.writeable = False
        object.__setattr__(self, "edges", edges)

    def __bool__(self) -> bool:
        return bool(self.rectangles)

    def with_cells(self, cells: Iterable[tuple[int, int]], allowed: bool, ruled: Ruled | None = None) -> Painted:
        """With ``cells`` (query, key) set; neighbours become one rectangle, and many rectangles few.

        ruled: of which cells the rule below says the same: they need no paint where there is none else.
        """
        places = np.fromiter(chain.from_iterable(cells), np.int64).reshape(-1, 2)
        base = self.in_few
        kept = ~covered(base.edges, edges_of_cells(places, allowed))
        if ruled is not None and len(places):
            places = places[~ruled(places[:, 0], places[:, 1]) | _under(base.edges[kept], places)]
        fresh = edges_of_cells(places, allowed)
        return Painted(
            (*compress(base.rectangles, kept.tolist()), *_rectangles_of(fresh)),
            np.concatenate([base.edges[kept], fresh]),
            base.settled,
        )

    @cached_property
    def in_few(self) -> Painted:
        """The same cells in fewer rectangles, where there are many, and many that were not put together before."""
        if len(self.rectangles) <= max(FEW, min(GROWTH * self.settled, MAX_RECTANGLES // 2)):
            return self
        edges = fewest(self.edges)
        made = self.rectangles if edges is self.edges else tuple(_rectangles_of(edges))
        return Painted(made, edges, len(made))

    def at(self, i: int, j: int) -> bool | None:
        """What is painted at query ``i`` and key ``j``: True, False, or None for nothing."""
        top, bottom, left, right, allowed = self.edges.T
        over = np.flatnonzero((top <= i) & (i < bottom) & (left <= j) & (j < right))
        return bool(allowed[over[-1]]) if over.size else None

    def apply(self, block: Any, top: int, left: int, step: int = 1) -> None:
        """Paint onto ``block``, a bool array of numpy or torch whose first cell is query ``top``, key ``left``.

        step: how many queries a row of it is below the one before.
        """
        if not self:
            return
        height, width = block.shape[-2:]
        within = self.edges - (top, top, left, left, 0)
        within[:, :2] = np.clip(-(-within[:, :2] // step), 0, height)
        within[:, 2:4] = np.clip(within[:, 2:4], 0, width)
        sizes = (within[:, 1] - within[:, 0]) * (within[:, 3] - within[:, 2])
        within = within[sizes > 0]
        if len(within) > FEW and sizes.sum() <= MOST_AT_ONCE:
            cells = grid_of(within, (height, width))
            for allowed in (0, 1):
                rows, columns = np.nonzero(cells == allowed)
                block[..., rows, columns] = bool(allowed)
            return
        for upper, lower, first, last, allowed in within.tolist():
            block[..., upper:lower, first:last] = bool(allowed)

    def key_range(self, first: int, last: int) -> tuple[int, int] | None:
        """The keys [start, stop) that queries ``first`` to ``last`` (inclusive) were given by hand, if any."""
        given = self.edges[self._in_rows(first, last) & (self.edges[:, 4] == 1)]
        return (int(given[:, 2].min()), int(given[:, 3].max())) if len(given) else None

    def touches(self, first: int, last: int) -> bool:
        """Whether anything is painted in the rows of queries ``first`` to ``last`` (inclusive)."""
        return bool(self._in_rows(first, last).any())

    def _in_rows(self, first: int, last: int) -> NDArray[np.bool_]:
        return (self.edges[:, 0] <= last) & (self.edges[:, 1] > first)

    def rearranged(self, queries: list[int | None], keys: list[int | None]) -> Painted:
        """After tokens moved: ``queries[i]`` is the new place of query i, or None where it is gone; keys likewise."""
        result: list[Rectangle] = []
        down, across = cache(partial(_spans, queries)), cache(partial(_spans, keys))
        for top, bottom, left, right, allowed in self.rectangles:
            for rows in down(top, bottom):
                result += [Rectangle(*rows, *columns, allowed) for columns in across(left, right)]
        return Painted(tuple(result))


def _under(edges: Edges, places: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of ``places`` [cells, 2] lie under any of ``edges``; all where they are so far apart that it takes long."""
    (top, left), (bottom, right) = places.min(axis=0), places.max(axis=0) + 1
    if (bottom - top) * (right - left) > MOST_AT_ONCE:
        return np.ones(len(places), bool)
    near = (edges[:, 0] < bottom) & (edges[:, 1] > top) & (edges[:, 2] < right) & (edges[:, 3] > left)
    corner = np.array([top, top, left, left, 0])
    within = np.clip(edges[near] - corner, 0, [bottom - top, bottom - top, right - left, right - left, 1])
    grid = grid_of(within, (int(bottom - top), int(right - left)))
    return grid[places[:, 0] - top, places[:, 1] - left] != NOTHING


def _edges_of(rectangles: tuple[Rectangle, ...]) -> Edges:
    """As rows of numbers, [n, 5]; raises ExperimentError for what are no whole numbers and flags."""
    if {*map(type, rectangles)} <= {Rectangle}:
        columns = list(zip(*rectangles, strict=True)) or [()] * 5
        kinds = [{*map(type, column)} for column in columns]
        with suppress(OverflowError):
            if set().union(*kinds[:4]) <= {int} and kinds[4] <= {bool}:
                return np.ascontiguousarray(np.array(columns, np.int64).T)
    _refuse(rectangles, next(at for at, each in enumerate(rectangles) if not _is_of_numbers(each)))


def _is_of_numbers(rectangle: Any) -> bool:
    if type(rectangle) is not Rectangle or type(rectangle.allowed) is not bool:
        return False
    return all(type(edge) is int and -(2**63) <= edge < 2**63 for edge in rectangle[:4])


def _refuse(rectangles: tuple[Rectangle, ...], at: int) -> NoReturn:
    expected = "a Rectangle of whole numbers, 0 <= top <= bottom and 0 <= left <= right, and whether it is allowed"
    found = rectangles[at]
    received = repr(tuple(found)) if isinstance(found, tuple) else type(found).__name__
    raise ExperimentError(f"painted rectangle {at + 1}", expected, received)


def _rectangles_of(edges: Edges) -> Iterator[Rectangle]:
    columns = edges.T.tolist()
    return map(Rectangle, *columns[:4], map(bool, columns[4]))


def _spans(places: list[int | None], start: int, stop: int) -> list[tuple[int, int]]:
    """Where ``places[start:stop]`` lie, neighbours put together."""
    spans: list[tuple[int, int]] = []
    for place in sorted(p for p in places[start:stop] if p is not None):
        if spans and spans[-1][1] == place:
            spans[-1] = (spans[-1][0], place + 1)
        else:
            spans.append((place, place + 1))
    return spans
