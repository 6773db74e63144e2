"""What a trace answers to the asks of a view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from attn_gui.model.asks import ArrangedCellAsk, BlockAsk, StageAsk, SumAsk
from attn_gui.model.check.ask import CheckAnswer
from attn_gui.model.derivation import Derivation
from attn_gui.model.flow import Flow
from attn_gui.model.masks import Term
from attn_gui.model.picture import Picture
from attn_gui.model.statistics import HeadStatistics
from attn_gui.model.trace import Head
from attn_gui.model.vector import Vector

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Reading:
    """Where the weight of query ``i`` for key ``j`` comes from.

    q, k: [d_k]; products: q * k term by term. scale, raw, scaled, capped, bias, A: scalars, A before the mask; bias is
    0 where there is none. normaliser: its kind; sink: the head's sink, None where there is none. row_maximum: of the
    allowed scores of the row. N: the weight as it stands in the trace; each_head: the weights of every head at the
    cell, [heads]. because: of a masked cell the terms of the rule that mask it; none where it was painted so.
    exponential: exp(A - shift), 0 where masked; total: what a softmax divides it by, the sum of the row's exponentials
    with that of the sink and with the extra 1 of the softmax that has one; both NaN for other normalisers. shift: the
    largest score of the row where plain exponentials would leave the range of numbers, else 0.
    What there is not (q, k and dot products where the scores were given, all scores where the weights were) is empty
    or NaN. For the mean over heads (``head`` is "mean") only A, N and each_head mean anything and q, k, products are
    empty.
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
    capped: float
    bias: float
    A: float
    allowed: bool
    because: tuple[Term, ...]
    normaliser: str
    sink: float | None
    row_maximum: float
    shift: float
    exponential: float
    total: float
    N: float
    each_head: Array


@dataclass(frozen=True, eq=False)
class ArrangedCell:
    """The cell that ``ask`` asks for, of ``queries`` x ``keys`` tokens.

    value: of weights the sum over the keys, and of it the mean over the queries; of other stages the mean over the
    allowed cells. allowed: whether any of them is. hidden: what part of the queries' weights lies on ``hidden_keys``
    keys that are not drawn, 0 to 1; None where the weights are not known, or add up to nothing.
    """

    ask: ArrangedCellAsk
    queries: int
    keys: int
    value: float
    allowed: bool
    hidden_keys: int
    hidden: float | None


@dataclass(frozen=True, eq=False)
class Row:
    """One query's weights over all keys, [n_k], which of them the mask allows, and the sum of the row.

    Where some keys are not drawn, the sum is of all keys nevertheless, ``hidden_keys`` tells how many those are, and
    ``hidden`` what they add to it.
    """

    head: Head
    i: int
    N: Array
    allowed: Array
    total: float
    hidden_keys: int = 0
    hidden: float = 0.0


@dataclass(frozen=True, eq=False)
class StageValues:
    """A stage's array as it was asked for: [rows, columns]."""

    ask: StageAsk
    values: Array


@dataclass(frozen=True, eq=False)
class RowSums:
    """The sums of the rows of N, [n_q], added in float64.

    empty: rows whose every key is masked, [n_q] bool; their sum is 0. judged: whether all others should sum to 1, which
    not every scoring sees to, nor the mean over heads where a row is empty in some heads only. off: rows that should
    and whose sum departs from 1 by more than eps * (2 + log2 n_k), which rounding does not explain, [n_q] bool.
    hidden_keys: how many of the keys that are added up are not drawn.
    """

    head: Head
    sums: Array
    empty: Array
    judged: bool
    off: Array
    hidden_keys: int = 0


@dataclass(frozen=True, eq=False)
class Sum:
    """The sum over the queries and keys of ``ask`` that the experiment has, added in float64.

    cells: how many those are; masked: how many of them are masked, and so left out.
    """

    ask: SumAsk
    total: float
    cells: int
    masked: int


@dataclass(frozen=True, eq=False)
class Block:
    """Numbers of a window, and where the mask allows: [rows, columns] from ``rows`` and ``columns`` on.

    The window is the one asked for as far as the experiment has it.
    """

    ask: BlockAsk
    rows: tuple[int, int]
    columns: tuple[int, int]
    values: Array
    allowed: Array


@dataclass(frozen=True)
class NotYet:
    """The answer takes a pass over all rows, which is on its way."""


Answer = (
    Picture
    | StageValues
    | Block
    | ArrangedCell
    | Reading
    | Row
    | RowSums
    | Sum
    | HeadStatistics
    | Derivation
    | Flow
    | Vector
    | CheckAnswer
    | NotYet
    | None
)
