"""An immutable table of float64 whose versions share the row chunks that an edit leaves alone."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from weakref import ref

import numpy as np
from numpy.typing import ArrayLike, NDArray

from attn_gui.model.errors import ExperimentError

Floats = NDArray[np.float64]

# An undo step keeps the chunks that its edit replaced, so a chunk is what one edited cell costs.
CHUNK_BYTES = 1 << 16


def floats(array: ArrayLike, field: str = "numbers") -> Floats:
    """``array`` as float64, itself where it is that; raises ExperimentError, naming ``field``, for complex numbers."""
    given = np.asarray(array)
    # numpy would let their imaginary parts go
    if given.dtype.kind == "c":
        raise ExperimentError(field, "real numbers", f"an array of {given.dtype}")
    return np.asarray(given, dtype=np.float64)


def frozen(array: ArrayLike, field: str = "numbers") -> Floats:
    """A read-only C-contiguous float64 array; a copy unless ``array`` already is one that nobody can write to.

    Raises ExperimentError, naming ``field``, for complex numbers.
    """
    if isinstance(array, np.ndarray) and array.dtype == np.float64 and array.flags.c_contiguous and _closed(array):
        return array
    result = np.array(floats(array, field), order="C")
    result.flags.writeable = False
    return result


def _closed(array: np.ndarray) -> bool:
    """Whether neither ``array`` nor any array that it is a view of can be written to."""
    owner: object = array
    while isinstance(owner, np.ndarray):
        if owner.flags.writeable:
            return False
        owner = owner.base
    return owner is None


class Table:
    """Rows of float64, shape [rows, columns], in read-only chunks of about ``CHUNK_BYTES``."""

    __slots__ = ("_array", "_chunks", "_ends", "width")

    def __init__(self, chunks: Sequence[Floats], width: int) -> None:
        self._chunks = tuple(chunk for chunk in chunks if len(chunk))
        self._ends = tuple(accumulate(len(chunk) for chunk in self._chunks))
        self._array: ref[Floats] | None = None
        self.width = width

    @classmethod
    def of(cls, array: ArrayLike) -> Table:
        """A table of ``array``, [rows, columns]; raises ExperimentError unless it has two axes of real numbers."""
        whole = floats(array, "table")
        if whole.ndim != 2:
            raise ExperimentError("table", "2 axes (rows, columns)", f"{whole.ndim} with shape {whole.shape}")
        return cls(list(_split(whole)), whole.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        return (len(self), self.width)

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __getitem__(self, cell: tuple[int, int]) -> float:
        chunk, row = self._find(cell[0])
        return float(self._chunks[chunk][row, cell[1]])

    def __repr__(self) -> str:
        return f"Table(shape={self.shape})"

    @property
    def chunks(self) -> tuple[Floats, ...]:
        return self._chunks

    def array(self) -> Floats:
        """The whole table as one read-only array, [rows, columns]."""
        if len(self._chunks) == 1:
            return self._chunks[0]
        # shared while somebody holds it and no longer: an undo history keeps many tables
        whole = None if self._array is None else self._array()
        if whole is None:
            whole = np.concatenate(self._chunks) if self._chunks else np.empty((0, self.width))
            whole.flags.writeable = False
            self._array = ref(whole)
        return whole

    def rows(self, start: int, stop: int) -> Floats:
        """Rows ``start`` to ``stop``, [stop - start, columns]."""
        pieces = [
            chunk[max(0, start - first) : max(0, stop - first)]
            for chunk, first in zip(self._chunks, self._firsts(), strict=True)
            if first < stop and first + len(chunk) > start
        ]
        if len(pieces) == 1:
            return pieces[0]
        return np.concatenate(pieces) if pieces else np.empty((0, self.width))

    def same_as(self, other: Table) -> bool:
        """Whether every cell is equal (NaN to NaN); shared chunks are not read."""
        if self is other:
            return True
        if self.shape != other.shape:
            return False
        if [len(c) for c in self._chunks] != [len(c) for c in other._chunks]:
            return bool(np.array_equal(self.array(), other.array(), equal_nan=True))
        return all(
            a is b or np.array_equal(a, b, equal_nan=True) for a, b in zip(self._chunks, other._chunks, strict=True)
        )

    def with_cells(self, rows: ArrayLike, columns: ArrayLike, values: ArrayLike) -> Table:
        """The table with ``values`` at (``rows``, ``columns``), which broadcast together.

        Raises IndexError for a cell that the table has not; a negative one does not count from the end.
        """
        r, c, v = np.broadcast_arrays(np.asarray(rows), np.asarray(columns), floats(values))
        r, c, v = r.ravel(), c.ravel(), v.ravel()
        for index, length, what in ((r, len(self), "rows"), (c, self.width, "columns")):
            if index.size and (index.min() < 0 or index.max() >= length):
                raise IndexError(f"{what} {index.min()} to {index.max()} of a table of {length}")
        chunks = list(self._chunks)
        where = np.searchsorted(np.asarray(self._ends), r, side="right")
        firsts = self._firsts()
        for index in np.unique(where):
            here = where == index
            chunk = chunks[index].copy()
            chunk[r[here] - firsts[index], c[here]] = v[here]
            chunk.flags.writeable = False
            chunks[index] = chunk
        return Table(chunks, self.width)

    def with_rows_inserted(self, at: int, block: ArrayLike) -> Table:
        """The table with ``block``, [k, columns], before row ``at``; raises ExperimentError for another width."""
        new = floats(block, "rows")
        if new.ndim != 2 or new.shape[1] != self.width:
            raise ExperimentError("rows", f"shape (count, {self.width})", f"shape {new.shape}")
        return Table([*self._cut(0, at), *_split(new), *self._cut(at, len(self))], self.width)

    def without_rows(self, rows: Sequence[int]) -> Table:
        """The table less ``rows``."""
        kept: list[Floats] = []
        start = 0
        for row in [*sorted(set(rows)), len(self)]:
            kept += self._cut(start, row)
            start = row + 1
        return Table(kept, self.width)

    def with_rows_moved(self, start: int, count: int, to: int) -> Table:
        """The table with ``count`` rows from ``start`` moved so that they begin at row ``to`` of the rest."""
        moved = self._cut(start, start + count)
        rest = self.without_rows(range(start, start + count))
        return Table([*rest._cut(0, to), *moved, *rest._cut(to, len(rest))], self.width)

    def with_columns(self, order: Sequence[int | None]) -> Table:
        """The table whose column j is the present column ``order[j]``, or zeros where that is None."""
        source = np.array([0 if index is None else index for index in order], dtype=np.intp)
        blank = np.array([index is None for index in order], dtype=bool)
        chunks = []
        for chunk in self._chunks:
            new = chunk[:, source] if self.width else np.zeros((len(chunk), len(order)))
            new[:, blank] = 0.0
            new.flags.writeable = False
            chunks.append(new)
        return Table(chunks, len(order))

    def _firsts(self) -> list[int]:
        return [0, *self._ends[:-1]] if self._ends else []

    def _find(self, row: int) -> tuple[int, int]:
        if not 0 <= row < len(self):
            raise IndexError(f"row {row} of a table of {len(self)}")
        chunk = bisect_right(self._ends, row)
        return chunk, row - (self._ends[chunk - 1] if chunk else 0)

    def _cut(self, start: int, stop: int) -> list[Floats]:
        # whole chunks are handed on themselves, not as views: sharing is by identity
        cut = []
        index = bisect_right(self._ends, start)
        while start < stop and index < len(self._chunks):
            chunk, end = self._chunks[index], self._ends[index]
            first = end - len(chunk)
            whole = start == first and stop >= end
            cut.append(chunk if whole else frozen(chunk[start - first : stop - first]))
            start, index = end, index + 1
        return cut


def _split(whole: Floats) -> Iterator[Floats]:
    per_chunk = max(1, CHUNK_BYTES // (8 * max(1, whole.shape[1])))
    for start in range(0, len(whole), per_chunk):
        chunk = whole[start : start + per_chunk].copy()
        chunk.flags.writeable = False
        yield chunk
