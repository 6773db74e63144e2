"""Arrays that other programs wrote: ``.npy``, ``.npz`` and tables of numbers or flags as ``.csv``."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy as np
from numpy.typing import NDArray

from attn_gui.files import csv_reader, npy
from attn_gui.files.errors import BROKEN, FileError, cannot_read, check_size
from attn_gui.files.regular import size_of_file

Array = NDArray[Any]

ENDINGS = (".npy", ".npz", ".csv")
MAX_BYTES = 1 << 30
MAX_ENTRIES = 10_000
OWN_HEADERS = ("query", "key", "head")
COMMENT = "# "
_FLAGS = {"true": True, "false": False}


def arrays_in(path: Path) -> dict[str, Array]:
    """Every array of ``path`` by its name, which is empty where the file holds one without a name.

    Of a .csv also those that the program itself writes. Nothing is unpickled, and nothing is allocated before its size
    was found to be true. Raises FileError.
    """
    size = size_of_file(path)
    check_size(path, "", size, MAX_BYTES)
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise FileError(path, "", f"a name that ends with {', '.join(ENDINGS)}", repr(path.suffix))
    try:
        if ending == ".csv":
            return {"": _csv(path)}
        if ending == ".npz":
            return _npz(path)
        with path.open("rb") as file:
            return {"": npy.read(path, "", file, size, npy.ANY)}
    except MemoryError as error:
        raise FileError(path, "", "arrays that fit in memory", "more than there is") from error
    except OSError as error:
        raise cannot_read(path, error) from error


def _npz(path: Path) -> dict[str, Array]:
    try:
        with ZipFile(path) as archive:
            entries = [entry for entry in archive.infolist() if entry.filename.endswith(".npy")]
            _check_entries(path, entries)
            found = {}
            for entry in entries:
                with archive.open(entry) as file:
                    array = npy.read(path, entry.filename, file, entry.file_size, npy.ANY)
                found[entry.filename.removesuffix(".npy")] = array
            return found
    except FileError:
        raise
    except BROKEN as error:
        raise FileError(path, "", "a zip file that is whole (.npz)", str(error) or "a damaged one") from error


def _check_entries(path: Path, entries: list[ZipInfo]) -> None:
    if not 0 < len(entries) <= MAX_ENTRIES:
        raise FileError(path, "", f"1 to {MAX_ENTRIES} arrays (.npy)", str(len(entries)))
    unpacked = sum(entry.file_size for entry in entries)
    check_size(path, "", unpacked, MAX_BYTES, of=" of arrays")
    seen: set[str] = set()
    for entry in entries:
        if entry.filename in seen:
            raise FileError(path, entry.filename, "one array of this name", "several")
        seen.add(entry.filename)
        if entry.flag_bits & 1 or entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise FileError(path, entry.filename, "a stored or deflated entry without a password", "another kind")


def _csv(path: Path) -> Array:
    with records_of(path) as records:
        first = next(records, None)
        if first is None:
            raise FileError(path, "", "rows of numbers or flags", "an empty file")
        if first[1][0] in OWN_HEADERS:
            return csv_reader.read(path).values
        rows: list[list[float | bool]] = []
        for line, record in (first, *records):
            if rows and len(record) != len(rows[0]):
                raise FileError(path, f"line {line}", f"{len(rows[0])} cells, as in the first row", str(len(record)))
            rows.append([cell_of(path, line, column, cell) for column, cell in enumerate(record, 1)])
    flags = all(isinstance(cell, bool) for row in rows for cell in row)
    return np.array(rows, dtype=bool if flags else np.float64)


@contextmanager
def records_of(path: Path) -> Iterator[Iterator[tuple[int, list[str]]]]:
    """The records of a table with the lines that they end on; blank ones are left out."""
    delimiter, above = delimiter_of(path), comments_of(path)
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = islice(file, above, None)
        reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=delimiter == " ", strict=True)
        try:
            yield ((above + reader.line_num, record) for record in reader if any(map(str.strip, record)))
        except UnicodeDecodeError as error:
            raise FileError(path, "", "UTF-8 text", f"the byte {error.object[error.start]:#04x}") from error
        except csv.Error as error:
            line = above + max(1, reader.line_num)
            raise FileError(path, f"line {line}", "comma-separated values", str(error)) from error


def delimiter_of(path: Path) -> str:
    """What stands between the cells of the first line that is no comment; a space only between numbers."""
    return _mark_in(_above(path)[1])


def comments_of(path: Path) -> int:
    """How many lines of comments, as numpy.savetxt writes them, stand above the table.

    The last of them is none where it names as many columns as there are.
    """
    count, first, last = _above(path)
    mark = _mark_in(first).encode()
    return count - (count > 0 and mark != b" " and last.count(mark) == first.count(mark))


def _above(path: Path) -> tuple[int, bytes, bytes]:
    """How many lines begin as comments do, the line after them, and the last of them; none where they are all."""
    with path.open("rb") as file:
        line = start = file.readline()
        count, last = 0, b""
        while line.startswith(COMMENT.encode()):
            count, last, line = count + 1, line, file.readline()
    return (count, line, last) if line else (0, start, b"")


def _mark_in(line: bytes) -> str:
    mark = next((mark.decode() for mark in (b"\t", b";", b",") if mark in line), None)
    if mark is not None:
        return mark
    try:
        return " " if len([float(word) for word in line.split()]) > 1 else ","
    except ValueError:
        return ","


def cell_of(path: Path, line: int, column: int, text: str) -> float | bool:
    word = text.strip()
    flag = _FLAGS.get(word.lower())
    if flag is not None:
        return flag
    with suppress(ValueError):
        number = float(word)
        # float knows 1_000, and makes infinities of what it cannot hold
        if "_" not in word and (math.isfinite(number) or word.strip("+-").isalpha()):
            return number
    raise FileError(path, f"line {line}, column {column}", "a number, true or false", repr(word))
