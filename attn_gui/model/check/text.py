"""A table as text: between tabs, semicolons, commas or blanks, or as NumPy and PyTorch print it."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

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

    Blank cells stay blank where there is a mark between cells. What may be cut in several ways (0,5 is one number or
    two) is taken in the way that fits, without labels if there is one. Raises Unfitting.
    """
    if len(text) > MOST_CHARACTERS:
        raise Unfitting(f"at most {MOST_CHARACTERS:,} characters", f"{len(text):,}")
    found = list(_readings(text))
    for trimmed in (_as_it_is, _without_blank_ends, _without_labels):
        for given in found:
            cells = trimmed(given, rows, columns)
            if len(cells) == rows and all(len(row) == columns for row in cells) and _odd_cell(cells) is None:
                return cells
    raise _refusal(found[0] if found else [], rows, columns)


def split(text: str) -> Rows:
    """The cells of ``text``, line by line, in the first way to cut it; lines without anything are left out."""
    rows = next(_readings(text), [])
    return [row for row in rows if any(row)]


def _readings(text: str) -> Iterator[Rows]:
    """The ways to cut ``text`` into cells, the likeliest first."""
    text = text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}")
    printed = [part.split() for inner in _INNERMOST.findall(text) for part in inner.replace(",", " ").split(";")]
    if printed and all(map(_are_numbers, printed)):
        yield printed
        return
    lines = text.splitlines()
    said = [line for line in lines if line.strip()]
    with_blanks = [line.split() for line in said]
    if _are_decimal_commas(said):
        yield with_blanks
    marks = [mark for mark in _NAMES if any(mark in line for line in lines)]
    for mark in marks:
        try:
            # a line of marks alone is a row without answers
            between = [line for line in lines if line.strip() or mark in line]
            cut = [[cell.strip() for cell in row] for row in csv.reader(between, delimiter=mark, skipinitialspace=True)]
        except csv.Error as error:
            if mark == marks[-1]:
                raise Unfitting(f"cells between {_NAMES[mark]}", f"what cannot be cut into them ({error})") from error
            continue
        yield cut
        yield [row for row in cut if any(row)]
    yield with_blanks


_NAMES = {"\t": "tabs", ";": "semicolons", ",": "commas"}


def _as_it_is(given: Rows, rows: int, columns: int) -> Rows:
    return given


def _without_blank_ends(given: Rows, rows: int, columns: int) -> Rows:
    """Without what spreadsheets leave at the ends: blank cells after each row, blank rows below."""
    given = [row[:columns] if not any(row[columns:]) else row for row in given]
    return given[:rows] if not any(map(any, given[rows:])) else given


def _without_labels(given: Rows, rows: int, columns: int) -> Rows:
    """Without names above the columns and before the rows; one row or column too many of numbers is no name."""
    if len(given) == rows + 1 and _are_names(given[0][-columns:]):
        given = given[1:]
    if given and all(len(row) == columns + 1 for row in given) and _are_names([row[0] for row in given]):
        given = [row[1:] for row in given]
    return given


def _are_names(cells: list[str]) -> bool:
    """Whether cells at an edge are no answers: words, nothing at all, or places counted from 0 or 1."""
    if not any(cells) or not all(map(_is_number, cells)):
        return True
    return cells in ([str(place) for place in range(first, first + len(cells))] for first in (0, 1))


def _odd_cell(cells: Rows) -> tuple[int, int] | None:
    """The first cell that is neither a number nor blank, counted from 1."""
    texts = {cell for row in cells for cell in row}
    odd = {text for text in texts if not _is_number(text)}
    places = ((r, c) for r, row in enumerate(cells, 1) for c, cell in enumerate(row, 1) if cell in odd)
    return next(places, None) if odd else None


def _is_number(text: str) -> bool:
    try:
        read_cell(text)
    except NotANumber:
        return False
    return True


def _are_numbers(row: list[str]) -> bool:
    return all(map(_is_number, row)) or (len(row) > 1 and "..." in row)


def _are_decimal_commas(lines: list[str]) -> bool:
    """Whether blanks stand between the numbers, and commas within them."""
    body = [cell for line in lines for cell in line.split()]
    commas = [cell for cell in body if "," in cell]
    within = bool(commas) and all(_DECIMAL_COMMA.fullmatch(cell) for cell in commas)
    return within and len(body) > len(lines) and not any("\t" in line or ";" in line for line in lines)


def _refusal(given: Rows, rows: int, columns: int) -> Unfitting:
    """Why ``given`` is no table of so many rows and columns."""
    cells = _without_labels(given, rows, columns)
    if len(cells) == rows and all(len(row) == columns for row in cells) and (odd := _odd_cell(cells)):
        r, c = odd
        return Unfitting(f"a number in row {r}, column {c}", shortened(cells[r - 1][c - 1]))
    return Unfitting(f"{rows} × {columns} numbers", _size([row for row in given if any(row)]))


def _size(rows: Rows) -> str:
    widths = sorted({len(row) for row in rows})
    if not widths:
        return "none"
    return f"{len(rows)} × {' or '.join(map(str, widths))}"
