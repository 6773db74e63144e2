"""Rectangles of cells as rows of numbers, painted one over another: what many of them come to, in few.

Edges are int64, [n, 5]: top, bottom, left, right and allowed (1 or 0) of each. A later one lies on an earlier one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Edges = NDArray[np.int64]

NOTHING = -1
# of the picture that rectangles are put together in, and of all that is painted on it: some tens of milliseconds
MOST_CELLS = 1 << 22
MOST_PAINTED = 1 << 26
# around what is newly painted, to see what it covers: about a millisecond
MOST_AROUND = 1 << 18


def edges_of_cells(cells: NDArray[np.int64], allowed: bool) -> Edges:
    """The cells, [n, 2] (query, key), in few rectangles that do not overlap."""
    if not len(cells):
        return np.empty((0, 5), np.int64)
    cells = cells[np.lexsort((cells[:, 1], cells[:, 0]))]
    i, j = cells[np.append(True, (cells[1:] != cells[:-1]).any(axis=1))].T
    first = np.append(True, (i[1:] != i[:-1]) | (j[1:] != j[:-1] + 1))
    last = np.append(first[1:], True)
    return _stacked(i[first], j[first], j[last] + 1, np.full(np.count_nonzero(first), allowed, np.int64))


def covered(old: Edges, new: Edges) -> NDArray[np.bool_]:
    """Which of ``old`` lie wholly under ``new``, [n]; none of them where ``new`` reach so far that it takes long."""
    result = np.zeros(len(old), bool)
    if not len(new):
        return result
    (top, left), (bottom, right) = new[:, [0, 2]].min(axis=0), new[:, [1, 3]].max(axis=0)
    near = np.flatnonzero((old[:, 0] >= top) & (old[:, 1] <= bottom) & (old[:, 2] >= left) & (old[:, 3] <= right))
    if near.size and (bottom - top) * (right - left) <= MOST_AROUND:
        corner = np.array([top, top, left, left, 0])
        # of each cell, how many cells above it and to its left are painted (Crow 1984, summed-area tables)
        sums = np.zeros((bottom - top + 1, right - left + 1), np.int64)
        sums[1:, 1:] = grid_of(new - corner, (bottom - top, right - left)) != NOTHING
        sums.cumsum(axis=0, out=sums).cumsum(axis=1, out=sums)
        tops, bottoms, lefts, rights, _ = (old[near] - corner).T
        under = sums[bottoms, rights] - sums[tops, rights] - sums[bottoms, lefts] + sums[tops, lefts]
        result[near] = under == (bottoms - tops) * (rights - lefts)
    return result


def fewest(edges: Edges) -> Edges:
    """The same cells in few rectangles that do not overlap; ``edges`` themselves where that makes them no fewer.

    They are painted on a grid of their edges: no larger than the matrix, and small where rectangles are large. Where it
    would be too large all the same, or take too long to paint, nothing is put together.
    """
    rows, at_rows = np.unique(edges[:, :2], return_inverse=True)
    columns, at_columns = np.unique(edges[:, 2:4], return_inverse=True)
    at = np.hstack([at_rows.reshape(-1, 2), at_columns.reshape(-1, 2), edges[:, 4:]])
    if rows.size * columns.size > MOST_CELLS or ((at[:, 1] - at[:, 0]) * (at[:, 3] - at[:, 2])).sum() > MOST_PAINTED:
        return edges
    grid = grid_of(at, (rows.size, columns.size))
    lying, standing = _of_grid(grid), _of_grid(np.ascontiguousarray(grid.T))[:, [2, 3, 0, 1, 4]]
    found = lying if len(lying) <= len(standing) else standing
    if len(found) >= len(edges):
        return edges
    return np.column_stack([rows[found[:, :2]], columns[found[:, 2:4]], found[:, 4]])


def grid_of(edges: Edges, shape: tuple[int, int]) -> NDArray[np.int8]:
    """The cells of a grid that holds them all: 1, 0, or NOTHING where none of them is."""
    grid = np.full(shape, NOTHING, np.int8)
    for top, bottom, left, right, allowed in edges.tolist():
        grid[top:bottom, left:right] = allowed
    return grid


def _of_grid(grid: NDArray[np.int8]) -> Edges:
    """What is painted on ``grid``, in runs along its rows, those of neighbouring rows as one where they are alike."""
    change = np.ones(grid.shape, bool)
    np.not_equal(grid[:, 1:], grid[:, :-1], out=change[:, 1:])
    start = np.flatnonzero(change)
    stop, value = np.append(start[1:], grid.size), grid.ravel()[start]
    start, stop, value = (each[value != NOTHING] for each in (start, stop, value))
    row = start // grid.shape[1]
    return _stacked(row, start - row * grid.shape[1], stop - row * grid.shape[1], value.astype(np.int64))


def _stacked(
    row: NDArray[np.int64], left: NDArray[np.int64], right: NDArray[np.int64], allowed: NDArray[np.int64]
) -> Edges:
    """Runs, one for each entry, with those one below another put together."""
    runs = np.column_stack([row, left, right, allowed])[np.lexsort((row, allowed, right, left))]
    apart = (runs[1:, 1:] != runs[:-1, 1:]).any(axis=1) | (runs[1:, 0] != runs[:-1, 0] + 1)
    some = len(runs) > 0
    top, bottom = runs[np.append(some, apart)[: len(runs)]], runs[np.append(apart, some)[: len(runs)]]
    edges = np.column_stack([top[:, 0], bottom[:, 0] + 1, top[:, 1:]])
    return edges[np.lexsort((edges[:, 2], edges[:, 0]))]
