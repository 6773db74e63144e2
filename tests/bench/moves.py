"""A tour over a map: zooms and pans in a fixed order, the same for us and for the peer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, islice

# a notch of the wheel
FACTOR = 1.25
PLACES = ((0.3, 0.6), (0.7, 0.2), (0.5, 0.5), (0.1, 0.9), (0.8, 0.8))
# from all of 32,768 tokens down to cells, with pans on the way, and back
ROUND = "10 zooms in, 15 pans, 10 zooms in, 15 pans, 9 zooms in, 12 pans, 29 zooms out"


@dataclass(frozen=True)
class Zoom:
    """Make everything ``factor`` times as large round a point, given in parts of the width and the height."""

    factor: float
    x: float
    y: float


@dataclass(frozen=True)
class Pan:
    """Move what is in sight by pixels, as a drag does."""

    x: float
    y: float


Move = Zoom | Pan


def tour(steps: int) -> list[Move]:
    """The first ``steps`` moves."""
    return list(islice(_moves(), steps))


def _moves() -> Iterator[Move]:
    for place in cycle(PLACES):
        for words in ROUND.split(", "):
            count, *kind = words.split()
            for step in range(int(count)):
                if kind == ["pans"]:
                    yield Pan(-13.0 - step, 9.0 if step % 5 else -31.0)
                else:
                    yield Zoom(FACTOR if kind == ["zooms", "in"] else 1 / FACTOR, *place)
