"""Parts of a matrix of queries and keys as CSV: a window, the whole brought down, the largest of each row."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attn_gui.files.atomic import replacing
from attn_gui.files.csv_labels import quoted
from attn_gui.files.csv_matrix import BLOCK_CELLS, LINE_END, row_blocks, write_long, write_matrix
from attn_gui.files.layout import layout
from attn_gui.files.numbers import cells
from attn_gui.model.experiment import Experiment
from attn_gui.model.trace import Head, Pooling, Trace

Steps = Generator[float, None, None]
TOP_HEADER = "head,query_index,query,rank,key_index,key,value"


@dataclass(frozen=True)
class Window:
    """Queries ``rows`` and keys ``columns``, [start, stop) from 0."""

    rows: tuple[int, int]
    columns: tuple[int, int]


@dataclass(frozen=True)
class Pooled:
    """All of it in at most ``size`` rows and columns of blocks; a block's name says which tokens are in it."""

    size: int = 1024
    how: Pooling = "max"


@dataclass(frozen=True)
class Top:
    """The ``count`` largest values of each query, the largest first; masked cells are none of them."""

    count: int = 8


Part = Window | Pooled | Top


def export_part(
    trace: Trace, stage: str, head: Head, path: str | Path, part: Part, *, long_form: bool = False
) -> Steps:
    """Write ``part`` of a square stage of one head, or of the mean over heads, to one CSV file.

    In matrix form, or a window with ``long_form`` a cell a line; :class:`Top` has lines of its own (TOP_HEADER). Memory
    is bounded whatever the size. Yields the part done, 0 to 1; closing the generator leaves ``path`` as it was. Raises
    FileError; KeyError for a stage that is none of queries x keys, ValueError for a window outside of it.
    """
    path = Path(path)
    check_part(trace.experiment, part)
    if isinstance(part, Window):
        yield from _window(trace, stage, head, path, part, long_form)
    elif isinstance(part, Pooled):
        yield from _pooled(trace, stage, head, path, part)
    else:
        yield from _top(trace, stage, head, path, part)


def check_part(experiment: Experiment, part: Part) -> None:
    """Raise ValueError for a window that is not within the matrices of ``experiment``."""
    if isinstance(part, Window):
        for (start, stop), length, what in (
            (part.rows, experiment.n_q, "queries"),
            (part.columns, experiment.n_k, "keys"),
        ):
            if not 0 <= start < stop <= length:
                raise ValueError(f"expected some of the {what} 1 to {length:,}, received {start + 1:,} to {stop:,}")


def part_name(stage: str, head: Head, part: Part) -> str:
    """A file's name: ``N_head1_top8.csv``, ``A_mean_pooled1024_max.csv``, ``N_head1_window.csv``."""
    name = "mean" if head == "mean" else f"head{head + 1}"
    if isinstance(part, Window):
        return f"{stage}_{name}_window.csv"
    if isinstance(part, Pooled):
        return f"{stage}_{name}_pooled{part.size}_{part.how}.csv"
    return f"{stage}_{name}_top{part.count}.csv"


def lines_of(experiment: Experiment, part: Part) -> tuple[int, int]:
    """How many rows ``part`` has, and how many numbers are in each."""
    n_q, n_k = experiment.n_q, experiment.n_k
    if isinstance(part, Window):
        return part.rows[1] - part.rows[0], part.columns[1] - part.columns[0]
    if isinstance(part, Pooled):
        return min(part.size, n_q), min(part.size, n_k)
    return n_q, min(part.count, n_k)


