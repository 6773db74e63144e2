"""Places: where the tokens of both columns lie, and what of them is in sight."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from attn_gui.model.flow import MOST_TOKENS

Side = Literal["query", "key"]

HEADER = 28
# pixels of a token where there is room, where all of them cannot be seen at once, and as far as one can zoom
ROW, WINDOW_ROW = 24.0, 4.0
LOWEST_ROW, HIGHEST_ROW = 0.5, 48.0
NUMBERS = 72
NARROWEST, WIDEST = 56, 144
# of the lines: farther apart, the columns would not be seen as belonging together
WIDEST_LINES = 1200
# of a line of weight 1, whatever the height of a token
THINNEST_ONE, THICKEST_ONE = 3.0, 12.0


@dataclass(frozen=True)
class Places:
    """Two columns of ``n_q`` queries and ``n_k`` keys in a width and a height in pixels.

    From the outside in: room for numbers, names, and the lines. pitch: pixels of a token; top_q, top_k: the first of
    each column in sight, in tokens; labels: pixels of the names.
    """

    n_q: int
    n_k: int
    width: float
    height: float
    pitch: float
    labels: float
    top_q: float = 0.0
    top_k: float = 0.0

    @property
    def rows(self) -> float:
        """Tokens that the height holds."""
        return max(1.0, (self.height - HEADER) / self.pitch)

    @property
    def margin(self) -> float:
        """Left and right of everything."""
        spare = self.width - 2 * (self.labels + NUMBERS) - WIDEST_LINES
        return max(0.0, math.floor(spare / 2))

    @property
    def left(self) -> float:
        """Where lines begin."""
        return self.margin + self.labels + NUMBERS

    @property
    def right(self) -> float:
        """Where lines end."""
        return max(self.left + 1, self.width - self.left)

    @property
    def one(self) -> float:
        """Pixels that a line of weight 1 is thick."""
        return max(THINNEST_ONE, min(self.pitch / 2, THICKEST_ONE))

    def top(self, side: Side) -> float:
        return self.top_q if side == "query" else self.top_k

    def count(self, side: Side) -> int:
        return self.n_q if side == "query" else self.n_k

    def y(self, side: Side, index: float) -> float:
        """The middle of a token."""
        return HEADER + (index + 0.5 - self.top(side)) * self.pitch

    def in_sight(self, side: Side) -> tuple[int, int]:
        """The tokens of a column that are in sight, be it in part: [start, stop)."""
        top, count = self.top(side), self.count(side)
        start = max(0, min(math.floor(top), count - 1))
        stop = min(count, max(start + 1, math.ceil(top + self.rows - 1e-9)))
        return start, min(stop, start + MOST_TOKENS)

    def token_at(self, x: float, y: float) -> tuple[Side, int] | None:
        """The token whose name or number is at a point."""
        side: Side = "query" if x <= self.width / 2 else "key"
        away = self.left - x if side == "query" else x - self.right
        index = math.floor(self.top(side) + (y - HEADER) / self.pitch)
        start, stop = self.in_sight(side)
        if away < 0 or away > self.labels + NUMBERS or y < HEADER or not start <= index < stop:
            return None
        return side, index


def least_pitch(height: float) -> float:
    """Pixels of a token where as many as can be are in sight."""
    return max(LOWEST_ROW, (height - HEADER) / MOST_TOKENS)


def whole_pitch(height: float, tokens: int) -> float | None:
    """Pixels of a token where all ``tokens`` are in sight; None where that cannot be."""
    pitch = (height - HEADER) / tokens
    return None if pitch < least_pitch(height) else min(ROW, pitch)
