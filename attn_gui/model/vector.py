"""Vector: a row of a stage that is not square, or the part of it around a cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from attn_gui.model.trace import Head

# so many numbers at most
LONGEST = 5


@dataclass(frozen=True)
class VectorAsk:
    """Row ``row`` of ``stage`` around ``column``; ``head`` is not looked at for stages that are not per head."""

    stage: str
    head: Head
    row: int
    column: int


@dataclass(frozen=True, eq=False)
class Vector:
    """``values`` from column ``first`` on, of ``width`` in all; ``ask`` names the row and the column within bounds."""

    ask: VectorAsk
    first: int
    values: np.ndarray[Any, Any]
    width: int
