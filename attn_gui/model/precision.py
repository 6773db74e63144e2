"""The precisions an experiment can be computed in."""

from __future__ import annotations

from enum import StrEnum

import numpy as np


class Precision(StrEnum):
    """Number formats of IEEE 754, and bfloat16 (the upper half of a float32)."""

    FLOAT64 = "float64"
    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"
    FLOAT16 = "float16"

    @property
    def eps(self) -> float:
        """The gap between 1 and the next larger number."""
        return _EPS[self]

    @property
    def bytes(self) -> int:
        """Bytes a number takes."""
        return {"float64": 8, "float32": 4}.get(self.value, 2)

    @property
    def numpy(self) -> type[np.floating]:
        """The numpy type that holds every value of this precision exactly (float32 for bfloat16)."""
        return _NUMPY[self]


_NUMPY: dict[Precision, type[np.floating]] = {
    Precision.FLOAT64: np.float64,
    Precision.FLOAT32: np.float32,
    Precision.BFLOAT16: np.float32,
    Precision.FLOAT16: np.float16,
}

_EPS = {
    Precision.FLOAT64: 2.0**-52,
    Precision.FLOAT32: 2.0**-23,
    Precision.BFLOAT16: 2.0**-7,
    Precision.FLOAT16: 2.0**-10,
}
