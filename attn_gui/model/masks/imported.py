"""Imported: a mask given cell by cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from attn_gui.model.errors import ExperimentError
from attn_gui.model.masks.rule import Columns, MaskRule, taken
from attn_gui.model.parts import array


@dataclass(frozen=True, eq=False)
class Imported(MaskRule):
    """``cells``, bool, True = may attend: [n_q, n_k], or [heads, n_q, n_k]."""

    kind: ClassVar[str] = "imported"
    title: ClassVar[str] = "Imported"
    about: ClassVar[str] = "A mask that was opened from a file, cell by cell"
    cells: NDArray[np.bool_] = array("Cells", (2, 3), flags=True)

    @property
    def per_head(self) -> bool:
        return self.cells.ndim == 3

    def allowed(self, i: Any, j: Any, columns: Columns) -> Any:
        cells = columns.here(self.cells)
        return cells[columns.heads, i, j] if self.per_head else cells[i, j]

    def check_fits(self, n_q: int, n_k: int, heads: int) -> None:
        fitting = ((n_q, n_k), (heads, n_q, n_k))
        if self.cells.shape not in fitting:
            raise ExperimentError("mask imported cells", f"shape {fitting[0]} or {fitting[1]}", f"{self.cells.shape}")

    def rearranged(self, queries: Sequence[int | None], keys: Sequence[int | None]) -> Imported:
        return Imported(taken(taken(self.cells, queries, -2, True), keys, -1, True))
