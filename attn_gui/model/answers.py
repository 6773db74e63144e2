"""What a trace answers to the asks of a view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from attn_gui.model.asks import StageAsk
from attn_gui.model.picture import Picture
from attn_gui.model.trace import Head

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Reading:
    """Where the weight of query ``i`` for key ``j`` comes from.

    q, k: [d_k]; products: q * k term by term. scale, raw, scaled, A: scalars, A before the mask. row_maximum: of the
    allowed scores of the row; exponential: exp(A - row_maximum), 0 where masked; total: the sum of the row's
    exponentials; N: the weight as it stands in the trace. For the mean over heads (``head`` is "mean") only A and N
    mean anything and q, k, products are empty.
    """

    head: Head
    i: int
    j: int
    q: Array
    k: Array
    products: Array
    scale: float
    raw: float
    scaled: float
    A: float
    allowed: bool
    row_maximum: float
    exponential: float
    total: float
    N: float


@dataclass(frozen=True, eq=False)
class Row:
    """One query's weights over all keys, [n_k], which of them the mask allows, and the sum of the row."""

    head: Head
    i: int
    N: Array
    allowed: Array
    total: float


@dataclass(frozen=True, eq=False)
class StageValues:
    """A stage's array as it was asked for: [rows, columns]."""

    ask: StageAsk
    values: Array


Answer = Picture | StageValues | Reading | Row | None
