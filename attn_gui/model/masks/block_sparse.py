"""Block-sparse: blocks of tokens that see the blocks near them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from attn_gui.model.masks.rule import Columns, MaskRule, within
from attn_gui.model.parts import whole


@dataclass(frozen=True)
class BlockSparse(MaskRule):
    """Keys in the query's own block of ``size`` and in ``neighbours`` blocks on either side (BigBird's local part)."""

    kind: ClassVar[str] = "block_sparse"
    title: ClassVar[str] = "Block-sparse"
    formula: ClassVar[str] = "|⌊i / B⌋ − ⌊j / B⌋| ≤ neighbours"
    about: ClassVar[str] = "The sequence is cut into blocks; a query may attend to its own and to the nearest"
    usual: ClassVar[bool] = False
    size: int = whole(2, "Block", least=1, hint="Tokens in a block")
    neighbours: int = whole(0, "Neighbours", hint="So many blocks on either side as well")

    def allowed(self, i: Any, j: Any, columns: Columns) -> Any:
        apart = (i + columns.offset) // self.size - j // self.size
        return (apart <= self.neighbours) & (apart >= -self.neighbours)

    def key_range(self, first: int, last: int, columns: Columns) -> tuple[int, int]:
        block, end = (first + columns.offset) // self.size, (last + columns.offset) // self.size
        start = (block - self.neighbours) * self.size
        return within(start, (end + self.neighbours + 1) * self.size, columns.n_k)

    def expression(self) -> str:
        return f"abs((i + offset) // {self.size} - j // {self.size}) <= {self.neighbours}"
