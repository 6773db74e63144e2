"""Where a table differs between two states of the document, so that an undo shows what it changed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attn_gui.model.table import Table
from attn_gui.model.tokens import TokenSequence
from attn_gui.views.cell_ranges import CellRange, around
from attn_gui.views.token_changes import changed_cells, changed_columns, changed_entries, changed_rows


def changed_tokens(before: TokenSequence, after: TokenSequence, columns_shown: Sequence[str]) -> CellRange | None:
    """The block of ``after`` that differs, with the name in column 0 and the dimensions from 1 on.

    None where nothing that is there differs, and where it is another table altogether. ``columns_shown``: the names of
    the per-token columns that follow the dimensions.
    """
    if before is after:
        return None
    rows, columns = len(after) - 1, after.width
    if len(before) == len(after) and before.width == after.width:
        return _changed_within(before, after, columns_shown)
    if before.width == after.width:
        change = changed_rows(before, after)
        if not 0 < change.inserted <= rows:
            return None
        return CellRange(change.first, 0, change.first + change.inserted - 1, columns)
    if len(before) != len(after):
        return None
    change = changed_columns(before, after)
    if not 0 < change.inserted < columns:
        return None
    return CellRange(0, change.first + 1, rows, change.first + change.inserted)


def changed_numbers(before: Table | None, after: Table | None) -> CellRange | None:
    """The block that differs; None where nothing does, and where the shape does."""
    if before is None or after is None or before is after:
        return None
    if (len(before), before.width) != (len(after), after.width):
        return None
    cells = changed_cells(before, after)
    return None if cells is None else CellRange(cells.top, cells.left, cells.bottom, cells.right)


def _changed_within(before: TokenSequence, after: TokenSequence, columns_shown: Sequence[str]) -> CellRange | None:
    found = []
    names = changed_entries(before.tokens, after.tokens)
    if names is not None:
        found.append(CellRange(names[0], 0, names[1], 0))
    cells = changed_numbers(before.embeddings, after.embeddings)
    if cells is not None:
        found.append(CellRange(cells.top, cells.left + 1, cells.bottom, cells.right + 1))
    dimensions = changed_entries(before.dimensions, after.dimensions)
    if dimensions is not None:
        found.append(CellRange(0, dimensions[0] + 1, len(after) - 1, dimensions[1] + 1))
    for place, name in enumerate(columns_shown, start=after.width + 1):
        rows = np.flatnonzero(before.column(name) != after.column(name))
        if rows.size:
            found.append(CellRange(int(rows[0]), place, int(rows[-1]), place))
    return around(found) if found else None
