"""torch.nn.MultiheadAttention: what its state_dict and its arguments mean here.

Its matrices are the transposes of ours, Q, K and V stand one below the other in ``in_proj_weight``, and its bool masks
say where a query may not attend. Sizes below: E embed_dim, L queries, S keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attn_gui.model.biases import Bias
from attn_gui.model.biases.additive import Additive
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.mask_import import all_of, mask_of
from attn_gui.model.masks import Imported, Padding
from attn_gui.model.precision import Precision
from attn_gui.model.scoring import Scoring
from attn_gui.model.sources import AppendedKey, FromTokens
from attn_gui.model.table import Table, floats
from attn_gui.model.tokens import TokenSequence
from attn_gui.model.variant import Variant
from attn_gui.model.weights import Weights

State = Mapping[str, NDArray[Any]]

SEPARATE = ("q_proj_weight", "k_proj_weight", "v_proj_weight")
OUT = ("out_proj.weight", "out_proj.bias")
NAMES = ("in_proj_weight", *SEPARATE, "in_proj_bias", *OUT, "bias_k", "bias_v")


def experiment_from_mha(
    state: State,
    num_heads: int,
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    *,
    attn_mask: ArrayLike | None = None,
    key_padding_mask: ArrayLike | None = None,
    add_zero_attn: bool = False,
    tokens: Iterable[str] | None = None,
    key_tokens: Iterable[str] | None = None,
    precision: Precision = Precision.FLOAT32,
) -> Experiment:
    """What ``nn.MultiheadAttention`` computes of one sample, in evaluation mode.

    state: its state_dict as numpy arrays. query [L, E], key [S, kdim], value [S, vdim].
    attn_mask: [L, S] or [num_heads, L, S]; key_padding_mask: [S]; both as torch takes them, bool with True where a
    query may not attend, or numbers that are added to the scores (``is_causal`` is only a hint about the mask).
    add_zero_attn: a further key of zeros; the state does not tell. tokens, key_tokens: names; without key_tokens, a
    key equal to the query makes a self-attention.
    A query that may attend to nothing gets weights of 0 and the output bias; torch, asked for weights, gives NaN.
    Raises ExperimentError where names or shapes are not those of the module or do not fit together.
    """
    weights = weights_of_mha(state)
    embed_dim = weights.W_Q.width
    if num_heads < 1 or embed_dim % num_heads:
        raise ExperimentError("num_heads", f"a divisor of embed_dim, {embed_dim}", str(num_heads))
    X = _rows("query", query, len(weights.W_Q))
    keys = _rows("key", key, len(weights.W_K))
    values = _rows("value", value, len(weights.W_V))
    if len(values) != len(keys):
        raise ExperimentError("value", f"a row for each of {len(keys)} keys", f"{len(values)}")
    cross = key_tokens is not None or not np.array_equal(X, keys, equal_nan=True)
    shape = num_heads, len(X), len(keys)
    masked, added = _attn_mask(attn_mask, shape)
    padding, padding_added = _key_padding(key_padding_mask, shape)
    names = _numbered("q" if cross else "t", len(X)) if tokens is None else tuple(tokens)
    key_names = names if not cross else _numbered("k", len(keys)) if key_tokens is None else tuple(key_tokens)
    same = np.array_equal(keys, values, equal_nan=True)
    biases: tuple[Bias, ...] = tuple(bias for bias in (added, padding_added) if bias is not None)
    return Experiment(
        TokenSequence.of(names, X, pad=None if cross else padding),
        FromTokens(weights),
        Variant.MULTI_HEAD_CROSS if cross else Variant.MULTI_HEAD_SELF,
        num_heads,
        num_heads,
        TokenSequence.of(key_names, keys, pad=padding) if cross else None,
        None if same else TokenSequence.of(key_names, values),
        appended=appended_of_mha(state, add_zero_attn=add_zero_attn),
        rule=all_of([masked, None if padding is None else Padding()]),
        scoring=Scoring(biases=biases),
        precision=precision,
    )


def weights_of_mha(state: State) -> Weights:
    """The projections in the state_dict of an nn.MultiheadAttention; raises ExperimentError."""
    _check(state)
    if "in_proj_weight" in state:
        parts = np.split(floats(state["in_proj_weight"], "in_proj_weight"), 3)
    else:
        parts = [floats(state[name], name) for name in SEPARATE]
    arrays: dict[str, Any] = {f"W_{letter}": part.T for letter, part in zip("QKV", parts, strict=True)}
    if "in_proj_bias" in state:
        biases = np.split(floats(state["in_proj_bias"], "in_proj_bias"), 3)
        arrays |= {f"b_{letter}": bias for letter, bias in zip("QKV", biases, strict=True)}
    weight, bias = OUT
    return Weights.of(**arrays, W_O=floats(state[weight], weight).T, b_O=state.get(bias))


def appended_of_mha(state: State, *, add_zero_attn: bool = False) -> tuple[AppendedKey, ...]:
    """The keys after all tokens: bias_k and bias_v where the state has them (``add_bias_kv``), then that of zeros."""
    _check(state)
    appended = []
    if "bias_k" in state:
        K, V = (Table.of(np.reshape(state[name], (1, -1))) for name in ("bias_k", "bias_v"))
        appended.append(AppendedKey("bias", K, V))
    if add_zero_attn:
        zeros = Table.of(np.zeros((1, len(state["out_proj.weight"]))))
        appended.append(AppendedKey("zero", zeros, zeros))
    return tuple(appended)


def _check(state: State) -> None:
    """Raise ExperimentError unless names and shapes are those of an nn.MultiheadAttention."""
    _check_names(state)
    out = np.shape(state["out_proj.weight"])
    if len(out) != 2 or out[0] != out[1] or 0 in out:
        raise ExperimentError("out_proj.weight", "shape (embed_dim, embed_dim)", f"shape {out}")
    E = out[0]
    shapes: dict[str, tuple[int | str, ...]] = {
        "in_proj_weight": (3 * E, E),
        "q_proj_weight": (E, E),
        "k_proj_weight": (E, "kdim"),
        "v_proj_weight": (E, "vdim"),
        "in_proj_bias": (3 * E,),
        "out_proj.weight": out,
        "out_proj.bias": (E,),
        "bias_k": (1, 1, E),
        "bias_v": (1, 1, E),
    }
    for name, array in state.items():
        expected, received = shapes[name], np.shape(array)
        fits = len(expected) == len(received) and all(
            isinstance(size, str) or size == found for size, found in zip(expected, received, strict=True)
        )
        if not fits or 0 in received:
            sizes = ", ".join(map(str, expected))
            raise ExperimentError(name, f"shape ({sizes}{',' if len(expected) == 1 else ''})", f"shape {received}")


def _check_names(state: State) -> None:
    for name in state:
        if name not in NAMES:
            raise ExperimentError("state_dict", f"parameters of nn.MultiheadAttention ({', '.join(NAMES)})", repr(name))
    joint = [name for name in ("in_proj_weight",) if name in state]
    separate = [name for name in SEPARATE if name in state]
    if (len(joint), len(separate)) not in ((1, 0), (0, 3)):
        expected = f"in_proj_weight, or {', '.join(SEPARATE)}"
        raise ExperimentError("state_dict", expected, ", ".join(joint + separate) or "none of them")
    if "out_proj.weight" not in state:
        raise ExperimentError("state_dict", "out_proj.weight", "none")
    if ("bias_k" in state) != ("bias_v" in state):
        received = "bias_k" if "bias_k" in state else "bias_v"
        raise ExperimentError("state_dict", "bias_k and bias_v, or neither", f"{received} alone")


def _rows(name: str, array: ArrayLike, width: int) -> NDArray[np.float64]:
    rows = floats(array, name)
    if rows.ndim != 2 or rows.shape[1] != width or not len(rows):
        raise ExperimentError(name, f"shape (tokens, {width}), one sample without a batch axis", f"shape {rows.shape}")
    return rows


def _attn_mask(mask: ArrayLike | None, shape: tuple[int, int, int]) -> tuple[Imported | None, Additive | None]:
    """attn_mask for ``shape`` (heads, L, S), as mask and bias."""
    if mask is None:
        return None, None
    cells = np.asarray(mask)
    if cells.shape not in (shape, shape[1:]):
        raise ExperimentError("attn_mask", f"shape {shape[1:]} or {shape}", f"shape {cells.shape}")
    return mask_of(cells, "blocked" if cells.dtype.kind == "b" else "additive")


def _key_padding(
    mask: ArrayLike | None, shape: tuple[int, int, int]
) -> tuple[NDArray[np.bool_] | None, Additive | None]:
    """key_padding_mask for ``shape`` (heads, L, S), as the pad column [S] and a bias."""
    if mask is None:
        return None, None
    cells = np.asarray(mask)
    _, n_q, n_k = shape
    if cells.shape != (n_k,):
        raise ExperimentError("key_padding_mask", f"shape ({n_k},)", f"shape {cells.shape}")
    if cells.dtype.kind == "b":
        return cells, None
    masked, added = mask_of(cells[np.newaxis], "additive")
    columns = None if masked is None else ~masked.cells[0]
    return columns, None if added is None else Additive(np.broadcast_to(added.cells, (n_q, n_k)))


def _numbered(letter: str, count: int) -> tuple[str, ...]:
    return tuple(f"{letter}{index + 1}" for index in range(count))
