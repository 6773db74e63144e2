"""Rotary positions by tables of cosines and sines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from attn_gui.model.errors import ExperimentError
from attn_gui.model.parts import array
from attn_gui.model.rotary.rotary import Rotary
from attn_gui.model.table import Floats

COUNTS = ("position", "pair")


@dataclass(frozen=True, eq=False)
class ImportedRotary(Rotary):
    """``cos`` and ``sin``, [positions, width / 2]: one row a position, one column a pair of dimensions."""

    kind: ClassVar[str] = "imported"
    title: ClassVar[str] = "Rotary, given cos and sin"
    about: ClassVar[str] = "Cosines and sines that were opened from a file"
    cos: Floats = array("Rotary cos", (2,), counts=COUNTS, optional=True, hint="cos θ, one row a position")
    sin: Floats = array("Rotary sin", (2,), counts=COUNTS, optional=True, hint="sin θ, one row a position")

    def check(self) -> None:
        if self.cos is None or self.sin is None:
            raise ExperimentError("rotary imported", "cos and sin", "none")
        if self.cos.shape != self.sin.shape:
            raise ExperimentError("rotary imported sin", f"the shape of cos, {self.cos.shape}", f"{self.sin.shape}")

    @classmethod
    def can_start(cls) -> bool:
        return False

    def turned(self, d_k: int) -> int:
        return 2 * int(self.cos.shape[1])

    def check_fits(self, positions: NDArray[np.int64], d_k: int) -> None:
        rows, pairs = self.cos.shape
        if 2 * pairs > d_k:
            expected = f"a column for each pair of a head's {d_k} dimensions, at most {d_k // 2}"
            raise ExperimentError("rotary imported cos", expected, str(pairs))
        at = positions + self.offset
        if len(at) and (at.min() < 0 or at.max() >= rows):
            worst = at.min() if at.min() < 0 else at.max()
            raise ExperimentError("rotary imported cos", f"a row for position {worst}", f"rows for 0 to {rows - 1}")

    def tables(self, positions: NDArray[np.int64], d_k: int) -> tuple[Floats, Floats]:
        at = positions + self.offset
        return self.cos[at], self.sin[at]
