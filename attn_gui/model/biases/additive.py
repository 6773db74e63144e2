"""A bias given cell by cell: additive float masks, position_bias tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from attn_gui.model.biases.bias import Bias
from attn_gui.model.errors import ExperimentError
from attn_gui.model.masks.rule import Columns, taken
from attn_gui.model.parts import array
from attn_gui.model.table import Floats


@dataclass(frozen=True, eq=False)
class Additive(Bias):
    """``cells``, finite numbers: [n_q, n_k], or [heads, n_q, n_k]. (What is -inf in a float mask is a mask.)"""

    kind: ClassVar[str] = "additive"
    title: ClassVar[str] = "Additive"
    formula: ClassVar[str] = "Bᵢⱼ"
    about: ClassVar[str] = "A number for each cell"
    cells: Floats = array("Additive bias", (2, 3), counts=("query", "key"), hint="Added to the scores, cell by cell")

    def check(self) -> None:
        if not np.isfinite(self.cells).all():
            at = np.unravel_index(int(np.argmin(np.isfinite(self.cells))), self.cells.shape)
            place = ", ".join(str(int(k) + 1) for k in at)
            raise ExperimentError(f"bias additive cell {place}", "a finite number", str(self.cells[at]))

    def check_fits(self, n_q: int, n_k: int, heads: int) -> None:
        fitting = ((n_q, n_k), (heads, n_q, n_k))
        if self.cells.shape not in fitting:
            raise ExperimentError("bias additive cells", f"shape {fitting[0]} or {fitting[1]}", f"{self.cells.shape}")

    def values(self, i: Any, j: Any, columns: Columns, heads: int) -> Any:
        cells = columns.here(self.cells)
        return cells[columns.heads, i, j] if self.cells.ndim == 3 else cells[i, j]

    def rearranged(self, queries: Sequence[int | None], keys: Sequence[int | None]) -> Additive:
        return Additive(taken(taken(self.cells, queries, -2, 0.0), keys, -1, 0.0))
