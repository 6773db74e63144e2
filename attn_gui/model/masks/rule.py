"""MaskRule: which keys a query may attend to, cell by cell.

A rule is written with operators on index arrays alone, so numpy and torch, on any device, run the same code.
``allowed(i, j, columns)`` is True where query i may attend to key j (the convention of SDPA and ONNX, the opposite
of nn.MultiheadAttention's bool masks).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from attn_gui.model.parts import Part


def _as_it_is(array: NDArray[Any]) -> Any:
    return array


@dataclass(frozen=True)
class Columns:
    """What a rule may look at besides the indices, in the array library and on the device of the caller.

    n_q, n_k: the numbers of queries and keys. offset: the position of query 0 among the keys, which is the length of
    the cache. key, query: per-token arrays by name, [n_k] and [n_q] (:mod:`attn_gui.model.columns`). heads: the heads
    asked about, an index or an array of indices that broadcasts before i and j. here: brings a numpy array to where
    the indices are.
    """

    n_q: int
    n_k: int
    offset: int = 0
    key: Mapping[str, Any] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)
    heads: Any = 0
    here: Callable[[NDArray[Any]], Any] = _as_it_is


@dataclass(frozen=True)
class MaskRule(Part, family="mask"):
    """Every key for every query; the rule that other rules narrow.

    columns: names of the per-token columns that the rule reads; per_head: whether it differs from head to head.
    usual: whether it is offered at once, and not under "More".
    """

    kind: ClassVar[str] = "none"
    title: ClassVar[str] = "None"
    about: ClassVar[str] = "Every query may attend to every key"
    columns: ClassVar[tuple[str, ...]] = ()
    usual: ClassVar[bool] = True

    @property
    def per_head(self) -> bool:
        return False

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of the per-token columns that it looks at."""
        return self.columns

    def allowed(self, i: Any, j: Any, columns: Columns) -> Any:
        """Whether query ``i`` may attend to key ``j``; integer arrays that broadcast, bool out."""
        return (i >= 0) & (j >= 0)

    def derived(self, key: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """More per-key arrays for ``columns.key``, worked out once from those that the rule reads."""
        return {}

    def key_range(self, first: int, last: int, columns: Columns) -> tuple[int, int]:
        """The keys [start, stop) outside of which queries ``first`` to ``last`` (inclusive) may attend to none."""
        return (0, columns.n_k)

    def open_range(self, first: int, last: int, columns: Columns) -> tuple[int, int]:
        """Keys [start, stop) that each of the queries ``first`` to ``last`` may attend to, in every head."""
        return (0, columns.n_k) if type(self) is MaskRule else (0, 0)

    def expression(self) -> str | None:
        """The rule as Python text over i, j, n_q, n_k, offset and per-token arrays (key_pad, query_segment, ...).

        It reads both i and j: [n_q, n_k]. For generated code; None where it is better written out cell by cell.
        """
        return None

    def check_fits(self, n_q: int, n_k: int, heads: int) -> None:
        """Raise ExperimentError where the rule cannot be one of ``heads`` matrices of n_q x n_k."""

    def rearranged(self, queries: Sequence[int | None], keys: Sequence[int | None]) -> MaskRule:
        """After tokens moved: place r of the queries now holds what was at ``queries[r]``, or something new (None)."""
        return self


def within(start: int, stop: int, n_k: int) -> tuple[int, int]:
    """The range brought within ``n_k`` keys."""
    start = min(max(0, start), n_k)
    return start, max(start, min(stop, n_k))


def taken(array: NDArray[Any], order: Sequence[int | None], axis: int, fill: Any) -> NDArray[Any]:
    """``array`` with its entries along ``axis`` in ``order``, and ``fill`` where that says None."""
    result = np.take(array, [0 if was is None else was for was in order], axis=axis)
    fresh = [place for place, was in enumerate(order) if was is None]
    if fresh:
        np.moveaxis(result, axis, 0)[fresh] = fill
    return result
