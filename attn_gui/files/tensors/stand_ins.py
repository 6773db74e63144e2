"""Numbers that programs write into scores in place of -inf: -1e9, the lowest of a type, or -1e4 far below the rest."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from attn_gui.files.tensors.stored import Array
from attn_gui.model.mask_import import LOWEST

# e to the power of this is 0 in float64: what lies so far below has the weight 0, blocked or not
FAR = -750.0
# what stands for -inf is one number, or its double (two masks, added), but for this part of it that the scores add
ALIKE = 0.25


def floor_of(blocks: Iterable[Array]) -> float | None:
    """The highest of the numbers of scores that stand for -inf, so that what lies below does too; None for none.

    They are -1e9 and what lies below (of float16 its lowest number), and a number from FAR on, or its double, with the
    scores themselves added or without them, where there are others and all of those lie higher by FAR. blocks: the
    numbers, some at a time; what is not finite says nothing.
    """
    lowest = LOWEST
    far: list[Array] = []
    others, stands_in = np.inf, -np.inf
    for block in blocks:
        if block.dtype == np.float16:
            lowest = float(np.finfo(np.float16).min)
        wide = block.astype(np.float64 if block.dtype.itemsize == 8 else np.float32)
        finite = wide[np.isfinite(wide)]
        certain, unsure, rest = finite <= lowest, (finite > lowest) & (finite <= FAR), finite[finite > FAR]
        if certain.any():
            stands_in = max(stands_in, float(finite[certain].max()))
        if unsure.any():
            far.append(finite[unsure])
        if rest.size:
            others = min(others, float(rest.min()))
    if far and np.isfinite(others):
        highest = max(float(block.max()) for block in far)
        if highest - others <= FAR and all(_alike(block, highest) for block in far):
            stands_in = highest
    return stands_in if np.isfinite(stands_in) else None


def _alike(block: Array, one: float) -> bool:
    return bool(
        ((block >= (1 + ALIKE) * one) | ((block <= 2 * (1 - ALIKE) * one) & (block >= 2 * (1 + ALIKE) * one))).all()
    )
