"""Initial weights, repeatable from a seed."""

from __future__ import annotations

import numpy as np

from attn_gui.model.errors import ExperimentError
from attn_gui.model.table import Table
from attn_gui.model.weights import Weights

INITIALISERS = {
    "identity": "Identity",
    "linear": "PyTorch nn.Linear default",
    "normal": "Normal × 0.1",
    "xavier": "Xavier uniform",
}


def initial_matrix(kind: str, rows: int, columns: int, random: np.random.RandomState) -> Table:
    """A matrix [rows, columns] (d_in x d_out).

    identity: ones on the diagonal. linear: uniform within 1/sqrt(d_in), what nn.Linear's reset_parameters draws
    from. normal: standard normal times 0.1. xavier: uniform within sqrt(6 / (d_in + d_out)) (Glorot and Bengio 2010).
    """
    if kind == "identity":
        return Table.of(np.eye(rows, columns))
    if kind == "normal":
        return Table.of(random.standard_normal((rows, columns)) * 0.1)
    if kind not in INITIALISERS:
        raise ExperimentError("initialiser", " or ".join(INITIALISERS), repr(kind))
    bound = 1 / np.sqrt(rows) if kind == "linear" else np.sqrt(6 / (rows + columns))
    return Table.of(random.uniform(-bound, bound, (rows, columns)))


def initial_weights(
    kind: str,
    d_model: int,
    d_context: int,
    heads: int,
    *,
    seed: int = 0,
    multi_head: bool = True,
    kv_heads: int | None = None,
    d_k: int | None = None,
    d_v: int | None = None,
    d_values: int | None = None,
    biases: bool = False,
) -> Weights:
    """Weights drawn in the order W_Q, W_K, W_V, W_O, then the biases.

    d_k defaults to d_model / heads, d_v to d_k, and d_values, the width of what values come from, to d_context; W_O
    [heads * d_v, d_model] only if ``multi_head``. Biases are zeros, or drawn like their matrix's nn.Linear bias
    (uniform within 1/sqrt(d_in)) for ``linear``. The generator is numpy's RandomState, whose stream numpy promises
    never to change.
    """
    if d_k is None:
        if heads < 1 or d_model % heads:
            raise ExperimentError("heads", f"a divisor of d_model {d_model}", str(heads))
        d_k = d_model // heads
    d_v = d_k if d_v is None else d_v
    kv_heads = heads if kv_heads is None else kv_heads
    random = np.random.RandomState(seed)
    d_values = d_context if d_values is None else d_values
    shapes = {"Q": (d_model, heads * d_k), "K": (d_context, kv_heads * d_k), "V": (d_values, kv_heads * d_v)}
    if multi_head:
        shapes["O"] = (heads * d_v, d_model)
    tables: dict[str, Table] = {f"W_{s}": initial_matrix(kind, *shape, random) for s, shape in shapes.items()}
    if biases:
        for s, (rows, columns) in shapes.items():
            bound = 1 / np.sqrt(rows) if kind == "linear" else 0.0
            tables[f"b_{s}"] = Table.of(random.uniform(-bound, bound, (1, columns)))
    return Weights(**tables)
