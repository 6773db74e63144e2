"""Bias: a number for each head, query and key, added to the scores before the mask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from attn_gui.model.masks.rule import Columns
from attn_gui.model.parts import Part


@dataclass(frozen=True)
class Bias(Part, family="bias"):
    """What is added to the scores: ``A = capped + bias``.

    columns: names of the per-token columns that the bias reads.
    """

    columns: ClassVar[tuple[str, ...]] = ()

    def values(self, i: Any, j: Any, columns: Columns, heads: int) -> Any:
        """The bias of query ``i`` and key ``j`` in head ``columns.heads`` of ``heads``; numbers that broadcast.

        Operators on index arrays and look-ups in ``columns.here(array)`` alone, as mask rules are written.
        """
        raise NotImplementedError

    def check_fits(self, n_q: int, n_k: int, heads: int) -> None:
        """Raise ExperimentError where the bias cannot be one of ``heads`` matrices of n_q x n_k."""

    def rearranged(self, queries: Sequence[int | None], keys: Sequence[int | None]) -> Bias:
        """After tokens moved: place r of the queries now holds what was at ``queries[r]``, or something new (None)."""
        return self
