"""Cells of the mask set by hand, as sparse rectangles on top of a rule."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from attn_gui.model.errors import ExperimentError

# each takes time with every picture, and some microseconds to read
MAX_RECTANGLES = 100_000


class Rectangle(NamedTuple):
    """Queries [top, bottom) by keys [left, right), allowed or not."""

    top: int
    bottom: int
    left: int
    right: int
    allowed: bool

    def covers(self, other: Rectangle) -> bool:
        return (
            self.top <= other.top
            and other.bottom <= self.bottom
            and self.left <= other.left
            and other.right <= self.right
        )


@dataclass(frozen=True)
class Painted:
    """Rectangles in the order they were painted: a later one lies on top of an earlier one."""

    rectangles: tuple[Rectangle, ...] = ()

    def __post_init__(self) -> None:
        if len(self.rectangles) > MAX_RECTANGLES:
            raise ExperimentError("painted", f"at most {MAX_RECTANGLES:,} rectangles", f"{len(self.rectangles):,}")

    def __bool__(self) -> bool:
        return bool(self.rectangles)

    def with_cells(self, cells: Iterable[tuple[int, int]], allowed: bool) -> Painted:
        """With ``cells`` (query, key) set; runs of neighbours become one rectangle each."""
        fresh = _runs(sorted(set(cells)), allowed)
        kept = [old for old in self.rectangles if not any(new.covers(old) for new in fresh)]
        return Painted((*kept, *fresh))

    def at(self, i: int, j: int) -> bool | None:
        """What is painted at query ``i`` and key ``j``: True, False, or None for nothing."""
        for r in reversed(self.rectangles):
            if r.top <= i < r.bottom and r.left <= j < r.right:
                return r.allowed
        return None

    def apply(self, block: Any, top: int, left: int) -> None:
        """Paint onto ``block``, a bool array of numpy or torch whose first cell is query ``top``, key ``left``."""
        height, width = block.shape[-2:]
        for r in self.rectangles:
            rows = slice(max(0, r.top - top), max(0, min(height, r.bottom - top)))
            columns = slice(max(0, r.left - left), max(0, min(width, r.right - left)))
            block[..., rows, columns] = r.allowed

    def key_range(self, first: int, last: int) -> tuple[int, int] | None:
        """The keys [start, stop) that queries ``first`` to ``last`` (inclusive) were given by hand, if any."""
        given = [r for r in self.rectangles if r.allowed and r.top <= last and r.bottom > first]
        return (min(r.left for r in given), max(r.right for r in given)) if given else None

    def rearranged(self, queries: list[int | None], keys: list[int | None]) -> Painted:
        """After tokens moved: ``queries[i]`` is the new place of query i, or None where it is gone; keys likewise."""
        result: list[Rectangle] = []
        for r in self.rectangles:
            for top, bottom in _spans([queries[i] for i in range(r.top, min(r.bottom, len(queries)))]):
                for left, right in _spans([keys[j] for j in range(r.left, min(r.right, len(keys)))]):
                    result.append(Rectangle(top, bottom, left, right, r.allowed))
        return Painted(tuple(result))


def _spans(places: list[int | None]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for place in sorted(p for p in places if p is not None):
        if spans and spans[-1][1] == place:
            spans[-1] = (spans[-1][0], place + 1)
        else:
            spans.append((place, place + 1))
    return spans


def _runs(cells: list[tuple[int, int]], allowed: bool) -> list[Rectangle]:
    runs: list[Rectangle] = []
    for i, j in cells:
        if runs and runs[-1].top == i and runs[-1].right == j:
            runs[-1] = runs[-1]._replace(right=j + 1)
        else:
            runs.append(Rectangle(i, i + 1, j, j + 1, allowed))
    merged: list[Rectangle] = []
    lowest: dict[tuple[int, int], int] = {}  # of the rectangles with these sides
    for run in runs:
        sides = run.left, run.right
        above = lowest.get(sides)
        if above is not None and merged[above].bottom == run.top:
            merged[above] = merged[above]._replace(bottom=run.bottom)
        else:
            lowest[sides] = len(merged)
            merged.append(run)
    return merged
