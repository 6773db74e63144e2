"""Answers about matrices that are drawn without some tokens, or with the pieces of a word in one row and column.

Made of the matrices of the trace, which they leave as they are.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Generator
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from attn_gui.compute.merging import merged
from attn_gui.compute.one_stage import OneStage
from attn_gui.compute.picked import read_sum
from attn_gui.compute.picture import picture
from attn_gui.compute.pooling import pool
from attn_gui.compute.reading import read_block, read_row_sums
from attn_gui.compute.whole import WholeMatrix
from attn_gui.model.answers import Answer, ArrangedCell, Row, RowSums
from attn_gui.model.arranging import PLAIN, Arranged, Arrangement
from attn_gui.model.asks import ArrangedCellAsk, BlockAsk, PictureAsk, RowAsk, RowSumsAsk, SumAsk
from attn_gui.model.errors import HiddenStage
from attn_gui.model.trace import Head, Pooling, Trace

Array = NDArray[Any]
ArrangedAsk = PictureAsk | BlockAsk | RowAsk | RowSumsAsk | SumAsk | ArrangedCellAsk

# worked out at a time, so that other jobs are served in between
STEP_CELLS = 1 << 20
# bytes of the matrices of one trace that are kept to be drawn again
KEPT_BYTES = 1 << 27


class ArrangedMatrix(WholeMatrix):
    """``values`` and ``allowed``, [m_q, m_k]: a stage as it is drawn."""

    def __init__(self, values: Array, allowed: NDArray[np.bool_]) -> None:
        self._values = values
        self._allowed = allowed
        self._extents: dict[int, tuple[float, float]] = {}

    @property
    def shape(self) -> tuple[int, int]:
        return self._values.shape[0], self._values.shape[1]

    @property
    def nbytes(self) -> int:
        return self._values.nbytes + self._allowed.nbytes

    def block(self, rows: slice, columns: slice) -> Array:
        return self._values[rows, columns]

    def allowed(self, rows: slice, columns: slice) -> NDArray[np.bool_]:
        return self._allowed[rows, columns]

    def pooled(
        self, rows: slice, columns: slice, out: tuple[int, int], how: Pooling
    ) -> tuple[Array, NDArray[np.bool_]]:
        return pool(self._values[rows, columns], self._allowed[rows, columns], out, how)

    def extent(self, first_key: int = 0) -> tuple[float, float]:
        if first_key not in self._extents:
            values = self._values[:, first_key:]
            usable = values[self._allowed[:, first_key:] & np.isfinite(values)]
            self._extents[first_key] = (float(usable.min()), float(usable.max())) if usable.size else (0.0, 0.0)
        return self._extents[first_key]

    def row_tops(self, rows: slice) -> Array:
        values = self._values[rows]
        usable = self._allowed[rows] & np.isfinite(values)
        return np.where(usable, values, -np.inf).max(axis=1, initial=-np.inf)


_kept: WeakKeyDictionary[Trace, OrderedDict[tuple[Arrangement, str, Head], ArrangedMatrix]] = WeakKeyDictionary()


def arranged_answer(trace: Trace, ask: ArrangedAsk, head: Head, found: Arranged) -> Generator[float, None, Answer]:
    """The answer to ``ask`` where it is drawn as ``found``, in short steps: yields the part done, 0 to 1."""
    if isinstance(ask, RowSumsAsk):
        return _row_sums(read_row_sums(trace, head), found)
    if isinstance(ask, ArrangedCellAsk):
        return _cell(trace, ask, head, found)
    if isinstance(ask, RowAsk):
        return _row(trace, ask, head, found)
    matrix = yield from arranged_matrix(trace, ask.stage, head, found)
    drawn = OneStage(found.frame, trace.device, matrix)
    if isinstance(ask, PictureAsk):
        return picture(drawn, ask.request(found.frame))
    if isinstance(ask, BlockAsk):
        return read_block(drawn, replace(ask, arranged=PLAIN), head)
    return read_sum(drawn, replace(ask, arranged=PLAIN), head)


def arranged_matrix(trace: Trace, stage: str, head: Head, found: Arranged) -> Generator[float, None, ArrangedMatrix]:
    """``stage`` as ``found`` draws it, worked out whole in short steps unless it was before."""
    matrix = trace.matrix(stage, head)
    kept, key = _kept.setdefault(trace, OrderedDict()), (found.arrangement, stage, head)
    if key in kept:
        kept.move_to_end(key)
        return kept[key]
    queries, keys = found.queries, found.keys
    shape, every = (len(queries.names), len(keys.names)), slice(0, matrix.shape[1])
    values: Array | None = None
    allowed = np.empty(shape, bool)
    step = max(1, STEP_CELLS // matrix.shape[1])
    for first in range(0, shape[0], step):
        rows = slice(first, min(first + step, shape[0]))
        starts, stops = queries.starts[rows], queries.stops[rows]
        window = slice(int(starts[0]), int(stops[-1]))
        block = matrix.block(window, every)
        if values is None:
            # sums and means of half precision are no numbers of half precision
            values = np.empty(shape, np.promote_types(block.dtype, np.float32) if found.merges else block.dtype)
        values[rows], allowed[rows] = merged(
            block,
            matrix.allowed(window, every),
            (starts - window.start, stops - window.start),
            (keys.starts, keys.stops),
            sums=stage == "N",
        )
        yield rows.stop / shape[0]
    assert values is not None, "there is a row"
    made = kept[key] = ArrangedMatrix(values, allowed)
    while len(kept) > 1 and sum(each.nbytes for each in kept.values()) > KEPT_BYTES:
        kept.popitem(last=False)
    return made


def _row_sums(whole: RowSums, found: Arranged) -> RowSums:
    """Of each row that is drawn the mean over its queries, of all keys, whether they are drawn or not."""
    starts, counts = found.queries.starts, found.queries.counts
    rows = np.repeat(starts - np.append(0, np.cumsum(counts)[:-1]), counts) + np.arange(counts.sum())
    edges = np.append(0, np.cumsum(counts)[:-1])
    return RowSums(
        whole.head,
        np.add.reduceat(whole.sums[rows], edges) / counts,
        np.logical_and.reduceat(whole.empty[rows], edges),
        whole.judged,
        np.logical_or.reduceat(whole.off[rows], edges),
        int(found.keys.hidden.sum()),
    )


def _cell(trace: Trace, ask: ArrangedCellAsk, head: Head, found: Arranged) -> ArrangedCell:
    queries, keys = found.queries, found.keys
    i, j = min(ask.i, len(queries.names) - 1), min(ask.j, len(keys.names) - 1)
    rows = slice(int(queries.starts[i]), int(queries.stops[i]))
    columns = slice(int(keys.starts[j]), int(keys.stops[j]))
    counts = rows.stop - rows.start, columns.stop - columns.start
    matrix = trace.matrix(ask.stage, head)
    whole = tuple((np.array([0]), np.array([count])) for count in counts)
    value, allowed = merged(
        matrix.block(rows, columns), matrix.allowed(rows, columns), whole[0], whole[1], sums=ask.stage == "N"
    )
    part = _hidden_part(trace, head, rows, found)
    hidden = int(keys.hidden.sum())
    return ArrangedCell(ask, *counts, float(value[0, 0]), bool(allowed[0, 0]), hidden, part)


def _row(trace: Trace, ask: RowAsk, head: Head, found: Arranged) -> Row:
    """Of the tokens of one row that is drawn the mean weights, the sum of all keys' and that of those not drawn."""
    queries, keys = found.queries, found.keys
    i = min(ask.i, len(queries.names) - 1)
    rows, every = slice(int(queries.starts[i]), int(queries.stops[i])), slice(0, len(keys.hidden))
    matrix = trace.matrix("N", head)
    weights, allowed = matrix.block(rows, every), matrix.allowed(rows, every)
    one = np.array([0]), np.array([rows.stop - rows.start])
    N, some = merged(weights, allowed, one, (keys.starts, keys.stops), sums=True)
    with np.errstate(invalid="ignore", over="ignore"):
        hidden = float(weights[:, keys.hidden].sum(axis=1, dtype=np.float64).mean())
    total = float(trace.row_sums(head, rows).mean())
    return Row(head, i, N[0], some[0], total, int(keys.hidden.sum()), hidden)


def _hidden_part(trace: Trace, head: Head, rows: slice, found: Arranged) -> float | None:
    """What part of the weights of ``rows`` lies on keys that are not drawn."""
    try:
        weights = trace.matrix("N", head).block(rows, slice(0, len(found.keys.hidden))).astype(np.float64)
    except HiddenStage:
        return None
    total = float(weights.sum())
    part = float(weights[:, found.keys.hidden].sum()) / total if total else np.nan
    return part if np.isfinite(part) else None
