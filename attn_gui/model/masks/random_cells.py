"""Random: cells drawn by chance, the same for the same seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from attn_gui.model.masks.rule import Columns, MaskRule
from attn_gui.model.parts import flag, number, whole

_LOW_BITS = 2**31 - 1


@dataclass(frozen=True)
class RandomCells(MaskRule):
    """Each cell with probability ``share``, by a hash of its place and ``seed``; the query's own place always.

    The hash is made of whole numbers alone, so that every library and device draws the same cells. (BigBird's random
    attention, Zaheer et al. 2020, draws keys likewise.)
    """

    kind: ClassVar[str] = "random"
    title: ClassVar[str] = "Random"
    formula: ClassVar[str] = "chance(i, j, seed) < share"
    about: ClassVar[str] = "Each cell is open by chance; the same seed opens the same cells"
    usual: ClassVar[bool] = False
    share: float = number(0.5, "Share", least=0.0, most=1.0, hint="The part of all cells that is open")
    seed: int = whole(0, "Seed")
    own_place: bool = flag(True, "own place", hint="A query may always attend to its own place")

    def allowed(self, i: Any, j: Any, columns: Columns) -> Any:
        drawn = _mixed(_mixed(_mixed(self.seed) + i) + j) < int(self.share * (_LOW_BITS + 1))
        return drawn | (j == i + columns.offset) if self.own_place else drawn


def _mixed(state: Any) -> Any:
    """31 bits that each depend on all bits of ``state``; no product leaves 62 bits.

    (Shifts, and the multipliers of Wellons' "Prospecting for hash functions" 2018, in 31 bits.)
    """
    state = state & _LOW_BITS
    state = ((state ^ (state >> 15)) * 0x2C1B3C6D) & _LOW_BITS
    state = ((state ^ (state >> 12)) * 0x297A2D39) & _LOW_BITS
    return state ^ (state >> 15)
