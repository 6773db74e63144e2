"""Labels in CSV: quoted as RFC 4180 says, and never run as a formula by a spreadsheet."""

from __future__ import annotations

# what starts a formula in Excel, LibreOffice or Sheets, the full-width forms among them; tab and line ends are skipped
_STARTS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_ESCAPE = "'"


def neutralised(label: str) -> str:
    """``label`` with an apostrophe before it if a spreadsheet would run it, or if it begins with an apostrophe itself.

    The second makes it reversible: see :func:`restored`.
    """
    return _ESCAPE + label if label.startswith((*_STARTS_A_FORMULA, _ESCAPE)) else label


def restored(cell: str) -> str:
    """The label that :func:`neutralised` was given. An apostrophe that it would not have written is left alone."""
    escaped = cell.startswith(_ESCAPE) and cell[1:].startswith((*_STARTS_A_FORMULA, _ESCAPE))
    return cell[1:] if escaped else cell


def quoted(label: str) -> bytes:
    """``label``, neutralised, as one cell; raises UnicodeEncodeError for half a surrogate pair."""
    cell = neutralised(label)
    if any(mark in cell for mark in ',"\r\n') or cell != cell.strip():
        cell = '"' + cell.replace('"', '""') + '"'
    return cell.encode("utf-8")
