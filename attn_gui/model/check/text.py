"""A table as text: between tabs, semicolons, commas or blanks, or as NumPy and PyTorch print it."""

from __future__ import annotations

import csv
import re

from attn_gui.model.check.printed import NotANumber, read_cell, shortened

MOST_CHARACTERS = 1 << 22

_INNERMOST = re.compile(r"\[([^\[\]]*)\]")
_DECIMAL_COMMA = re.compile(r"[+\-\N{MINUS SIGN}]?[0-9]*,[0-9]+")

Rows = list[list[str]]


class Unfitting(ValueError):
    """Text that is no table of the size that was expected; ``received`` is what it is."""

    def __init__(self, expected: str, received: str) -> None:
        super().__init__(f"Expected {expected}, received {received}")
        self.expected = expected
        self.received = received


def cells_in(text: str, rows: int, columns: int) -> Rows:
    """The cells of ``text``, ``rows`` of ``columns`` each, without labels above or before them.

    Blank cells stay blank where there is a mark between cells. Raises Unfitting.
    """
    if len(text) > MOST_CHARACTERS:
        raise Unfitting(f"at most {MOST_CHARACTERS:,} characters", f"{len(text):,}")
    found = given = split(text)
    if len(found) == rows + 1:  # names above the columns
        found = found[1:]
    if found and all(len(row) == columns + 1 for row in found):
        found = [row[1:] for row in found]
    if len(found) != rows or any(len(row) != columns for row in found):
        raise Unfitting(f"{rows} × {columns} numbers", _size(given))
    for r, row in enumerate(found, start=1):
        for c, cell in enumerate(row, start=1):
            try:
                read_cell(cell)
            except NotANumber as error:
                raise Unfitting(f"a number in row {r}, column {c}", shortened(cell)) from error
    return found


def split(text: str) -> Rows:
    """The cells of ``text``, line by line; lines without anything are left out."""
    if "[" in text:
        return [row.replace(",", " ").split() for row in _INNERMOST.findall(text)]
    lines = [line for line in text.splitlines() if line.strip()]
    mark = next((mark for mark in ("\t", ";", ",") if any(mark in line for line in lines)), None)
    if mark is None or (mark == "," and _are_decimal_commas(lines)):
        return [line.split() for line in lines]
    try:
        return [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=mark, skipinitialspace=True)]
    except csv.Error as error:
        raise Unfitting(f"cells between {_NAMES[mark]}", f"what cannot be cut into them ({error})") from error


_NAMES = {"\t": "tabs", ";": "semicolons", ",": "commas"}


def _are_decimal_commas(lines: list[str]) -> bool:
    """Whether blanks stand between the numbers, and commas within them."""
    body = [cell for line in lines for cell in line.split()]
    commas = [cell for cell in body if "," in cell]
    return len(body) > len(lines) and all(_DECIMAL_COMMA.fullmatch(cell) for cell in commas)


def _size(rows: Rows) -> str:
    widths = sorted({len(row) for row in rows})
    if not widths:
        return "none"
    return f"{len(rows)} × {' or '.join(map(str, widths))}"
