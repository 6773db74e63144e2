"""Work in short steps that is a part of a longer one."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

Result = TypeVar("Result")


def part_of(steps: Generator[float, None, Result], start: float, size: float) -> Generator[float, None, Result]:
    """``steps``, which yield the part done, as a part of a work that they are ``size`` of, from ``start`` on."""
    while True:
        try:
            part = next(steps)
        except StopIteration as finished:
            result: Result = finished.value
            return result
        yield start + size * part
