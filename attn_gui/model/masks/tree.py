"""Tree: each token sees its ancestors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from attn_gui.model.masks.rule import Columns, MaskRule


@dataclass(frozen=True)
class Tree(MaskRule):
    """A token's own place, its ancestors by the ``parent`` column, and the cache.

    (Speculative decoding over a tree of drafts: SpecInfer, Miao et al. 2023; Medusa, Cai et al. 2024.)
    """

    kind: ClassVar[str] = "tree"
    title: ClassVar[str] = "Tree"
    formula: ClassVar[str] = "j is i or an ancestor of i"
    about: ClassVar[str] = "A token may attend to itself, to its parent, to its parent's parent, and so on"
    usual: ClassVar[bool] = False
    columns: ClassVar[tuple[str, ...]] = ("parent",)

    def allowed(self, i: Any, j: Any, columns: Columns) -> Any:
        parents, last = columns.key["parent"], columns.n_k - 1
        above = i + columns.offset
        result = (j == above) | (j < columns.offset)
        # a sequence with fewer keys than queries has no parents for the last of them
        above = above * (above <= last) - (above > last) * 1
        while bool((above >= 0).any()):
            here = above >= 0
            # -1 for those that have arrived at a root
            above = parents[above * here] * here - ~here * 1
            result = result | ((j == above) & (above >= 0))
        return result
