"""Lit: a part of a stage that is pointed out, as what a number comes from or as the number itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Lit:
    """Row ``row`` and column ``column`` of ``stage``, of one head where it is per head; None stands for all of them.

    result: whether it is the number in question, and not one that it comes from.
    """

    stage: str
    row: int | None = None
    column: int | None = None
    result: bool = False

    def covers(self, row: int, column: int) -> bool:
        """Whether a cell belongs to it."""
        return self.row in (None, row) and self.column in (None, column)
