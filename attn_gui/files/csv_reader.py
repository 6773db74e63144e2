"""Reads back what :mod:`~attn_gui.files.csv_matrix` writes."""

from __future__ import annotations

import csv
import math
from array import array
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NoReturn

import numpy as np
from numpy.typing import NDArray

from attn_gui.files.csv_labels import restored
from attn_gui.files.csv_matrix import long_header
from attn_gui.files.errors import FileError, cannot_read, check_size
from attn_gui.files.regular import size_of_file

MAX_BYTES = 1 << 30
_ROW_KINDS = ("query", "key")
_LONG_HEADERS = (
    long_header("query", "key"),
    long_header("query", "dimension"),
    long_header("key", "dimension"),
)


@dataclass(frozen=True, eq=False)
class CsvTable:
    """The content of a CSV file.

    rows, columns: the labels. heads: the heads of the long form as written ("1", "mean", "" for a stage without);
    None in matrix form. values: float64, [rows, columns] of the matrix form or [heads, rows, columns] of the long
    form; rounded to the precision they were written in they are the numbers that were written.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    heads: tuple[str, ...] | None
    values: NDArray[np.float64]


def read(path: str | Path) -> CsvTable:
    """Read either form; raises FileError saying what is wrong, at which line and column."""
    path = Path(path)
    check_size(path, "", size_of_file(path), MAX_BYTES)
    try:
        with path.open("rb") as file:
            return _Reader(path, file).table()
    except OSError as error:
        raise cannot_read(path, error) from error


class _Axis:
    """The labels of the rows or columns of the long form by index (from 1), and the places of what was seen before."""

    def __init__(self) -> None:
        self.labels: dict[int, str] = {}
        self.places: dict[tuple[str, str], int] = {}

    def restored(self) -> tuple[str, ...]:
        return tuple(restored(self.labels[index]) for index in sorted(self.labels))


class _Reader:
    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        self._csv = csv.reader(self._lines(file), strict=True)

    def table(self) -> CsvTable:
        header = next(self._records(), None)
        if header is None:
            raise FileError(self._path, "line 1", "a header", "an empty file")
        if header[:1] == ["head"]:
            if tuple(header) not in _LONG_HEADERS:
                self._refuse(None, ",".join(_LONG_HEADERS[0]), ",".join(header))
            return self._long(header)
        if header[:1] not in [[kind] for kind in _ROW_KINDS] or len(header) < 2:
            expected = f"a header that begins with {' or '.join(_ROW_KINDS)} and a label, or with head"
            self._refuse(None, expected, _shortened(",".join(header)) or "an empty line")
        return self._matrix(header)

    def _matrix(self, header: list[str]) -> CsvTable:
        rows, values = [], []
        for record in self._records():
            self._check_width(record, header)
            rows.append(restored(record[0]))
            values.append(self._numbers(record))
        if not rows:
            self._refuse(None, "at least 1 row after the header", "the end of the file")
        columns = tuple(restored(cell) for cell in header[1:])
        return CsvTable(tuple(rows), columns, None, np.stack(values))

    def _long(self, header: list[str]) -> CsvTable:
        heads: dict[str, int] = {}
        rows, columns = _Axis(), _Axis()
        places = (array("q"), array("q"), array("q"))
        values = array("d")
        for record in self._records():
            self._check_width(record, header)
            places[0].append(heads.setdefault(record[0], len(heads)))
            places[1].append(self._place(rows, record, 1, header))
            places[2].append(self._place(columns, record, 3, header))
            values.append(self._number(record[5], 6))
        shape = (len(heads), max(rows.labels, default=0), max(columns.labels, default=0))
        if not values or math.prod(shape) != len(values):
            size = f"{shape[0]} heads x {shape[1]} {header[2]} x {shape[2]} {header[4]}"
            self._refuse(None, f"{math.prod(shape) or 'at least 1'} rows ({size})", str(len(values)))
        grid = np.full(shape, np.nan)
        filled = np.zeros(shape, dtype=bool)
        at_cells = tuple(np.array(axis) for axis in places)
        grid[at_cells] = values
        filled[at_cells] = True
        if not filled.all():
            h, i, j = (int(index[0]) for index in np.nonzero(~filled))
            missing = f"head {list(heads)[h]}, {header[2]} {i + 1}, {header[4]} {j + 1}"
            raise FileError(self._path, missing, "one row for each cell", "none for this one, several for another")
        return CsvTable(rows.restored(), columns.restored(), tuple(heads), grid)

    def _place(self, axis: _Axis, record: Sequence[str], at: int, header: Sequence[str]) -> int:
        """The place (from 0) on ``axis`` that the index and the label at ``at`` name."""
        known = axis.places.get((record[at], record[at + 1]))
        if known is not None:
            return known
        index, label = self._index(record, at), record[at + 1]
        if axis.labels.setdefault(index, label) != label:
            expected = f"{header[at + 1]} {index} to be {axis.labels[index]!r} as before"
            self._refuse(at + 2, expected, repr(_shortened(label)))
        axis.places[record[at], label] = index - 1
        return index - 1

    def _records(self) -> Iterator[list[str]]:
        try:
            yield from self._csv
        except csv.Error as error:
            self._refuse(None, "comma-separated values as in RFC 4180", str(error))

    def _lines(self, file: BinaryIO) -> Iterator[str]:
        for number, line in enumerate(file, 1):
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                received = f"the byte {line[error.start]:#04x}"
                raise FileError(self._path, f"line {number}, byte {error.start + 1}", "UTF-8 text", received) from error
            if not line.endswith(b"\n"):
                expected = "a line break after the last row"
                raise FileError(self._path, f"line {number}", expected, "the end of the file: it seems cut off")
            yield text

    def _check_width(self, record: Sequence[str], header: Sequence[str]) -> None:
        if len(record) != len(header):
            self._refuse(None, f"{len(header)} cells, as in the header", str(len(record)))

    def _numbers(self, record: Sequence[str]) -> NDArray[np.float64]:
        cells = record[1:]
        with suppress(ValueError):
            row = np.array(list(map(float, cells)))
            if np.isfinite(row).all() and "_" not in "".join(cells):
                return row
        return np.array([self._number(cell, column) for column, cell in enumerate(cells, 2)])

    def _number(self, cell: str, column: int) -> float:
        try:
            number = float(cell)
        except ValueError:
            self._refuse(column, "a number", repr(_shortened(cell)))
        if "_" in cell or (math.isinf(number) and "inf" not in cell.lower()):
            self._refuse(column, "a number", repr(_shortened(cell)))
        return number

    def _index(self, record: Sequence[str], at: int) -> int:
        cell = record[at]
        if not (cell.isascii() and cell.isdigit() and len(cell) <= 9 and int(cell) >= 1):
            self._refuse(at + 1, "a whole number from 1", repr(_shortened(cell)))
        return int(cell)

    def _refuse(self, column: int | None, expected: str, received: str) -> NoReturn:
        line = f"line {max(1, self._csv.line_num)}"
        raise FileError(self._path, line if column is None else f"{line}, column {column}", expected, received)


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"
