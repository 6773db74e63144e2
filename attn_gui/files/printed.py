"""Numbers as people paste them: tables between tabs or commas, or what numpy and torch print.

Several tables, one below another with an empty line between them, are the heads. Labels around a table are left out.
Printing cuts numbers off, so each cell comes with half of its last place.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from attn_gui.model.precision import Precision
from attn_gui.model.question import Numbers

MOST_CHARACTERS = 1 << 22
# as many as numpy and torch print
MOST_AXES = 64
LABELS = ("query", "key")

_CALL = re.compile(r"\b(?:np\.|numpy\.|torch\.)?(?:array|tensor|Tensor)\s*\(")
_ARGUMENT = re.compile(r",\s*(?:dtype|device|requires_grad|grad_fn)\s*=\s*(?:<[^>]*>|'[^']*'|[\w.]+)")
_NUMBER = re.compile(r"([+-]?)(?:([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,4}))?)")
_WORDS = {"nan": math.nan, "inf": math.inf, "infinity": math.inf, "∞": math.inf}
_TOKEN = re.compile(r"\[|\]|[^\s\[\],]+")
_ELLIPSIS = ("...", "…")


class Unreadable(ValueError):
    """Text that is no table of numbers; the message says where and why."""


def numbers_in(text: str) -> Numbers:
    """The numbers of ``text``: [rows, columns], or [tables, rows, columns]. Raises Unreadable."""
    if len(text) > MOST_CHARACTERS:
        raise Unreadable(f"{len(text):,} characters; a file is better for so many")
    text = text.replace("\N{MINUS SIGN}", "-").replace("\r\n", "\n").replace("\r", "\n")
    cells = _nested(text) if "[" in text else _tables(text)
    values = np.empty(cells.shape)
    decimals, digits = np.zeros(cells.shape, int), np.zeros(cells.shape, int)
    for place in np.ndindex(*cells.shape):
        values[place], decimals[place], digits[place] = cells[place]
    return Numbers(values, Precision.FLOAT64, _half_units(decimals, digits))


def _half_units(decimals: np.ndarray[Any, Any], digits: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
    """Half of the last place of each cell; None where all are whole numbers.

    A cell with as many digits as any ends where it ends; a shorter one has lost zeros at its end, and is as exact as
    the cell with the most decimals.
    """
    if (decimals <= 0).all():
        return None
    places = np.where(digits >= digits.max(), decimals, decimals.max())
    # "0e9999" is a number too, and what half of its last place is does not matter
    half: np.ndarray[Any, Any] = 0.5 * 10.0 ** -np.clip(places, -300, 400)
    return half


def _nested(text: str) -> np.ndarray[Any, Any]:
    """Numbers in brackets, as Python, numpy and torch print them."""
    bare = _ARGUMENT.sub("", _CALL.sub("", text)).replace("(", " ").replace(")", " ")
    root: list[Any] = []
    open_lists = [root]
    for token in _TOKEN.findall(bare):
        if token == "[":
            inner: list[Any] = []
            open_lists[-1].append(inner)
            open_lists.append(inner)
        elif token == "]":
            if len(open_lists) == 1:
                raise Unreadable("a closing bracket without an opening one")
            open_lists.pop()
        elif token in _ELLIPSIS:
            full = "np.set_printoptions(threshold=np.inf) or torch.set_printoptions(profile='full')"
            raise Unreadable(f"the print was shortened (…): print it in full, by {full}")
        else:
            open_lists[-1].append(_cell(token, None))
    if len(open_lists) > 1:
        raise Unreadable("an opening bracket without a closing one")
    tree: Any = root[0] if len(root) == 1 else root
    return _filled(tree)


def _filled(tree: Any) -> np.ndarray[Any, Any]:
    shape: list[int] = []
    level = [tree]
    while all(isinstance(each, list) for each in level):
        if len(shape) == MOST_AXES:
            raise Unreadable(f"brackets in more than {MOST_AXES} brackets")
        lengths = {len(each) for each in level}
        if len(lengths) > 1 or 0 in lengths:
            raise Unreadable(f"lists of {' and '.join(map(str, sorted(lengths)))} numbers side by side")
        shape.append(lengths.pop())
        level = [inner for each in level for inner in each]
    if any(isinstance(each, list) for each in level):
        raise Unreadable("numbers and lists side by side")
    while len(shape) > 3 and shape[0] == 1:
        shape.pop(0)
    if len(shape) == 1:  # a single query
        shape.insert(0, 1)
    if len(shape) not in (2, 3):
        raise Unreadable(f"a table, or several, was expected; this has {len(shape)} axes")
    filled = np.empty(len(level), dtype=object)
    filled[:] = level
    return filled.reshape(shape)


def _tables(text: str) -> np.ndarray[Any, Any]:
    """Tables of lines, with an empty line between two of them."""
    mark = next((mark for mark in ("\t", ";", ",") if mark in text), None)
    if mark == "," and _are_decimal_commas(text):
        mark = None
    tables: list[list[tuple[int, list[str]]]] = [[]]
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            cells = line.split() if mark is None else [cell.strip().strip('"') for cell in line.split(mark)]
            tables[-1].append((number, cells))
        elif tables[-1]:
            tables.append([])
    read = [_table(table, mark != ",") for table in tables if table]
    if not read:
        raise Unreadable("no number")
    shapes = {(len(table), len(table[0])) for table in read}
    if len(shapes) > 1:
        raise Unreadable("tables of " + " and ".join(f"{rows} × {columns}" for rows, columns in sorted(shapes)))
    return _filled(read[0] if len(read) == 1 else read)


def _are_decimal_commas(text: str) -> bool:
    """Whether blanks stand between the numbers, and commas within them."""
    lines = [line.split() for line in text.split("\n")]
    return any(len(cells) > 1 for cells in lines) and all(_is_number(cell) for cells in lines for cell in cells)


def _table(lines: Sequence[tuple[int, list[str]]], comma: bool) -> list[list[Any]]:
    lines, first_column = _without_labels(lines)
    rows = []
    for number, cells in lines:
        if len(cells) != len(lines[0][1]):
            first = lines[0]
            numbers = "1 number" if len(cells) == 1 else f"{len(cells)} numbers"
            raise Unreadable(f"line {number} has {numbers}, line {first[0]} has {len(first[1])}")
        places = enumerate(cells, start=first_column)
        rows.append([_cell(cell, f"line {number}, column {at}", comma) for at, cell in places])
    return rows


def _without_labels(lines: Sequence[tuple[int, list[str]]]) -> tuple[Sequence[tuple[int, list[str]]], int]:
    """Without a line of labels above and a column of labels before the numbers; and the first column that is left."""
    above = lines[0][1]
    named = len(lines) > 1 and above[0].lower() in LABELS
    headed = named or (len(lines) > 1 and not any(map(_is_number, above[1:] or above)))
    body = lines[1:] if headed else lines
    first_are_labels = named or not any(_is_number(cells[0]) for _, cells in body)
    if first_are_labels and all(len(cells) > 1 for _, cells in body):
        return [(number, cells[1:]) for number, cells in body], 2
    return body, 1


def _is_number(cell: str) -> bool:
    try:
        _cell(cell, None, True)
    except Unreadable:
        return False
    return True


def _cell(text: str, where: str | None, comma: bool = False) -> tuple[float, int, int]:
    """The number, how many decimals it was printed with (fewer than 0 for thousands), and how many digits."""
    sign = -1.0 if text.startswith("-") else 1.0
    word = _WORDS.get(text.lstrip("+-").lower())
    if word is not None:
        return sign * word, 0, 0
    plain = text.replace(",", ".") if comma and text.count(",") == 1 and "." not in text else text
    found = _NUMBER.fullmatch(plain)
    if found is None or not (found[2] or found[3]):
        raise Unreadable(f"{where + ': ' if where else ''}‘{_shown(text)}’ is not a number")
    number = float(plain)
    if math.isinf(number):
        raise Unreadable(f"{where + ': ' if where else ''}‘{_shown(text)}’ is larger than any number of float64")
    decimals = len(found[3] or "") - int(found[4] or 0)
    digits = len(((found[2] or "") + (found[3] or "")).lstrip("0"))
    return number, decimals, digits


def _shown(text: str) -> str:
    return text if len(text) <= 24 else text[:23] + "…"
