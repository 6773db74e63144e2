"""What a forward pass hands over of one attention layer, as experiments: one an item of the batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from attn_gui.files.script.numbers import Array, as_array
from attn_gui.files.script.shapes import AXES, mask_of_items, out_of_items, with_batch
from attn_gui.files.tensors.implied import mask_in_numbers, with_mask
from attn_gui.files.tensors.masking import are_flags
from attn_gui.model.biases.additive import Additive
from attn_gui.model.counted import counted
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.given import precision_of
from attn_gui.model.mask_import import mask_of
from attn_gui.model.masks import Causal, Imported, MaskRule
from attn_gui.model.scoring import Scoring

Names = Sequence[str] | Sequence[Sequence[str]]


@dataclass(frozen=True, eq=False)
class Layer:
    """One attention layer, as arrays or tensors.

    q [b, heads, n_q, d_k], k [b, kv_heads, n_k, d_k], v [b, kv_heads, n_k, d_v]; scores and weights
    [b, heads, n_q, n_k]; out [b, heads, n_q, d_v] or [b, n_q, heads * d_v]. Without the batch axis it is one item,
    without that of the heads one head. mask: whatever broadcasts to [b, heads, n_q, n_k], true (or 1) where a query may
    attend (0 and 1 in any type of number), or numbers that are added to the scores; or [b, n_k], which marks the keys
    that are no padding. Scores of -inf, or else zeros of weights that are a rule, are a mask without one. tokens,
    key_tokens: names, of all items or of each; ``tokens`` as many as the keys, with fewer queries, are the keys' and
    the last of them the queries'. scale: what scores are multiplied by, None for 1 / sqrt(d_k).
    """

    q: Any = None
    k: Any = None
    v: Any = None
    mask: Any = None
    out: Any = None
    scores: Any = None
    weights: Any = None
    tokens: Names | None = None
    key_tokens: Names | None = None
    scale: float | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing was handed over."""
        return all(getattr(self, field.name) is None for field in fields(self))


@dataclass(frozen=True, eq=False)
class Item:
    """One item of the batch. original: what it is to be compared with; out: [heads, n_q, d_v]; batch: None if alone."""

    experiment: Experiment
    original: Experiment | None
    out: Array | None
    batch: int | None


def items_of(layer: Layer) -> Iterator[Item]:
    """The experiments of ``layer``; raises ExperimentError naming the argument that does not fit."""
    arrays = {name: with_batch(name, getattr(layer, name)) for name in AXES if getattr(layer, name) is not None}
    _check_arguments(layer, arrays)
    sizes = {len(array) for array in arrays.values()}
    if len(sizes) > 1:
        each = ", ".join(f"{name} {len(array)}" for name, array in arrays.items())
        raise ExperimentError("batch", "as many items in every array", each)
    count = sizes.pop()
    main = next(arrays[name] for name in ("q", "scores", "weights") if name in arrays)
    keys = arrays["k"].shape[2] if "k" in arrays else main.shape[3]
    shape = (count, main.shape[1], main.shape[2], keys)
    for name in ("scores", "weights"):
        if name in arrays and arrays[name].shape != shape:
            raise ExperimentError(name, f"shape {shape} (batch, heads, queries, keys)", f"shape {arrays[name].shape}")
    mask = None if layer.mask is None else mask_of_items(as_array(layer.mask, "mask"), shape)
    out = None if layer.out is None else out_of_items(as_array(layer.out, "out"), shape, arrays.get("v"))
    for index in range(count):
        parts = {name: array[index] for name, array in arrays.items()}
        names = _names(layer, index, count, shape[2:])
        allowed = None if mask is None else mask[min(index, len(mask) - 1)]
        experiment = _experiment(parts, allowed, names, layer.scale)
        original = _original(parts, names)
        yield Item(experiment, original, None if out is None else out[index], index if count > 1 else None)


def _check_arguments(layer: Layer, arrays: dict[str, Array]) -> None:
    given = [name for name in ("q", "k", "v") if name in arrays]
    if not arrays:
        raise ExperimentError("arguments", "q, k and v, or scores, or weights", "none of them")
    if "q" in arrays or "k" in arrays:
        missing = [name for name in ("q", "k", "v") if name not in arrays]
        if missing:
            raise ExperimentError("arguments", "q, k and v together", f"{' and '.join(given)} without {missing[0]}")
    elif "scores" not in arrays and "weights" not in arrays:
        raise ExperimentError("arguments", "q and k, or scores, or weights besides v", " and ".join(arrays))
    acts = "q" in arrays or "scores" in arrays
    if layer.mask is not None and not acts:
        raise ExperimentError("mask", "none where weights were given, which no mask changes any more", "one")
    if layer.scale is not None and "q" not in arrays:
        raise ExperimentError("scale", "none without q and k", str(layer.scale))


