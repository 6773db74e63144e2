"""Tree: each token sees its ancestors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from attn_gui.model.columns import NO_PARENT
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

    def derived(self, key: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        first, after = _spans(key["parent"])
        return {"tree_first": first, "tree_after": after}

    def allowed(self, i: Any, j: Any, columns: Columns) -> Any:
        first, after = columns.key["tree_first"], columns.key["tree_after"]
        place = i + columns.offset
        # a sequence with fewer keys than queries has no parents for the last of them
        inside = place < columns.n_k
        turn = first[place * inside]
        below = inside & (first[j] <= turn) & (turn < after[j])
        return below | (j == place) | (j < columns.offset)


def _spans(parents: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each token's turn when the tree is walked depth first, and the turn after its last descendant's, both [n]."""
    children: dict[int, list[int]] = {}
    for token, parent in enumerate(parents.tolist()):
        children.setdefault(parent, []).append(token)
    first, after = np.zeros((2, len(parents)), np.int64)
    turn, waiting = 0, children.get(NO_PARENT, [])[::-1]
    while waiting:
        token = waiting.pop()
        if token < 0:
            after[~token] = turn
            continue
        first[token] = turn
        turn += 1
        waiting.append(~token)
        waiting += children.get(token, [])[::-1]
    return first, after
