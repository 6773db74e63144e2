"""Sinusoidal positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from attn_gui.model.parts import number
from attn_gui.model.positions.input_position import InputPosition
from attn_gui.model.table import Floats


@dataclass(frozen=True)
class Sinusoidal(InputPosition):
    """``sin(p / base**(2i/d))`` in even dimensions, the cosine in odd ones (Vaswani et al. 2017, section 3.5)."""

    kind: ClassVar[str] = "sinusoidal"
    title: ClassVar[str] = "Sinusoidal"
    formula: ClassVar[str] = "sin, cos(p / base^(2i/d))"
    about: ClassVar[str] = "Sines and cosines of the position, at a wavelength for each pair of dimensions"
    base: float = number(10000.0, "Base", least=1.0)

    def vectors(self, positions: NDArray[np.int64], width: int) -> Floats:
        pairs = np.arange(-(-width // 2))
        angles = positions[:, np.newaxis] / self.base ** (2 * pairs / width)  # [n, pairs]
        both = np.stack([np.sin(angles), np.cos(angles)], axis=-1)  # [n, pairs, 2]
        return both.reshape(len(positions), -1)[:, :width]
