"""What a model or a notebook hands over without names: an array of weights or scores, or one of each layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from attn_gui.files.script.layers import Layer
from attn_gui.files.script.numbers import Array, as_array
from attn_gui.model.errors import ExperimentError
from attn_gui.model.given import widened

# cells looked at to tell weights from scores
LOOKED_AT = 1 << 20


def layers_in(what: Any, named: Layer) -> list[tuple[int, Layer]]:
    """The attention layers in ``what``, each with its number; ``named`` says what else is known of all of them.

    what: [[[layers,] batch,] heads,] n_q, n_k; or a tuple of one array a layer, as transformers' ``attentions``, in
    which a layer without weights is None; or an output of transformers that has ``attentions``. Numbers from 0 to 1 are
    weights, others scores. Raises ExperimentError.
    """
    found = getattr(what, "attentions", None)
    what = what if found is None else found
    if isinstance(what, tuple | list) and any(np.ndim(each) > 1 for each in what if each is not None):
        numbered = [(number, each) for number, each in enumerate(what) if each is not None]
    else:
        array = as_array(what, "array")
        if not 2 <= array.ndim <= 5:
            expected = "axes ([[[layers,] batch,] heads,] queries, keys)"
            raise ExperimentError("array", expected, f"shape {array.shape}")
        numbered = list(enumerate(array)) if array.ndim == 5 else [(0, array)]
    arrays: Sequence[tuple[int, Array]] = [(number, as_array(each, f"layer {number + 1}")) for number, each in numbered]
    if all(_are_weights(array) for _, array in arrays):
        return [(number, replace(named, weights=array)) for number, array in arrays]
    return [(number, replace(named, scores=array)) for number, array in arrays]


def _are_weights(array: Array) -> bool:
    rows = array.reshape(-1, array.shape[-1])
    some = widened(rows[:: max(1, rows.size // LOOKED_AT)])
    return bool(((some >= 0) & (some <= 1)).all())
