"""Relative position buckets, as in T5."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from attn_gui.model.biases.bias import Bias
from attn_gui.model.errors import ExperimentError
from attn_gui.model.masks.rule import Columns
from attn_gui.model.parts import array, flag, whole
from attn_gui.model.table import Floats


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
    table: Floats = array("Table", (2,), hint="One row a bucket, one column a head")
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
        by_distance = self.table[self.buckets(np.arange(-reach, reach + 1))].T  # [heads, 2 * reach + 1]
        return columns.here(np.ascontiguousarray(by_distance))[columns.heads, j - i - columns.offset + reach]

    def buckets(self, distance: NDArray[np.int64]) -> NDArray[np.int64]:
        """The bucket of each distance ``j - i``."""
        count, first = len(self.table), np.zeros_like(distance)
        if self.bidirectional:
            count //= 2
            first = np.where(distance > 0, count, 0)
            apart = np.abs(distance)
        else:
            apart = np.maximum(-distance, 0)
        exact = count // 2
        ratio = np.log(np.maximum(apart, 1).astype(np.float32) / np.float32(exact)) / np.float32(
            np.log(self.max_distance / exact)
        )
        far = np.minimum(exact + (ratio * np.float32(count - exact)).astype(np.int64), count - 1)
        return first + np.where(apart < exact, apart, far)
