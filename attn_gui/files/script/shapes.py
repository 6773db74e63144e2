"""The axes of what is handed over: batch, heads, queries or keys, and the last."""

from __future__ import annotations

from typing import Any

import numpy as np

from attn_gui.files.script.numbers import Array, as_array
from attn_gui.model.errors import ExperimentError
from attn_gui.model.given import BFLOAT16

# by name: what it is, and its axes after those of batch and heads
AXES = {
    "q": ("queries", "size"),
    "k": ("keys", "size"),
    "v": ("keys", "size"),
    "scores": ("queries", "keys"),
    "weights": ("queries", "keys"),
}


def with_batch(name: str, value: Any) -> Array:
    """The array called ``name`` with all four axes; raises ExperimentError."""
    array = as_array(value, name)
    axes = AXES[name]
    if array.ndim not in (2, 3, 4) or 0 in array.shape:
        raise ExperimentError(
            name, f"axes ([[batch,] heads,] {axes[0]}, {axes[1]}), none empty", f"shape {array.shape}"
        )
    while array.ndim < 4:
        array = array[np.newaxis]
    return array


def out_of_items(out: Array, shape: tuple[int, int, int, int], values: Array | None) -> Array:
    """What each head gathered, [b, heads, n_q, d_v]."""
    if values is None:
        raise ExperimentError("out", "none without v", f"shape {out.shape}")
    count, heads, n_q, _ = shape
    d_v = values.shape[-1]
    lead = () if count == 1 and out.ndim < 4 else (count,)
    if out.shape in ((*lead, n_q, heads * d_v), (count, n_q, heads * d_v)):
        return out.reshape(count, n_q, heads, d_v).transpose(0, 2, 1, 3)
    if out.shape not in ((*lead, heads, n_q, d_v), (count, heads, n_q, d_v)):
        expected = f"shape {(count, heads, n_q, d_v)}, what each head gathered, or {(count, n_q, heads * d_v)}"
        raise ExperimentError("out", expected, f"shape {out.shape}")
    return out.reshape(count, heads, n_q, d_v)


def mask_of_items(mask: Array, shape: tuple[int, int, int, int]) -> Array:
    """``mask`` by item: [b or 1, heads or 1, n_q, n_k]."""
    count, _, n_q, n_k = shape
    if mask.ndim == 2 and mask.shape == (count, n_k) != (n_q, n_k):
        mask = mask[:, np.newaxis, np.newaxis, :]
    while mask.ndim < 4:
        mask = mask[np.newaxis]
    fits = mask.ndim == 4 and all(size in (1, full) for size, full in zip(mask.shape, shape, strict=True))
    if not fits:
        raise ExperimentError(
            "mask", f"a shape that broadcasts to (batch, heads, queries, keys) = {shape}", str(mask.shape)
        )
    if mask.dtype == BFLOAT16:
        mask = mask.astype(np.float32)
    return np.broadcast_to(mask, (*mask.shape[:2], n_q, n_k))
