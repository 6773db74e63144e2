"""Random: cells drawn by chance, the same for the same seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from attn_gui.model.masks.rule import Columns, MaskRule
from attn_gui.model.parts import flag, number, whole

_MODULUS = 2**31 - 1


@dataclass(frozen=True)
class RandomCells(MaskRule):
    """Each cell with probability ``share``, by a hash of its place and ``seed``; the query's own place always.

    The hash is three rounds of a Lehmer-like step modulo 2**31 - 1, whole numbers alone, so that every library and
    device draws the same cells. (BigBird's random attention, Zaheer et al. 2020, draws keys likewise.)
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
        state = (i * 48271 + j * 16807 + self.seed % _MODULUS + 1) % _MODULUS
        for factor, step in ((69621, 7919), (39373, 104729), (742938285, 1299709)):
            state = (state * factor + (state // 65536) + step) % _MODULUS
        drawn = state < int(self.share * _MODULUS)
        return drawn | (j == i + columns.offset) if self.own_place else drawn
