"""``.csv`` and ``.tsv``: a table of numbers or flags, perhaps with the names of its rows and columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from attn_gui.files import csv_reader
from attn_gui.files.arrays import COMMENT, OWN_HEADERS, cell_of, comments_of, delimiter_of, records_of
from attn_gui.files.errors import FileError, cannot_read, check_size
from attn_gui.files.regular import size_of_file
from attn_gui.files.tensors.stored import Opened, held

# numbers as text take more memory than the text while they are read
MAX_BYTES = 1 << 28
ROWS, COLUMNS = "rows", "columns"


def open_table(path: Path) -> Opened:
    """The table of a file, or what this program exported there; the names beside it are words. Raises FileError."""
    check_size(path, "", size_of_file(path), MAX_BYTES)
    try:
        with records_of(path) as records:
            first = next(records, None)
            if first is None:
                raise FileError(path, "", "rows of numbers or flags", "an empty file")
            ours = first[1][0] in OWN_HEADERS
            return _ours(path) if ours else _table(path, [first, *records])
    except MemoryError as error:
        raise FileError(path, "", "a table that fits in memory", "a larger one") from error
    except OSError as error:
        raise cannot_read(path, error) from error


def _ours(path: Path) -> Opened:
    table = csv_reader.read(path)

    def source(file: str) -> str:
        return f"attn_gui.files.csv_reader.read({file!r}).values"

    return Opened([held("", np.array(table.values), source)], {ROWS: table.rows, COLUMNS: table.columns})


def _table(path: Path, records: Sequence[tuple[int, list[str]]]) -> Opened:
    decimal = delimiter_of(path) == ";" and any("," in cell for _, record in records for cell in record)
    if decimal:  # spreadsheets of countries that write 0,5
        records = [(line, [cell.replace(",", ".") for cell in record]) for line, record in records]
    width = len(records[0][1])
    header = _has_header(path, records)
    body = records[1:] if header else records
    first_cells = [record[0] for _, record in islice(body, 100)]
    # of numbered rows, as pandas writes them, an empty corner alone says that they are no numbers of the table
    numbered = header and not records[0][1][0].strip()
    labelled = width > 1 and (numbered or 2 * sum(not _is_value(path, cell) for cell in first_cells) > len(first_cells))
    rows: list[list[float | bool]] = []
    for line, record in body:
        if len(record) != width:
            raise FileError(path, f"line {line}", f"{width} cells, as in the first row", str(len(record)))
        cells = record[1:] if labelled else record
        rows.append([cell_of(path, line, column, cell) for column, cell in enumerate(cells, 1 + labelled)])
    if not rows:
        raise FileError(path, "", "rows of numbers or flags", "names alone")
    words = {}
    if header:
        corner, *others = records[0][1]
        words[COLUMNS] = (corner.removeprefix(COMMENT), *others)[labelled:]
    if labelled:
        words[ROWS] = tuple(record[0] for _, record in body)
    flags = all(isinstance(cell, bool) for row in rows for cell in row)
    mark, skip = delimiter_of(path), comments_of(path) + header
    between = None if mark == " " else mark

    def source(file: str) -> str:
        if decimal or flags:  # which numpy does not read
            return ""
        skipped = f", skiprows={skip}" if skip else ""
        columns = f", usecols=range(1, {width})" if labelled else ""
        return f"np.loadtxt({file!r}, delimiter={between!r}{skipped}{columns}, ndmin=2)"

    return Opened([held("", np.array(rows, bool if flags else np.float64), source)], words)


def _has_header(path: Path, records: Sequence[tuple[int, list[str]]]) -> bool:
    """Whether the first record names the columns: its corner is empty, or no number, as most of the others.

    So does one that is a comment, and one that counts three columns or more while not all numbers below are whole, as
    pandas writes a table without its index.
    """
    (corner, *others), rest = records[0][1], records[1:]
    if not rest:
        return False
    if corner.startswith(COMMENT):
        return True
    if len(others) > 1 and records[0][1] == [str(column) for column in range(len(others) + 1)]:
        return not all(cell.strip().lstrip("+-").isdigit() for _, record in rest for cell in record)
    named = sum(not _is_value(path, cell) for cell in others)
    return (not corner.strip() and bool(others)) or (not _is_value(path, corner) and 2 * named >= len(others))


def _is_value(path: Path, cell: str) -> bool:
    try:
        cell_of(path, 0, 0, cell)
    except FileError:
        return False
    return True
