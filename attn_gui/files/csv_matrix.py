"""Stages as CSV (RFC 4180, UTF-8), written a block of rows at a time.

Matrix form: the header holds the column labels after the word for the rows (``query`` or ``key``), the first column
the row labels. Long form: one row per cell, under ``head,query_index,query,key_index,key,value`` (a stage that is not
n_q x n_k has ``dimension`` for its columns, one that belongs to the keys has ``key`` for its rows). Heads and indices
count from 1. Numbers as in :mod:`~attn_gui.files.numbers`, labels as in :mod:`~attn_gui.files.csv_labels`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from attn_gui.files.atomic import replacing
from attn_gui.files.csv_labels import quoted
from attn_gui.files.errors import FileError
from attn_gui.files.layout import Layout
from attn_gui.files.numbers import rows_text
from attn_gui.model.precision import Precision

# gives the values of a slice of rows, [rows, columns]; bfloat16 widened to float32
ReadRows = Callable[[slice], np.ndarray[Any, Any]]

LINE_END = b"\r\n"
# about 10 ms of writing, so that whoever runs the writer can stop it at once; a cell of the long form takes longer
BLOCK_CELLS = 1 << 17
LONG_BLOCK_CELLS = 1 << 14


def long_header(row_kind: str, column_kind: str) -> tuple[str, ...]:
    """The header of the long form."""
    return ("head", f"{row_kind}_index", row_kind, f"{column_kind}_index", column_kind, "value")


def write_matrix(
    path: Path, layout: Layout, read: ReadRows, precision: Precision, block_cells: int | None = None
) -> Generator[float, None, None]:
    """Write the matrix form of one table; yields the part done, 0 to 1. ``path`` is replaced at the end.

    block_cells: about how many are read at a time. Closing the generator, and any error, leaves ``path`` as it was.
    Raises FileError.
    """
    columns = _encoded(path, layout.column_kind, layout.columns)
    labels = _encoded(path, layout.row_kind, layout.rows)
    with replacing(path, durable=False) as file:
        file.write(b",".join([layout.row_kind.encode(), *columns]) + LINE_END)
        for rows in row_blocks(layout, block_cells or BLOCK_CELLS):
            lines = zip(labels[rows], rows_text(read(rows), precision), strict=True)
            file.write(b"".join([part for label, row in lines for part in (label, b",", row, LINE_END)]))
            yield rows.stop / len(layout.rows)


def write_long(
    path: Path, layout: Layout, heads: Sequence[tuple[str, ReadRows]], precision: Precision
) -> Generator[float, None, None]:
    """Write the long form of one table per head, named (``""`` for a stage without heads); as :func:`write_matrix`."""
    top, left = (place + 1 for place in layout.first)
    columns = [b",%d,%b," % cell for cell in enumerate(_encoded(path, layout.column_kind, layout.columns), left)]
    labels = [b",%d,%b" % cell for cell in enumerate(_encoded(path, layout.row_kind, layout.rows), top)]
    with replacing(path, durable=False) as file:
        file.write(",".join(long_header(layout.row_kind, layout.column_kind)).encode() + LINE_END)
        for done, (head, read) in enumerate(heads):
            for rows in row_blocks(layout, LONG_BLOCK_CELLS):
                for label, row in zip(labels[rows], rows_text(read(rows), precision), strict=True):
                    start = head.encode() + label
                    values = zip(columns, row.split(b","), strict=True)
                    file.write(b"".join([b"%b%b%b\r\n" % (start, column, value) for column, value in values]))
                yield (done + rows.stop / len(layout.rows)) / len(heads)


def row_blocks(layout: Layout, cells: int = BLOCK_CELLS) -> Iterator[slice]:
    """The rows of a table in blocks of about ``cells`` cells."""
    step = max(1, cells // max(1, len(layout.columns)))
    for start in range(0, len(layout.rows), step):
        yield slice(start, min(start + step, len(layout.rows)))


def _encoded(path: Path, kind: str, labels: Sequence[str]) -> list[bytes]:
    encoded = []
    for index, label in enumerate(labels, 1):
        try:
            encoded.append(quoted(label))
        except UnicodeEncodeError as error:
            raise FileError(path, f"{kind} {index}", "text that UTF-8 can hold", ascii(label)) from error
    return encoded
