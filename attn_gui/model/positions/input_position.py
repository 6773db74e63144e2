"""InputPosition: nothing is added to the embeddings, or a vector for each position."""

from __future__ import annotations

from collections.abc import Sequence
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

    def reaching(self, last: int) -> InputPosition:
        """With a vector for every position up to ``last``, zeros where there was none."""
        return self

    def rearranged(self, order: Sequence[int | None]) -> InputPosition:
        """After dimensions moved: number k of a vector is now what was number ``order[k]``, or 0 (None)."""
        return self

    def check_fits(self, positions: NDArray[np.int64], width: int) -> None:
        """Raise ExperimentError where there is no vector for some position of a table so wide."""
