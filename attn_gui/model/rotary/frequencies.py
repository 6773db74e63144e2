"""Rotary positions by frequencies, with the ways to stretch them over longer sequences."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from attn_gui.model.parts import choice, number, whole
from attn_gui.model.rotary.rotary import Rotary
from attn_gui.model.table import Floats

# the square of MOST times it is still far from the end of float64
LARGEST_BASE = 1e15
MOST = 1e9
SCALINGS = {"none": "none", "linear": "linear", "ntk": "NTK", "yarn": "YaRN", "llama3": "Llama 3"}


@dataclass(frozen=True)
class Frequencies(Rotary):
    """Pair p of width w is turned by ``position * base**(-2p/w)`` (Su et al. 2021).

    scaling, by ``factor``: ``linear`` divides every frequency (Chen et al. 2023); ``ntk`` raises the base to
    ``base * factor**(w/(w-2))`` (NTK-aware scaling, bloc97 2023); ``yarn`` divides the slow frequencies and leaves the
    fast ones, by how often a pair turns in ``original_length`` positions (``slow``, ``fast``), and lengthens queries
    and keys by ``0.1 ln factor + 1`` (Peng et al. 2023); ``llama3`` likewise by wavelength, with a linear ramp between
    ``original_length / high`` and ``original_length / low`` (Llama 3.1).
    """

    kind: ClassVar[str] = "frequencies"
    title: ClassVar[str] = "Rotary"
    formula: ClassVar[str] = "θₚ = position · base^(−2p/w)"
    about: ClassVar[str] = "Queries and keys are turned by their positions: scores then depend on distance"
    base: float = number(10000.0, "Base", least=1.0, most=LARGEST_BASE)
    scaling: str = choice("none", "Scaling", SCALINGS)
    factor: float = number(8.0, "Factor", least=1.0, most=MOST, hint="How much longer sequences may get")
    original_length: int = whole(8192, "Trained length", least=1, hint="Positions the model was trained on")
    fast: float = number(
        32.0, "Fast", least=0.0, most=MOST, hint="YaRN: pairs that turn more often keep their frequency"
    )
    slow: float = number(
        1.0, "Slow", least=0.0, most=MOST, hint="YaRN: pairs that turn less often are divided by the factor"
    )
    high: float = number(
        4.0, "High", least=0.0, most=MOST, hint="Llama 3: wavelengths below trained length / high stay"
    )
    low: float = number(
        1.0, "Low", least=0.0, most=MOST, hint="Llama 3: wavelengths above trained length / low are stretched"
    )

    def tables(self, positions: NDArray[np.int64], d_k: int) -> tuple[Floats, Floats]:
        angles = (positions + self.offset)[:, np.newaxis] * self.frequencies(self.turned(d_k))
        return np.cos(angles) * self.lengthening, np.sin(angles) * self.lengthening

    @property
    def lengthening(self) -> float:
        """What queries and keys grow by."""
        return 0.1 * math.log(self.factor) + 1 if self.scaling == "yarn" else 1.0

    def frequencies(self, width: int) -> Floats:
        """Radians a position, for each pair of ``width`` dimensions: [width / 2]."""
        exponents = np.arange(0, width, 2) / width
        base = self.base
        if self.scaling == "ntk" and width > 2:
            base *= self.factor ** (width / (width - 2))
        plain = base**-exponents
        if self.scaling == "linear":
            return plain / self.factor
        if self.scaling == "yarn":
            kept = 1 - _ramp(np.arange(width // 2), *self._yarn_bounds(width))
            return plain / self.factor * (1 - kept) + plain * kept
        if self.scaling == "llama3":
            turns = self.original_length * plain / (2 * np.pi)
            kept = np.clip((turns - self.low) / max(self.high - self.low, 1e-9), 0.0, 1.0)
            return plain / self.factor * (1 - kept) + plain * kept
        return plain

    def _yarn_bounds(self, width: int) -> tuple[float, float]:
        """The pairs from which and up to which frequencies change over from kept to divided."""

        def pair(turns: float) -> float:
            ratio = self.original_length / (max(turns, 1e-9) * 2 * math.pi)
            return width * math.log(ratio) / (2 * math.log(max(self.base, 1 + 1e-9)))

        return max(math.floor(pair(self.fast)), 0), min(math.ceil(pair(self.slow)), width - 1)


def _ramp(pairs: NDArray[np.int64], first: float, last: float) -> Floats:
    return np.clip((pairs - first) / (last - first if last != first else 0.001), 0.0, 1.0)
