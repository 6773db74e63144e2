"""Causal masks: no key after the query's own place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from attn_gui.model.masks.rule import Columns, MaskRule, within
from attn_gui.model.parts import choice

ALIGNMENTS = {"top-left": "from the first key", "bottom-right": "up to the last key"}


@dataclass(frozen=True)
class Causal(MaskRule):
    """Keys up to the query's own position.

    ``top-left``: j <= i, as PyTorch's is_causal; ``bottom-right``: j <= i + n_k - n_q, as in decoding with a cache.
    They are one where n_q = n_k.
    """

    kind: ClassVar[str] = "causal"
    title: ClassVar[str] = "Causal"
    formula: ClassVar[str] = "j ≤ i"
    about: ClassVar[str] = "A query may attend to itself and to what stands before it"
    alignment: str = choice("top-left", "Aligned", ALIGNMENTS)

    def _offset(self, columns: Columns) -> int:
        return columns.n_k - columns.n_q if self.alignment == "bottom-right" else 0

    def allowed(self, i: Any, j: Any, columns: Columns) -> Any:
        return j <= i + self._offset(columns)

    def key_range(self, first: int, last: int, columns: Columns) -> tuple[int, int]:
        return within(0, last + self._offset(columns) + 1, columns.n_k)

    def open_range(self, first: int, last: int, columns: Columns) -> tuple[int, int]:
        return within(0, first + self._offset(columns) + 1, columns.n_k)

    def expression(self) -> str:
        return "j <= i + n_k - n_q" if self.alignment == "bottom-right" else "j <= i"
