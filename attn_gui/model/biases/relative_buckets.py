"""Relative position buckets, as in T5."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from attn_gui.model.biases.bias import Bias
from attn_gui.model.errors import ExperimentError
from attn_gui.model.masks.rule import Columns
from attn_gui.model.parts import array, flag, whole
from attn_gui.model.table import Floats

UNUSED = "unused"


@dataclass(frozen=True, eq=False)
class RelativeBuckets(Bias):
    """A learned number for each bucket of distances and each head (Raffel et al. 2020, section 2.1).

    table: [buckets, heads]. Half of the buckets are single distances, the others grow logarithmically up to
    ``max_distance``; beyond it all distances share the last. ``bidirectional``: half of all buckets for keys after
    the query (encoders); otherwise such keys share the bucket of distance 0 (decoders).
    """

    kind: ClassVar[str] = "relative_buckets"
    title: ClassVar[str] = "Relative buckets (T5)"
    formula: ClassVar[str] = "table[bucket(j − i), head]"
    about: ClassVar[str] = "A learned number for each range of distances"
    table: Floats = array(
        "T5 table", (2,), counts=("bucket", "head"), hint="Added to the scores, one row a range of distances"
    )
    max_distance: int = whole(128, "Farthest", least=2, hint="Beyond it all distances share a bucket")
    bidirectional: bool = flag(True, "both directions", hint="Buckets of their own for keys after the query")

    def check(self) -> None:
        count, field = len(self.table), "bias relative_buckets"
        least = 4 if self.bidirectional else 2
        if count < least or (self.bidirectional and count % 2):
            expected = f"{least} or more rows, one a bucket{', an even number' if self.bidirectional else ''}"
            raise ExperimentError(f"{field} table", expected, str(count))
        exact = count // (4 if self.bidirectional else 2)
        if self.max_distance <= exact:
            expected = f"more than the {exact} distances with buckets of their own"
            raise ExperimentError(f"{field} max_distance", expected, str(self.max_distance))

    def check_fits(self, n_q: int, n_k: int, heads: int) -> None:
        columns = self.table.shape[1]
        if columns != heads:
            raise ExperimentError("bias relative_buckets table", f"{heads} columns, one a head", str(columns))

    def values(self, i: Any, j: Any, columns: Columns, heads: int) -> Any:
        reach = columns.n_q + columns.n_k + columns.offset
        buckets = columns.here(_buckets(len(self.table), self.max_distance, self.bidirectional, reach))
        return columns.here(self.table)[buckets[j - i - columns.offset + reach], columns.heads]

    def buckets(self, distance: NDArray[np.int64]) -> NDArray[np.int64]:
        """The bucket of each distance ``j - i``."""
        return _bucket_of(distance, len(self.table), self.max_distance, self.bidirectional)

    def axis_names(self, counted: str) -> Sequence[str] | None:
        """The distances of each bucket: ``"0"``, ``"1 before"``, ``"8 to 11 before"``, ``"91 or more after"``."""
        if counted != "bucket":
            return None
        first, *farther = self._distances()
        before = [_side(each, "before") for each in farther]
        if not self.bidirectional:
            return [f"{first} or after", *before]
        # a key after the query is never at distance 0
        return [str(first), *before, UNUSED, *(_side(each, "after") for each in farther)]

    def _distances(self) -> list[str | None]:
        """The distances of each bucket of one direction; None where it has none."""
        count = len(self.table) // (2 if self.bidirectional else 1)
        # buckets grow with distance: where each begins is found by halving, for the farthest may be any number
        low, high = np.zeros(count, np.int64), np.full(count, self.max_distance, np.int64)
        while (low < high).any():
            middle = (low + high) // 2
            reached = self.buckets(-middle) >= np.arange(count)
            low, high = np.where(reached, low, middle + 1), np.where(reached, middle, high)
        names: list[str | None] = []
        for first, end in zip(low[:-1].tolist(), low[1:].tolist(), strict=True):
            names.append(None if end <= first else str(first) if end == first + 1 else f"{first} to {end - 1}")
        return [*names, f"{low[-1]} or more"]


# one array for all blocks of a matrix, because what is brought to a device stays there
@lru_cache(maxsize=8)
def _buckets(count: int, max_distance: int, bidirectional: bool, reach: int) -> NDArray[np.int64]:
    """The buckets of the distances from ``-reach`` to ``reach``, read-only."""
    buckets = _bucket_of(np.arange(-reach, reach + 1), count, max_distance, bidirectional)
    buckets.flags.writeable = False
    return buckets


def _bucket_of(distance: NDArray[np.int64], count: int, max_distance: int, bidirectional: bool) -> NDArray[np.int64]:
    """The bucket, of ``count``, of each distance ``j - i``."""
    first = np.zeros_like(distance)
    if bidirectional:
        count //= 2
        first = np.where(distance > 0, count, 0)
        apart = np.abs(distance)
    else:
        apart = np.maximum(-distance, 0)
    exact = count // 2
    # in float32, as the authors' code has it: a distance on a boundary falls as it does there
    ratio = np.log(np.maximum(apart, 1).astype(np.float32) / np.float32(exact)) / np.float32(
        np.log(max_distance / exact)
    )
    far = np.minimum(exact + (ratio * np.float32(count - exact)).astype(np.int64), count - 1)
    return first + np.where(apart < exact, apart, far)


def _side(distances: str | None, where: str) -> str:
    return UNUSED if distances is None else f"{distances} {where}"
