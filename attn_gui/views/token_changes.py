"""What differs between two versions of a token table, so that a view changes no more than that."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from attn_gui.model.columns import Values
from attn_gui.model.table import Floats, Table
from attn_gui.model.tokens import TokenSequence

BLOCK_ROWS = 1024
# columns that say the same of a token wherever it stands
CARRIED = ("pad", "segment")
# entries of long tuples that are compared at once
CHUNK = 1024


@dataclass(frozen=True)
class Splice:
    """From ``first`` on, ``removed`` rows (or columns) were replaced by ``inserted`` others."""

    first: int
    removed: int
    inserted: int

    @property
    def stay(self) -> int:
        """How many of the lines are there before and after, if with other contents."""
        return min(self.removed, self.inserted)


@dataclass(frozen=True)
class Cells:
    """A rectangle of embedding cells, the last ones included."""

    top: int
    left: int
    bottom: int
    right: int


def changed_rows(before: TokenSequence, after: TokenSequence) -> Splice:
    """The rows that differ, between those alike at the start and at the end; both have one width."""
    n, m = len(before), len(after)
    limit = min(n, m)
    start = _alike(before, after, limit, 0, 0, 1)
    end = _alike(before, after, limit - start, n - 1, m - 1, -1)
    return Splice(start, n - start - end, m - start - end)


def changed_columns(before: TokenSequence, after: TokenSequence) -> Splice:
    """The dimensions that differ, between those alike at the start and at the end; both have one length."""
    n, m = before.width, after.width
    old, new = before.embeddings.array(), after.embeddings.array()

    def alike(i: int, j: int) -> bool:
        return before.dimensions[i] == after.dimensions[j] and np.array_equal(old[:, i], new[:, j])

    limit, start = min(n, m), 0
    while start < limit and alike(start, start):
        start += 1
    end = 0
    while end < limit - start and alike(n - 1 - end, m - 1 - end):
        end += 1
    return Splice(start, n - start - end, m - start - end)


def resized_rows(before: TokenSequence, after: TokenSequence, change: Splice) -> TokenSequence:
    """``before`` with as many rows as ``after``: the last of the splice gone, or those of ``after`` there."""
    first, at = change.first + change.stay, change.first + change.removed
    new = slice(first, change.first + change.inserted)
    kept = before.embeddings.without_rows(range(first, at))
    return TokenSequence(
        (*before.tokens[:first], *after.tokens[new], *before.tokens[at:]),
        kept.with_rows_inserted(first, after.embeddings.rows(new.start, new.stop)),
        before.dimensions,
    )


def resized_column(before: Values, after: Values, change: Splice) -> Values:
    """As :func:`resized_rows`, of a column."""
    first, at = change.first + change.stay, change.first + change.removed
    return np.concatenate([before[:first], after[first : change.first + change.inserted], before[at:]])


def resized_columns(before: TokenSequence, change: Splice) -> TokenSequence:
    """``before`` with as many dimensions as the splice makes: its last ones gone, or zeros in place of new ones."""
    first, at = change.first + change.stay, change.first + change.removed
    order = [*range(first), *[None] * (change.inserted - change.stay), *range(at, before.width)]
    names = tuple(None if was is None else before.dimensions[was] for was in order)
    return replace(before, embeddings=before.embeddings.with_columns(order), dimensions=names)


def changed_cells(before: Table, after: Table) -> Cells | None:
    """The smallest rectangle round the cells that differ; both tables have one shape."""
    top, left, bottom, right = len(after), after.width, -1, -1
    for first, old, new in _pairs(before, after):
        differs = old != new
        rows, columns = np.flatnonzero(differs.any(axis=1)), np.flatnonzero(differs.any(axis=0))
        if rows.size:
            top, bottom = min(top, first + int(rows[0])), max(bottom, first + int(rows[-1]))
            left, right = min(left, int(columns[0])), max(right, int(columns[-1]))
    return Cells(top, left, bottom, right) if bottom >= 0 else None


def changed_entries(before: tuple[object, ...], after: tuple[object, ...]) -> tuple[int, int] | None:
    """The first and the last place where two tuples of one length differ."""
    if before is after:
        return None
    # slices are compared at the speed of C
    chunks = [k for k in range(0, len(after), CHUNK) if before[k : k + CHUNK] != after[k : k + CHUNK]]
    if not chunks:
        return None
    first = next(i for i in range(chunks[0], len(after)) if before[i] != after[i])
    last = next(i for i in range(min(chunks[-1] + CHUNK, len(after)) - 1, -1, -1) if before[i] != after[i])
    return first, last


def _alike(before: TokenSequence, after: TokenSequence, limit: int, i: int, j: int, step: int) -> int:
    """How many rows, from ``i`` and ``j`` on in direction ``step``, are alike; ``limit`` at most."""
    a, b = before.tokens, after.tokens
    given = before.columns.keys() | after.columns.keys()
    count = 0
    while count < limit and a[i + step * count] == b[j + step * count]:
        count += 1
    columns = [(before.column(name), after.column(name)) for name in CARRIED if name in given]
    done = 0
    while done < count:
        size = min(BLOCK_ROWS, count - done)
        old, new = (_run(start + step * done, size, step) for start in (i, j))
        differs = (before.embeddings.rows(old.start, old.stop) != after.embeddings.rows(new.start, new.stop)).any(
            axis=1
        )
        for of_old, of_new in columns:
            differs |= of_old[old.start : old.stop] != of_new[new.start : new.stop]
        places = np.flatnonzero(differs)
        if places.size:
            return done + int(places[0] if step > 0 else size - 1 - places[-1])
        done += size
    return count


def _run(start: int, size: int, step: int) -> range:
    return range(start, start + size) if step > 0 else range(start - size + 1, start + 1)


def _pairs(before: Table, after: Table) -> list[tuple[int, Floats, Floats]]:
    """Pieces of both tables that stand at the same rows, with their first row; shared ones are left out."""
    old, new = before.chunks, after.chunks
    if [len(chunk) for chunk in old] != [len(chunk) for chunk in new]:
        starts = range(0, len(after), BLOCK_ROWS)
        return [(s, before.rows(s, s + BLOCK_ROWS), after.rows(s, s + BLOCK_ROWS)) for s in starts]
    pairs, first = [], 0
    for a, b in zip(old, new, strict=True):
        if a is not b:
            pairs.append((first, a, b))
        first += len(a)
    return pairs
