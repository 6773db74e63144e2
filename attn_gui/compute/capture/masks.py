"""Masks as rules: what a model's flags say, in the words of the program."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_gui.model.mask_import import all_of
from attn_gui.model.masks import Causal, Columns, Imported, MaskRule, Padding, SlidingWindow

Flags = NDArray[np.bool_]


def rule_of(allowed: Flags | None, pad: Flags) -> MaskRule:
    """The rule that allows exactly the cells of ``allowed``, [n_q, n_k] or [heads, n_q, n_k]; None allows all.

    pad: which keys are padding, [n_k]. No mask, causal and sliding windows to one or both sides are found, each alone
    or with padding; any other mask is kept cell by cell. transformers' ``sliding_window`` of W keys is a window of the
    W - 1 previous keys and the query's own.
    """
    if allowed is None or allowed.all():
        return MaskRule()
    if allowed.ndim == 3 and (allowed == allowed[0]).all():
        allowed = allowed[0]
    if allowed.ndim == 3:
        return Imported(allowed)
    n_q, n_k = allowed.shape
    i, j = np.arange(n_q)[:, np.newaxis], np.arange(n_k)[np.newaxis, :]
    columns = Columns(n_q, n_k, key={"pad": pad})
    padding = Padding() if pad.any() and not allowed[:, pad].any() else None
    for rule in _candidates(allowed[:, ~pad] if padding else allowed, i, j[:, ~pad] if padding else j):
        cells: Any = rule.allowed(i, j, columns)
        if np.array_equal(cells if padding is None else cells & ~pad, allowed):
            return all_of([rule, padding])
    return Imported(allowed)


def _candidates(allowed: Flags, i: NDArray[np.int64], j: NDArray[np.int64]) -> list[MaskRule]:
    """Rules that would leave the farthest allowed cells where they are; j [1, keys looked at]."""
    back = (i - j)[allowed]
    if not back.size:
        return []
    rules: list[MaskRule] = [MaskRule(), Causal()]
    if (window := int(back.max())) >= 1:
        rules += [SlidingWindow(window), SlidingWindow(window, two_sided=True)]
    return rules
