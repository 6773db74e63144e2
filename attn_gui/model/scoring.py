"""How a score becomes A: scale and softcap."""

from __future__ import annotations

import math
from dataclasses import dataclass

from attn_gui.model.errors import ExperimentError


@dataclass(frozen=True)
class Scoring:
    """``A = softcap * tanh(scale * raw / softcap)``, or ``scale * raw`` without a softcap.

    scale: None for 1/sqrt(d_k) (Vaswani et al. 2017); any finite number otherwise, 0 included.
    softcap: None, or a positive bound on the scores (Gemma 2).
    """

    scale: float | None = None
    softcap: float | None = None

    def __post_init__(self) -> None:
        if self.scale is not None and not math.isfinite(self.scale):
            raise ExperimentError("scale", "a finite number", str(self.scale))
        if self.softcap is not None and not (math.isfinite(self.softcap) and self.softcap > 0):
            raise ExperimentError("softcap", "a finite number above 0", str(self.softcap))

    def scale_for(self, d_k: int) -> float:
        """The number that raw scores are multiplied by, for heads of size ``d_k``."""
        return 1.0 / math.sqrt(d_k) if self.scale is None else self.scale
