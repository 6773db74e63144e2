"""What a model or a notebook hands over without names: an array of weights or scores, or one of each layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from attn_gui.files.script.layers import Layer
from attn_gui.files.script.numbers import Array, as_array
from attn_gui.files.tensors.peeking import peek
from attn_gui.model.errors import ExperimentError

# how far the sum of a row may be from 1, as after dropout
NEAR = 0.5


def layers_in(what: Any, named: Layer) -> list[tuple[int, Layer]]:
    """The attention layers in ``what``, each with its number; ``named`` says what else is known of all of them.

    what: [[[layers,] batch,] heads,] n_q, n_k; or a tuple of one array a layer, as transformers' ``attentions``, in
    which a layer without weights is None; or an output of transformers that has ``attentions``. Numbers from 0 to 1 are
    weights, and those up to 2 with zeros among them, as dropout leaves them; others are scores. Raises ExperimentError,
    also for numbers from 0 to 1 of which no row sums to about 1: they have to be handed over by name.
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
    """Whether all numbers lie in 0 to 1, but for NaN, or are like weights after dropout."""
    seen = peek(array)
    if seen is None or seen.low is None or seen.high is None:
        return False
    found = seen.like_weights or (seen.low >= 0 and seen.high <= 1 and not (seen.inf or seen.minus_inf))
    if found and seen.spans and (sums := seen.spans[-1]) is not None and (sums[0] > 1 + NEAR or sums[1] < 1 - NEAR):
        _refuse(array, *sums)
    return found


def _refuse(array: Array, least: float, most: float) -> NoReturn:
    expected = "weights, whose rows sum to 1, or scores; pass others by name, as weights=… or scores=…"
    sums = f"{least:g}" if least == most else f"{least:g} to {most:g}"
    raise ExperimentError("array", expected, f"shape {array.shape} of numbers from 0 to 1 whose rows sum to {sums}")
