"""InputPosition: nothing is added to the embeddings, or a vector for each position."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from attn_gui.model.parts import Part
from attn_gui.model.table import Floats


@dataclass(frozen=True)
class InputPosition(Part, family="position"):
    """What is added to the embeddings before they are projected; here nothing."""

    kind: ClassVar[str] = "none"
    title: ClassVar[str] = "None"
    about: ClassVar[str] = "Embeddings are used as they stand"

    def vectors(self, positions: NDArray[np.int64], width: int) -> Floats:
        """The vector for each of ``positions``, [n, width], float64."""
        return np.zeros((len(positions), width))

    def check_fits(self, positions: NDArray[np.int64], width: int) -> None:
        """Raise ExperimentError where there is no vector for some position of a table so wide."""
