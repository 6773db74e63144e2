"""Tables: every array of numbers that an experiment is given besides its tokens, by name, to read and to replace.

After the projections and their biases (or what was given: Q, K, V, scores, weights) come the arrays of the scoring's
parts, the sinks and the appended keys. An array with an axis of heads is a table of its heads one below another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.given import Given
from attn_gui.model.mapped import fetched, file_of, is_mapped
from attn_gui.model.named_table import Axis, NamedTable, always, as_array, as_table, numbered
from attn_gui.model.part_tables import tables_of_scoring
from attn_gui.model.sources import AppendedKey, FromTokens, GivenSource, with_parts
from attn_gui.model.table import Table, floats
from attn_gui.model.weights import BIASES, Weights

# of a table that has to be converted from another type of number, or read from a file
MOST_CELLS = 1 << 20


def tables_of(experiment: Experiment) -> tuple[NamedTable, ...]:
    """Every table of ``experiment``, those of its source first; nothing large is copied."""
    return (*source_tables(experiment), *tables_of_scoring(experiment), *_of_appended(experiment))


def source_tables(experiment: Experiment) -> tuple[NamedTable, ...]:
    """The projections and their biases, or what was given, without what is too large to be edited as a table."""
    e = experiment
    if isinstance(e.source, FromTokens):
        return tuple(_of_weights(e, e.source.weights, name, table) for name, table in e.source.weights.items())
    return tuple(_given(e, e.source, name) for name, array in e.source.parts().items() if _is_editable(array))


def _is_editable(array: Given) -> bool:
    """Whether it is a table as it is, or can be made one at once."""
    file = file_of(array)
    if file is None:
        return array.size <= MOST_CELLS or array.dtype == np.float64
    return array.size <= MOST_CELLS and not file.is_changed


def table_named(experiment: Experiment, name: str) -> NamedTable:
    """The table called ``name``; raises ExperimentError."""
    for found in tables_of(experiment):
        if found.name == name:
            return found
    raise ExperimentError(name, "a table of this experiment", "none by that name")


def with_table(experiment: Experiment, name: str, table: Table) -> Experiment:
    """With the table called ``name`` replaced by one of its shape; raises ExperimentError."""
    found = table_named(experiment, name)
    if table.shape != found.table.shape:
        raise ExperimentError(found.title, f"shape {found.table.shape}", f"shape {table.shape}")
    return found.replaced(table)


def with_table_cells(
    experiment: Experiment, name: str, rows: ArrayLike, columns: ArrayLike, values: ArrayLike
) -> Experiment:
    """With cells of the table called ``name`` replaced; ``rows``, ``columns`` and ``values`` broadcast together.

    Raises ExperimentError for a value that is not finite, naming the cell.
    """
    found = table_named(experiment, name)
    numbers = floats(values, found.title)
    if not np.isfinite(numbers).all():
        r, c, v = (array.ravel() for array in np.broadcast_arrays(rows, columns, numbers))
        at = int(np.argmin(np.isfinite(v)))
        cell = f"{found.title}, {found.row_name(int(r[at]))}, {found.column_name(int(c[at]))}"
        raise ExperimentError(cell, "a finite number", str(v[at]))
    return found.replaced(found.table.with_cells(rows, columns, numbers))


def _of_weights(e: Experiment, weights: Weights, name: str, table: Table) -> NamedTable:
    letter = name[-1]
    parts = {"Q": e.heads, "K": e.kv_heads, "V": e.kv_heads, "O": 1}[letter]
    columns = Axis(numbered(letter.lower()), parts)
    if name in BIASES:
        rows = Axis(always(name))
    elif name == "W_O":
        rows = Axis(numbered("v"), e.heads)
    else:
        values = e.present_keys if e.values is None else e.values
        rows = Axis({"Q": e.tokens, "K": e.present_keys, "V": values}[letter].dimension_name)

    def replaced(other: Table) -> Experiment:
        return replace(e, source=FromTokens(weights.with_table(name, other)))

    return NamedTable(name, name, table, rows, columns, replaced)


def _given(e: Experiment, source: GivenSource, name: str) -> NamedTable:
    array = source.parts()[name]  # [heads or kv_heads, tokens, size or keys]
    keys = e.key_rows.tokens
    tokens = keys if name in "KV" else e.tokens.tokens

    def replaced(table: Table) -> Experiment:
        return replace(e, source=with_parts(source, {name: as_array(table, array.shape)}))

    # what is shown of a table does not ask whether the file is still the same
    cells = np.array(fetched(array)) if is_mapped(array) else array
    called = keys.__getitem__ if name in "AN" else numbered(name.lower())
    rows, columns = Axis(tokens.__getitem__, len(array)), Axis(called)
    return NamedTable(name, name, as_table(cells), rows, columns, replaced, f"{name}, given")


def _of_appended(e: Experiment) -> Iterator[NamedTable]:
    if not e.appended:
        return
    names = Axis(tuple(key.name for key in e.appended).__getitem__)
    for letter, title in (("K", "Appended keys"), ("V", "Appended values")):
        rows: list[Table] = [getattr(key, letter) for key in e.appended]
        table = rows[0] if len(rows) == 1 else Table.of(np.concatenate([row.array() for row in rows]))
        columns = Axis(numbered(letter.lower()), e.kv_heads)
        about = "No token’s: every query may attend to them"
        yield NamedTable(f"appended {letter}", title, table, names, columns, _appended_put(e, letter), about)


def _appended_put(e: Experiment, letter: str) -> Callable[[Table], Experiment]:
    def changed(key: AppendedKey, row: Table) -> AppendedKey:
        tables: dict[str, Any] = {letter: row}
        return replace(key, **tables)

    def replaced(table: Table) -> Experiment:
        rows = [Table.of(table.rows(place, place + 1)) for place in range(len(table))]
        return replace(e, appended=tuple(changed(key, row) for key, row in zip(e.appended, rows, strict=True)))

    return replaced
