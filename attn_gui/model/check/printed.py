"""Numbers as somebody printed them: what they are, and how far printing may have moved them."""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass

_NUMBER = re.compile(r"([+-]?)(?:([0-9]+)(?:\.([0-9]*))?|\.([0-9]+))(?:[eE]([+-]?[0-9]{1,3}))?")
_ENDLESS = re.compile(r"([+-]?)(?:inf|infinity|∞)", re.IGNORECASE)
_NO_NUMBER = re.compile(r"[+-]?nan", re.IGNORECASE)
_MARKS = str.maketrans(
    {
        "\N{MINUS SIGN}": "-",
        "\N{EN DASH}": "-",
        "\N{HYPHEN}": "-",
        "\N{NON-BREAKING HYPHEN}": "-",
        "\N{FULLWIDTH HYPHEN-MINUS}": "-",
        "\N{SMALL HYPHEN-MINUS}": "-",
        "\N{FULLWIDTH PLUS SIGN}": "+",
        "\N{FULLWIDTH FULL STOP}": ".",
        "\N{FULLWIDTH COMMA}": ",",
        "\N{ARABIC DECIMAL SEPARATOR}": ".",
        "\N{ARABIC PERCENT SIGN}": "%",
        "\N{FULLWIDTH PERCENT SIGN}": "%",
        "\N{ZERO WIDTH NO-BREAK SPACE}": None,
    }
)
# a whole number of so many digits is a rounded one; a shorter one ("0", "1") is meant exactly
ROUNDED_DIGITS = 3
SHOWN = 24


class NotANumber(ValueError):
    """Text that says no number; the message says so in words."""


@dataclass(frozen=True)
class PrintedNumber:
    """A number and the decimals that it was printed with, fewer than 0 for thousands.

    exact: whether it is a short whole number, which is not taken for the rounding of another: it counts as printed
    with the decimals of its table.
    """

    value: float
    decimals: int
    exact: bool = False


def read_cell(text: str) -> PrintedNumber | None:
    """The number of a cell, None for a blank one.

    A decimal comma, a typographic minus and digits of other scripts are understood, and 22.3 % as 0.223. What programs
    print as nan is an answer, whose value is NaN. Raises NotANumber.
    """
    plain = "".join(text.split()).translate(_MARKS)
    if not plain:
        return None
    if not plain.isascii():
        plain = "".join(str(unicodedata.decimal(c, c)) for c in plain)
    endless = _ENDLESS.fullmatch(plain)
    if endless is not None:
        return PrintedNumber(-math.inf if endless[1] == "-" else math.inf, 0)
    if _NO_NUMBER.fullmatch(plain):
        return PrintedNumber(math.nan, 0)
    percent = plain.endswith("%")
    if plain.count(",") == 1 and "." not in plain:
        plain = plain.replace(",", ".")
    found = _NUMBER.fullmatch(plain.removesuffix("%"))
    if found is None or len(text.removesuffix("%").split()) > 1 or (percent and found[5]):
        raise NotANumber(f"‘{shortened(text)}’ is not a number")
    value = float(f"{plain[:-1]}e-2" if percent else plain)
    if math.isinf(value):
        raise NotANumber(f"‘{shortened(text)}’ is too large for a number")
    _, _, after, alone, exponent = found.groups()
    after = after or alone or ""
    decimals = len(after) + 2 * percent - int(exponent or 0)
    if value == 0:  # as exact as it looks: 0e9 is no rounding of a million
        decimals = max(decimals, len(after))
    short = abs(value) < 10 ** (ROUNDED_DIGITS - 1)
    return PrintedNumber(value, decimals, exact=not after and decimals <= 0 and short)


def shortened(text: str) -> str:
    """``text`` for a message."""
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
