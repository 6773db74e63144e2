"""Checked: a table with a verdict on each cell, and what is likely to lie behind those that are wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attn_gui.model.check.table import GivenTable
from attn_gui.model.check.verdict import Verdict
from attn_gui.model.table import Floats

Verdicts = NDArray[np.uint8]


@dataclass(frozen=True)
class Cause:
    """What is likely to have gone wrong.

    name: of the slip ("scale_forgotten"). words: as said on screen. fits: how many of the answered cells are what
    comes out with it. own: the tables of one's own that it starts from, by name; none where it starts from the right
    numbers.
    """

    name: str
    words: str
    fits: int
    own: tuple[str, ...] = ()


@dataclass(frozen=True)
class Carried:
    """What cells follow from: tables of one's own by name, and whether those are right but rounded."""

    own: tuple[str, ...]
    rounded: bool


@dataclass(frozen=True, eq=False)
class Checked:
    """What is to be said of ``table``.

    name: the table in words. verdicts: of :class:`Verdict`, [rows, columns], uint8. differences: given - right,
    [rows, columns], NaN where there is none to be had. carried: None where no cell is carried forward. earlier: the
    tables of one's own that the stage depends on, by name. remarks: other facts worth knowing, a sentence each.
    fault: why the table could not be checked, or ""; then there are no verdicts.
    """

    table: GivenTable
    name: str
    verdicts: Verdicts
    differences: Floats
    cause: Cause | None = None
    carried: Carried | None = None
    earlier: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    fault: str = ""

    @classmethod
    def refused(cls, table: GivenTable, name: str, fault: str) -> Checked:
        return cls(table, name, np.zeros((0, 0), np.uint8), np.zeros((0, 0)), fault=fault)

    def count(self, verdict: Verdict) -> int:
        """How many cells have ``verdict``."""
        return int((self.verdicts == verdict).sum())

    @property
    def answered(self) -> int:
        """How many cells are answered."""
        return self.verdicts.size - self.count(Verdict.BLANK)

    @property
    def is_right(self) -> bool:
        """Whether every cell is answered and right."""
        return bool(self.verdicts.size) and self.count(Verdict.RIGHT) == self.verdicts.size

    @property
    def score(self) -> str:
        """``20 of 25 right``, of the cells that are answered."""
        return f"{self.count(Verdict.RIGHT):,} of {self.answered:,} right"

    @property
    def summary(self) -> str:
        """All there is to say of the table, in sentences."""
        if self.fault:
            return self.fault
        if not self.answered:
            return "Nothing is answered yet."
        blank = self.count(Verdict.BLANK)
        sentences = [self.score + (f", {blank:,} not answered." if blank else ".")]
        if self.carried is not None:
            sentences.append(self._of_carried(self.carried))
        if wrong := self.count(Verdict.WRONG):
            if self.carried is not None:
                sentences.append(f"{wrong:,} {'is' if wrong == 1 else 'are'} wrong.")
            sentences += self._of_wrong()
        return " ".join([*sentences, *self.remarks])

    def words_at(self, row: int, column: int) -> str:
        """What is to be said of one cell."""
        verdict = Verdict(int(self.verdicts[row, column]))
        if verdict is Verdict.CARRIED and self.carried is not None:
            rounded = ", which is rounded" if self.carried.rounded else ""
            return f"follows from your own {both(self.carried.own)}{rounded}{self._apart(row, column)}"
        return verdict.word + (self._apart(row, column) if verdict is Verdict.WRONG else "")

    def _apart(self, row: int, column: int) -> str:
        difference = float(self.differences[row, column])
        return (
            ""
            if not np.isfinite(difference)
            else f", {abs(difference):.3g} too {'large' if difference > 0 else 'small'}"
        )

    def _of_carried(self, carried: Carried) -> str:
        count = self.count(Verdict.CARRIED)
        which = "are" if len(carried.own) > 1 else "is"
        rounded = f", which {which} right but rounded" if carried.rounded else ""
        return f"{count:,} {'follows' if count == 1 else 'follow'} from your own {both(carried.own)}{rounded}."

    def _of_wrong(self) -> list[str]:
        cause, answered = self.cause, self.answered
        if cause is not None:
            fits = f"All {answered:,} fit" if cause.fits == answered else f"{cause.fits:,} of {answered:,} fit"
            if answered == 1:
                fits = "It fits"
            return [f"{fits} {cause.words}{f', from your own {both(cause.own)}' if cause.own else ''}."]
        wrong = self.count(Verdict.WRONG)
        if wrong == answered and self.earlier:
            right = "the right one" if len(self.earlier) == 1 else "the right ones"
            return [f"It follows neither from your own {both(self.earlier)} nor from {right}.", "No known cause fits."]
        return ["No known cause fits."]


def both(names: Sequence[str]) -> str:
    """``A``, ``A and N``, ``Q, K and V``."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
