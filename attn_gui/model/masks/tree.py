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
        jumps, depth = _climbs(columns.key["parent"])
        place = i + columns.offset
        # a sequence with fewer keys than queries has no parents for the last of them
        inside = place < columns.n_k
        above = place * inside
        # key j is an ancestor if it is reached by going up as many steps as lie between the two
        steps = depth[above] - depth[j]
        lower = inside & (steps >= 0)
        steps = steps * lower
        for bit, up in enumerate(jumps):
            taken = ((steps >> bit) & 1) == 1
            above = up[above] * taken + above * ~taken
        return (lower & (above == j)) | (j == place) | (j < columns.offset)


def _climbs(parents: Any) -> tuple[list[Any], Any]:
    """The ancestors 1, 2, 4, 8, ... steps up, -1 above a root, and the depth of each token."""
    up, depth, jumps = parents, (parents >= 0) * 1, []
    while bool((up >= 0).any()):
        jumps.append(up)
        here = up >= 0
        depth = depth + depth[up * here] * here
        up = up[up * here] * here - ~here * 1
    return jumps, depth
