"""Arrays that other programs wrote: ``.npy``, ``.npz`` and tables of numbers or flags as ``.csv``."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from attn_gui.files import csv_reader
from attn_gui.files.errors import FileError, cannot_read
from attn_gui.files.regular import size_of_file
from attn_gui.model.errors import readable_bytes

Array = NDArray[Any]

ENDINGS = (".npy", ".npz", ".csv")
MAX_BYTES = 1 << 30
MAX_ENTRIES = 10_000
_OWN_HEADERS = ("query", "key", "head")
_FLAGS = {"true": True, "false": False}


def arrays_in(path: Path) -> dict[str, Array]:
    """Every array of ``path`` by its name, which is empty where the file holds one without a name.

    Of a .csv also those that the program itself writes. Nothing is unpickled, and nothing is allocated before its size
    was found to be true. Raises FileError.
    """
    size = size_of_file(path)
    if size > MAX_BYTES:
        raise FileError(path, "", f"at most {readable_bytes(MAX_BYTES)}", readable_bytes(size))
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise FileError(path, "", f"a name that ends with {', '.join(ENDINGS)}", repr(path.suffix))
    try:
        if ending == ".csv":
            return {"": _csv(path)}
        if ending == ".npz":
            return _npz(path)
        with path.open("rb") as file:
            return {"": _npy(path, "", file, size)}
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
                    found[entry.filename.removesuffix(".npy")] = _npy(path, entry.filename, file, entry.file_size)
            return found
    except (BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise FileError(path, "", "a zip file that is whole (.npz)", str(error) or "a damaged one") from error


def _check_entries(path: Path, entries: list[ZipInfo]) -> None:
    if not 0 < len(entries) <= MAX_ENTRIES:
        raise FileError(path, "", f"1 to {MAX_ENTRIES} arrays (.npy)", str(len(entries)))
    unpacked = sum(entry.file_size for entry in entries)
    if unpacked > MAX_BYTES:
        raise FileError(path, "", f"at most {readable_bytes(MAX_BYTES)} of arrays", readable_bytes(unpacked))
    for entry in entries:
        if entry.flag_bits & 1 or entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise FileError(path, entry.filename, "a stored or deflated entry without a password", "another kind")


def _npy(path: Path, where: str, file: IO[bytes], size: int) -> Array:
    try:
        version = npy_format.read_magic(file)
        readers = {(1, 0): npy_format.read_array_header_1_0, (2, 0): npy_format.read_array_header_2_0}
        if version not in readers:
            raise ValueError(f"version {'.'.join(map(str, version))} of the format")
        shape, fortran_order, dtype = readers[version](file)
    except ValueError as error:
        raise FileError(path, where, "a numpy array (.npy)", str(error).splitlines()[0]) from error
    if dtype.kind not in "biuf" or dtype.itemsize > 8:
        raise FileError(path, where, "an array of numbers or flags", f"numpy type {dtype}")
    needed, held = math.prod(shape) * dtype.itemsize, size - file.tell()
    if needed != held:
        raise FileError(path, where, f"{needed} bytes of numbers, for shape {shape}", f"{held}")
    read = np.frombuffer(file.read(needed), dtype)
    if dtype.kind == "b" and (read.view(np.uint8) > 1).any():
        raise FileError(path, where, "0 or 1 in each byte of bool", "other bytes")
    try:
        return read.reshape(shape, order="F" if fortran_order else "C")
    except ValueError as error:
        raise FileError(path, where, "a shape that numpy can hold", f"shape {shape}") from error


def _csv(path: Path) -> Array:
    with _reading(path) as records:
        first = next(records, None)
        if first is None:
            raise FileError(path, "", "rows of numbers or flags", "an empty file")
        if first[1][0] in _OWN_HEADERS:
            return csv_reader.read(path).values
        rows: list[list[float | bool]] = []
        for line, record in (first, *records):
            if rows and len(record) != len(rows[0]):
                raise FileError(path, f"line {line}", f"{len(rows[0])} cells, as in the first row", str(len(record)))
            rows.append([_cell(path, line, column, cell) for column, cell in enumerate(record, 1)])
    flags = all(isinstance(cell, bool) for row in rows for cell in row)
    return np.array(rows, dtype=bool if flags else np.float64)


@contextmanager
def _reading(path: Path) -> Iterator[Iterator[tuple[int, list[str]]]]:
    """The records of a table with the lines that they end on; blank ones are left out."""
    delimiter = _delimiter(path)
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=delimiter, strict=True)
        try:
            yield ((reader.line_num, record) for record in reader if any(map(str.strip, record)))
        except UnicodeDecodeError as error:
            raise FileError(path, "", "UTF-8 text", f"the byte {error.object[error.start]:#04x}") from error
        except csv.Error as error:
            raise FileError(path, f"line {max(1, reader.line_num)}", "comma-separated values", str(error)) from error


def _delimiter(path: Path) -> str:
    """What stands between the cells of the first line."""
    with path.open("rb") as file:
        line = file.readline()
    return next((mark.decode() for mark in (b"\t", b";", b",") if mark in line), ",")


def _cell(path: Path, line: int, column: int, text: str) -> float | bool:
    word = text.strip()
    flag = _FLAGS.get(word.lower())
    if flag is not None:
        return flag
    try:
        if "_" not in word:
            return float(word)
    except ValueError:
        pass
    raise FileError(path, f"line {line}, column {column}", "a number, true or false", repr(word))
