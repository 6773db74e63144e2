"""Tables of numbers that somebody worked out: those that ship with an example, and CSV files with printed decimals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from attn_gui.files import csv_reader
from attn_gui.files.errors import FileError, cannot_read, check_size
from attn_gui.files.experiment_json import check_version
from attn_gui.files.numbers import text as number_text
from attn_gui.files.places import Place, parsed
from attn_gui.files.regular import size_of_file
from attn_gui.model.check import GivenTable, Unfitting, cells_in
from attn_gui.model.precision import Precision
from attn_gui.model.stages import STAGES
from attn_gui.model.trace import Head
from attn_gui.paths import resources

FORMAT, VERSION = "attn-answers", 1
MAX_BYTES = 1 << 22


@dataclass(frozen=True)
class PrintedTables:
    """The tables that were printed of an example. title: what a person knows them by."""

    title: str
    tables: tuple[GivenTable, ...]


def printed_tables(example: str) -> PrintedTables | None:
    """The tables that ship with the example of that name; None where there are none."""
    return _shipped().get(example)


def read_cells(path: Path, shape: tuple[int, int], head: Head) -> list[list[str]]:
    """The cells of a CSV file for a table of ``shape``, as they are written there, with their decimals.

    Labels above and before them are left out. Of the long form that the program writes those of ``head``, or of the
    only one. Raises FileError.
    """
    check_size(path, "", size_of_file(path), MAX_BYTES)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise cannot_read(path, error) from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(path, f"byte {error.start + 1}", "UTF-8 text", f"{data[error.start]:#04x}") from error
    if text.startswith("head,"):
        return _of_long_form(path, shape, head)
    try:
        return cells_in(text, *shape)
    except Unfitting as error:
        raise FileError(path, "", error.expected, error.received) from error


def _of_long_form(path: Path, shape: tuple[int, int], head: Head) -> list[list[str]]:
    table = csv_reader.read(path)
    heads = table.heads or ()
    wanted = "mean" if head == "mean" else str(head + 1)
    if len(heads) > 1 and wanted not in heads:
        raise FileError(path, "", f"head {wanted}", f"heads {', '.join(heads)}")
    values = table.values[heads.index(wanted) if wanted in heads else 0]
    if values.shape != shape:
        raise FileError(path, "", f"{shape[0]} × {shape[1]} numbers", f"{values.shape[0]} × {values.shape[1]}")
    return [[number_text(float(value), Precision.FLOAT64) for value in row] for row in values]


@cache
def _shipped() -> dict[str, PrintedTables]:
    found = {}
    for path in sorted((resources() / "answers").glob("*.json")):
        place = Place(parsed(path, "", path.read_bytes()), path)
        check_version(place, FORMAT, VERSION)
        at = place.keys(("format", "version", "example", "title", "tables"), ())
        tables = tuple(_table(each) for each in at["tables"].elements())
        found[at["example"].text()] = PrintedTables(at["title"].text(), tables)
    return found


def _table(place: Place) -> GivenTable:
    at = place.keys(("stage", "cells"), ())
    rows = [[cell.text() for cell in row.elements()] for row in at["cells"].elements()]
    return GivenTable.of(at["stage"].one_of(*STAGES), 0, rows)