def _names(layer: Layer, index: int, count: int, shape: tuple[int, ...]) -> dict[str, Sequence[str] | None]:
    tokens, keys = (_of_item(name, getattr(layer, name), index, count) for name in ("tokens", "key_tokens"))
    n_q, n_k = shape
    if tokens is not None and keys is None and n_q < n_k == len(tokens):
        keys, tokens = tokens, tokens[n_k - n_q :]
    for field, names, length in (("tokens", tokens, n_q), ("key_tokens", keys, n_k)):
        if names is not None and len(names) != length:
            raise ExperimentError(field, f"{length} names", str(len(names)))
    return {"tokens": tokens, "key_tokens": keys}


def _of_item(field: str, names: Names | None, index: int, count: int) -> list[str] | None:
    if names is None:
        return None
    if isinstance(names, str) or not isinstance(names, Sequence | np.ndarray):
        raise ExperimentError(field, "a list of names", "one text" if isinstance(names, str) else repr(names)[:60])
    if all(isinstance(name, str) for name in names):
        return [str(name) for name in names]
    others = [each for each in names if isinstance(each, str) or not isinstance(each, Sequence | np.ndarray)]
    if others:
        lists = "names as texts, in one list" + (f" or in one for each of {count} items" if count > 1 else "")
        what = next((each for each in others if not isinstance(each, str)), "")
        kind = "ids of tokens" if hasattr(what, "__index__") else "texts among lists" if what == "" else "others"
        raise ExperimentError(field, lists, f"{kind}: {repr(names)[:40]}")
    if len(names) != count:
        raise ExperimentError(field, f"a list for each of {counted(count, 'item')}", counted(len(names), "list"))
    return [str(name) for name in names[index]]


def _experiment(parts: dict[str, Array], mask: Array | None, names: dict[str, Any], scale: float | None) -> Experiment:
    fields: dict[str, Any] = dict(names)
    if mask is not None:
        rule, added = mask_of(mask, "allowed" if mask.dtype.kind in "iu" or are_flags(mask) else "additive")
        fields["rule"] = MaskRule() if rule is None else _named_rule(rule)
        fields["scoring"] = _scoring(scale, added)
    elif scale is not None:
        fields["scoring"] = _scoring(scale, None)
    if "q" in parts:
        fields["precision"] = precision_of(parts["q"].dtype)
        return _as_masked(Experiment.from_qkv(parts["q"], parts["k"], parts["v"], **fields), parts)
    if "scores" in parts:
        return _as_masked(Experiment.from_scores(parts["scores"], parts.get("v"), **fields), parts)
    return Experiment.from_weights(parts["weights"], parts.get("v"), **fields)


def _as_masked(e: Experiment, parts: dict[str, Array]) -> Experiment:
    """Under the mask, too, that is in the scores, or else in the weights."""
    found = mask_in_numbers(parts.get("scores"), parts.get("weights"), beside_queries="q" in parts)
    return e if found is None else with_mask(e, found)


def _named_rule(rule: Imported) -> MaskRule:
    """The causal mask by its name, so that it goes on where tokens are added."""
    cells = rule.cells
    causal = (
        cells.ndim == 2 and cells.shape[0] == cells.shape[1] and np.array_equal(cells, np.tri(len(cells), dtype=bool))
    )
    return Causal() if causal else rule


def _scoring(scale: float | None, added: Additive | None) -> Scoring:
    return Scoring(scale=None if scale is None else _scale(scale), biases=() if added is None else (added,))


def _scale(scale: Any) -> float:
    """``scale`` as a number of Python, from any library that has some; raises ExperimentError."""
    try:
        if isinstance(scale, str | bytes | bool):
            raise TypeError
        return float(scale)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise ExperimentError("scale", "a number", repr(scale)[:60]) from error


def _original(parts: dict[str, Array], names: dict[str, Any]) -> Experiment | None:
    """The weights, or else the scores, that were handed over besides what they come from."""
    if "weights" in parts and ("q" in parts or "scores" in parts):
        return Experiment.from_weights(parts["weights"], parts.get("v"), **names)
    if "scores" in parts and "q" in parts:
        return _as_masked(Experiment.from_scores(parts["scores"], parts.get("v"), **names), parts)
    return None
