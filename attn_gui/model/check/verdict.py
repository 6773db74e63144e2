"""The three verdicts on a cell."""

from __future__ import annotations

from enum import IntEnum


class Verdict(IntEnum):
    """What is to be said of a cell. BLANK: it is not answered."""

    BLANK = 0
    RIGHT = 1
    CARRIED = 2
    WRONG = 3

    @property
    def sign(self) -> str:
        return _SIGNS[self]

    @property
    def word(self) -> str:
        return _WORDS[self]


_SIGNS = {Verdict.BLANK: "", Verdict.RIGHT: "✓", Verdict.CARRIED: "→", Verdict.WRONG: "✗"}
_WORDS = {
    Verdict.BLANK: "not answered",
    Verdict.RIGHT: "right",
    Verdict.CARRIED: "follows from your own earlier table",
    Verdict.WRONG: "wrong",
}
