"""Blocks of cells as text: tab separated, as Excel, LibreOffice and Sheets put them on the clipboard."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence

# None: a cell that stays as it is
Block = Sequence[Sequence[str | None]]

SHOWN_CHARACTERS = 24

_LINE_END = re.compile(r"\r\n|\n|\r")
_CELL = re.compile(r'"([^"]*(?:""[^"]*)*)"(?=[\t\r\n]|\Z)|([^\t\r\n]*)')
_POINT = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_COMMA = re.compile(r"[+-]?(?:[0-9]+,[0-9]*|,[0-9]+)(?:[eE][+-]?[0-9]+)?")
_COMMA_GROUPS = re.compile(r"[+-]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?")
_POINT_GROUPS = re.compile(r"[+-]?[0-9]{1,3}(?:\.[0-9]{3})+(?:,[0-9]*)?")
_SPACE_GROUPS = re.compile(r"[+-]?[0-9]{1,3}(?:[ \u00a0\u202f][0-9]{3})+(?:[.,][0-9]*)?")
_EITHER = re.compile(r"[+-]?[1-9][0-9]{0,2}[.,][0-9]{3}")
_NOT_ZERO = re.compile(r"[^eE]*[1-9]")
_MARKS = str.maketrans(
    {
        "\N{MINUS SIGN}": "-",
        "\N{FULLWIDTH HYPHEN-MINUS}": "-",
        "\N{FULLWIDTH PLUS SIGN}": "+",
        "\N{FULLWIDTH FULL STOP}": ".",
        "\N{ARABIC DECIMAL SEPARATOR}": ".",
    }
)
_NOT_FINITE = ("nan", "inf", "infinity", "∞")


class Refused(ValueError):
    """A cell of a block, counted from 0 within it, that cannot be taken; the message is the reason."""

    def __init__(self, row: int, column: int, reason: str) -> None:
        super().__init__(reason)
        self.row = row
        self.column = column


def to_text(block: Sequence[Sequence[str]]) -> str:
    """``block`` as tab-separated lines; a cell with a tab, a line end or a leading quote is quoted."""
    text = "\n".join(_line(row) for row in block)
    # a last line with nothing in it would be taken for the end of the one before
    return text + "\n" if len(block) > 1 and list(block[-1]) == [""] else text


def from_text(text: str) -> list[list[str]]:
    """The cells of tab-separated ``text``; rows may differ in length. One line end at the end is not a row."""
    if '"' not in text:
        lines = _LINE_END.split(text)
        if len(lines) > 1 and not lines[-1]:
            lines.pop()
        return [line.split("\t") for line in lines]
    rows: list[list[str]] = [[]]
    at = 0
    while True:
        found = _CELL.match(text, at)
        assert found is not None  # the second alternative matches anything
        quoted = found.group(1)
        rows[-1].append(found.group(2) if quoted is None else quoted.replace('""', '"'))
        at = found.end()
        if at < len(text) and text[at] == "\t":
            at += 1
            continue
        end = _LINE_END.match(text, at)
        if end is None or end.end() == len(text):
            return rows
        at = end.end()
        rows.append([])


def ragged(block: Block) -> str | None:
    """Why ``block`` is no rectangle, or None."""
    for index, row in enumerate(block):
        if len(row) != len(block[0]):
            return f"row {index + 1} of the block has {_cells(len(row))}, row 1 has {_cells(len(block[0]))}"
    return None


def read_numbers(block: Block) -> list[list[float | None]]:
    """The numbers of ``block``, None where it has None; raises :class:`Refused` at the first cell that holds none.

    A decimal comma is understood where it can be nothing else (0,5), and 1,234 where other cells of the block settle
    what its comma is. Thousands may be grouped. What is not finite is refused.
    """
    read = _read_distinct({cell for row in block for cell in row if cell is not None})
    numbers: list[list[float | None]] = []
    for r, row in enumerate(block):
        line: list[float | None] = []
        for c, given in enumerate(row):
            number = None if given is None else read[given]
            if isinstance(number, ValueError):
                raise Refused(r, c, str(number))
            line.append(number)
        numbers.append(line)
    return numbers


def quoted_short(text: str) -> str:
    """``text`` in quotes for a message, cut where it is long."""
    return f"'{text}'" if len(text) <= SHOWN_CHARACTERS else f"'{text[: SHOWN_CHARACTERS - 1]}…'"


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count} cells"


def _read_distinct(cells: set[str]) -> dict[str, float | ValueError]:
    """What each of ``cells``, all those of one block, says, or why it says no number."""
    if all(map(_POINT.fullmatch, cells)):
        plain = {cell: float(cell) for cell in cells}
        extremes = [cell for cell, number in plain.items() if not number or math.isinf(number)]
        if not any(_is_out_of_range(cell, plain[cell]) for cell in extremes):
            return dict(plain)
    bare = {cell: _plain(cell) for cell in cells}
    marks = {_decimal_mark(cell) for cell in bare.values()} - {""}
    mark = marks.pop() if len(marks) == 1 else None
    read: dict[str, float | ValueError] = {}
    for text, cell in bare.items():
        try:
            read[text] = _number(cell, mark)
        except ValueError as error:
            read[text] = error
    return read


def _line(row: Sequence[str]) -> str:
    line = "\t".join(row)
    plain = line.count("\t") == len(row) - 1 and not any(mark in line for mark in '"\r\n')
    return line if plain else "\t".join(_quoted(cell) for cell in row)


def _quoted(cell: str) -> str:
    if cell.startswith('"') or any(mark in cell for mark in "\t\r\n"):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def _plain(text: str) -> str:
    """``text`` without what only decorates a number: outer blanks, a typographic minus, blanks between thousands.

    Digits of other scripts, and the marks that come with them, become those of ASCII.
    """
    text = text.strip().translate(_MARKS)
    if not text.isascii():
        text = "".join(str(unicodedata.decimal(c, c)) for c in text)
    return re.sub(r"[ \u00a0\u202f]", "", text) if _SPACE_GROUPS.fullmatch(text) else text


def _decimal_mark(cell: str) -> str:
    """The decimal mark that ``cell`` must have been written with, "" if it may be either or has none."""
    if ("," not in cell and "." not in cell) or _EITHER.fullmatch(cell):
        return ""
    if _POINT.fullmatch(cell):
        return "."
    if _COMMA.fullmatch(cell):
        return ","
    if _COMMA_GROUPS.fullmatch(cell):
        return "."
    return "," if _POINT_GROUPS.fullmatch(cell) else ""


def _number(cell: str, mark: str | None) -> float:
    """The number that ``cell`` says, ``mark`` being the decimal mark of its block where that is known."""
    if not cell:
        raise ValueError("a number is missing")
    if _EITHER.fullmatch(cell) and (mark == "," or "," in cell):
        if mark is None or ("." in cell and mark == ","):
            digits = re.sub("[.,]", "", cell)
            raise ValueError(f"'{cell}' could be {cell.replace(',', '.')} or {digits}")
        text = cell.replace(",", ".") if mark == "," else cell.replace(",", "")
    elif _POINT.fullmatch(cell):
        text = cell
    elif _COMMA.fullmatch(cell):
        text = cell.replace(",", ".")
    elif _COMMA_GROUPS.fullmatch(cell):
        text = cell.replace(",", "")
    elif _POINT_GROUPS.fullmatch(cell):
        text = cell.replace(".", "").replace(",", ".")
    elif cell.lstrip("+-").lower() in _NOT_FINITE:
        raise ValueError(f"'{cell}' is not a finite number")
    else:
        raise ValueError(f"{quoted_short(cell)} is not a number")
    number = float(text)
    if _is_out_of_range(text, number):
        raise ValueError(f"{quoted_short(cell)} is too {'small' if number == 0 else 'large'} for a number")
    return number


def _is_out_of_range(text: str, number: float) -> bool:
    """Whether ``number``, read from ``text``, is infinite, or 0 where the text is not."""
    return math.isinf(number) or (number == 0 and _NOT_ZERO.match(text) is not None)
