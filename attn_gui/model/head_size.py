"""d_k and d_v: how many numbers each head compares, and how many it passes on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.qk_norm import QKNorm
from attn_gui.model.sources import AppendedKey, FromTokens, called
from attn_gui.model.table import Floats, Table

# beyond it one head's matrix alone would be wider than any model's
LARGEST = 4096


def with_head_size(experiment: Experiment, d_k: int | None = None, d_v: int | None = None) -> Experiment:
    """With heads of ``d_k`` numbers for queries and keys and ``d_v`` for values; None leaves a size as it is.

    In every head the numbers that still have a place stay; new columns of W_Q, W_K, W_V, of their biases and of
    appended keys, and new rows of W_O, are zero, so that growing changes no dot product and no output (the scale
    follows d_k). New gains of a QK-norm are one.
    """
    e = experiment
    if not isinstance(e.source, FromTokens):
        raise ExperimentError("head size", "tokens projected by weights", f"given {called(e.source)}, which have none")
    weights = e.source.weights
    d_k, d_v = e.d_k if d_k is None else d_k, e.d_v if d_v is None else d_v
    for name, size in (("d_k", d_k), ("d_v", d_v)):
        if not 1 <= size <= LARGEST:
            raise ExperimentError(name, f"1 to {LARGEST}", str(size))
    sizes = {"Q": (e.heads, d_k), "K": (e.kv_heads, d_k), "V": (e.kv_heads, d_v)}
    tables: dict[str, Table] = {}
    for letter, (heads, size) in sizes.items():
        for name in (f"W_{letter}", f"b_{letter}"):
            table = weights.get(name)
            if table is not None and table.width != heads * size:
                tables[name] = Table.of(_resized(table.array(), heads, size))
    if weights.W_O is not None and d_v != e.d_v:
        tables["W_O"] = Table.of(_resized(weights.W_O.array().T, e.heads, d_v).T)
    appended = tuple(
        AppendedKey(
            key.name,
            Table.of(_resized(key.K.array(), e.kv_heads, d_k)),
            Table.of(_resized(key.V.array(), e.kv_heads, d_v)),
        )
        for key in e.appended
    )
    scoring = replace(e.scoring, qk_norm=_with_gains(e.scoring.qk_norm, d_k))
    return replace(e, source=FromTokens(replace(weights, **tables)), appended=appended, scoring=scoring)


def _with_gains(norm: QKNorm | None, d_k: int) -> QKNorm | None:
    """``norm`` with gains for ``d_k`` dimensions."""
    if norm is None:
        return None
    gain_q, gain_k = (
        None if gain is None else np.concatenate([gain[:d_k], np.ones(max(0, d_k - len(gain)))])
        for gain in (norm.gain_q, norm.gain_k)
    )
    return replace(norm, gain_q=gain_q, gain_k=gain_k)


def _resized(array: Floats, heads: int, size: int) -> Floats:
    """``array`` [rows, heads * old size] with each head's part cut or filled up to ``size`` columns."""
    rows = len(array)
    parts = array.reshape(rows, heads, -1)
    kept = min(size, parts.shape[2])
    resized = np.zeros((rows, heads, size))
    resized[:, :, :kept] = parts[:, :, :kept]
    return resized.reshape(rows, heads * size)