def _window(trace: Trace, stage: str, head: Head, path: Path, part: Window, long_form: bool) -> Steps:
    matrix, table = trace.matrix(stage, head), layout(trace.experiment, stage)
    rows, columns = slice(*part.rows), slice(*part.columns)
    cut = replace(table, rows=table.rows[rows], columns=table.columns[columns], first=(rows.start, columns.start))

    def read(some: slice) -> NDArray[Any]:
        return matrix.block(slice(rows.start + some.start, rows.start + some.stop), columns)

    precision = trace.experiment.precision
    if long_form:
        yield from write_long(path, cut, [("mean" if head == "mean" else str(head + 1), read)], precision)
    else:
        yield from write_matrix(path, cut, read, precision)


def _pooled(trace: Trace, stage: str, head: Head, path: Path, part: Pooled) -> Steps:
    e, matrix, table = trace.experiment, trace.matrix(stage, head), layout(trace.experiment, stage)
    if stage == "N":
        for _ in trace.passes([head]):
            yield 0.0
    height, width = lines_of(e, part)
    tops = np.append(np.arange(height) * e.n_q // height, e.n_q)
    lefts = np.append(np.arange(width) * e.n_k // width, e.n_k)

    def read(some: slice) -> NDArray[Any]:
        rows = slice(int(tops[some.start]), int(tops[some.stop]))
        return matrix.pooled(rows, slice(0, e.n_k), (some.stop - some.start, width), part.how)[0]

    named = replace(table, rows=_blocks(table.rows, tops), columns=_blocks(table.columns, lefts))
    # a row of blocks may take as long as many rows of cells
    yield from write_matrix(path, named, read, e.precision, block_cells=1)


def _blocks(tokens: tuple[str, ...], edges: NDArray[np.intp]) -> tuple[str, ...]:
    """A name for each block: its tokens by number, or its only token."""
    spans = zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    return tuple(tokens[start] if stop - start == 1 else f"{start + 1} to {stop}" for start, stop in spans)


def _top(trace: Trace, stage: str, head: Head, path: Path, part: Top) -> Steps:
    matrix, table, precision = trace.matrix(stage, head), layout(trace.experiment, stage), trace.experiment.precision
    every, count = slice(0, len(table.columns)), min(part.count, len(table.columns))
    keys = [quoted(label) for label in table.columns]
    name = b"mean" if head == "mean" else b"%d" % (head + 1)
    with replacing(path, durable=False) as file:
        file.write(TOP_HEADER.encode() + LINE_END)
        for rows in row_blocks(table, BLOCK_CELLS):
            values = matrix.block(rows, every)
            order = _largest(np.where(matrix.allowed(rows, every), values, -np.inf), count)
            allowed = np.take_along_axis(np.asarray(matrix.allowed(rows, every)), order, axis=1)
            picked = np.take_along_axis(values, order, axis=1)
            for r, i in enumerate(range(rows.start, rows.stop)):
                start = b"%b,%d,%b" % (name, i + 1, quoted(table.rows[i]))
                texts = cells(picked[r], precision)
                lines = [
                    b"%b,%d,%d,%b,%b\r\n" % (start, rank, order[r, rank - 1] + 1, keys[order[r, rank - 1]], text)
                    for rank, text in enumerate(texts, 1)
                    if allowed[r, rank - 1]
                ]
                file.write(b"".join(lines))
            yield rows.stop / len(table.rows)


def _largest(values: NDArray[Any], count: int) -> NDArray[np.intp]:
    """The columns of the ``count`` largest of each row, the largest first and of equal ones the first, [rows, count].

    NaN counts as larger than any number.
    """
    first = np.argsort(-values, axis=1, kind="stable") if values.shape[1] <= 4 * count else _picked(values, count)
    return first[:, :count]


def _picked(values: NDArray[Any], count: int) -> NDArray[np.intp]:
    least = -np.partition(-values, count - 1, axis=1)[:, count - 1]  # NaN last
    result = np.empty((len(values), count), np.intp)
    for r, row in enumerate(values):
        # equal ones at the edge: those that come first
        candidates = np.flatnonzero(~(row < least[r]))
        result[r] = candidates[np.argsort(-row[candidates], kind="stable")][:count]
    return result
