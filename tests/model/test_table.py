"""Table against plain numpy under random edits; unchanged chunks are shared."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.model import table as table_module
from attn_gui.model.errors import ExperimentError
from attn_gui.model.table import CHUNK_BYTES, Table, frozen

Array = np.ndarray[Any, Any]


def edit(data: st.DataObject, table: Table, plain: Array) -> tuple[Table, Array]:
    """One random edit of both."""
    rows, columns = plain.shape
    kind = data.draw(st.sampled_from(["cells", "insert", "delete", "move", "columns"]))
    if kind == "cells" and rows and columns:
        count = data.draw(st.integers(0, 5))
        cells = data.draw(
            st.lists(st.tuples(st.integers(0, rows - 1), st.integers(0, columns - 1)), min_size=count, max_size=count)
        )
        values = np.arange(len(cells)) + 0.5
        changed = plain.copy()
        for (r, c), value in zip(cells, values, strict=True):
            changed[r, c] = value
        return table.with_cells([r for r, _ in cells], [c for _, c in cells], values), changed
    if kind == "insert":
        at, block = data.draw(st.integers(0, rows)), np.full((data.draw(st.integers(0, 7)), columns), 7.0)
        return table.with_rows_inserted(at, block), np.insert(plain, at, block, axis=0)
    if kind == "delete":
        gone = data.draw(st.lists(st.integers(0, max(0, rows - 1)), max_size=4)) if rows else []
        return table.without_rows(gone), np.delete(plain, gone, axis=0)
    if kind == "move" and rows:
        start = data.draw(st.integers(0, rows - 1))
        count = data.draw(st.integers(1, rows - start))
        to = data.draw(st.integers(0, rows - count))
        rest = np.delete(plain, range(start, start + count), axis=0)
        moved = np.concatenate([rest[:to], plain[start : start + count], rest[to:]])
        return table.with_rows_moved(start, count, to), moved
    if kind == "columns":
        place = st.one_of(st.none(), st.integers(0, columns - 1)) if columns else st.none()
        order = data.draw(st.lists(place, min_size=1, max_size=5))
        changed = np.stack([np.zeros(rows) if c is None else plain[:, c] for c in order], axis=1)
        return table.with_columns(order), changed
    return table, plain


@given(st.integers(0, 12), st.integers(0, 4), st.data())
def test_edits_do_what_numpy_does(rows: int, columns: int, data: st.DataObject) -> None:
    with patch.object(table_module, "CHUNK_BYTES", 64):  # a few rows a chunk
        plain = np.arange(float(rows * columns)).reshape(rows, columns)
        table = Table.of(plain)
        for _ in range(data.draw(st.integers(1, 6))):
            before, old = table, plain
            table, plain = edit(data, table, plain)
            assert np.array_equal(before.array(), old)  # the version before stays what it was
            assert table.shape == plain.shape
            assert len(table) == len(plain)
            assert np.array_equal(table.array(), plain)
            assert not table.array().flags.writeable
            assert all(len(chunk) and not chunk.flags.writeable for chunk in table.chunks)
            start = data.draw(st.integers(0, len(plain)))
            stop = data.draw(st.integers(start, len(plain)))
            assert np.array_equal(table.rows(start, stop), plain[start:stop])
            assert table.same_as(Table.of(plain))
            if plain.size:
                r, c = data.draw(st.integers(0, len(plain) - 1)), data.draw(st.integers(0, plain.shape[1] - 1))
                assert table[r, c] == plain[r, c]
                assert not table.same_as(table.with_cells(r, c, plain[r, c] + 1))


def test_one_cell_of_a_large_table_costs_one_chunk() -> None:
    table = Table.of(np.zeros((131_072, 64)))
    edited = table.with_cells(70_000, 3, 1.0)
    kept = {id(chunk) for chunk in table.chunks}
    new = [chunk for chunk in edited.chunks if id(chunk) not in kept]
    assert len(new) == 1
    assert new[0].nbytes <= CHUNK_BYTES
    assert edited[70_000, 3] == 1.0
    assert table[70_000, 3] == 0.0


@pytest.mark.parametrize("what", ["insert", "delete", "move"])
def test_chunks_that_an_edit_leaves_alone_are_shared(what: str) -> None:
    table = Table.of(np.random.RandomState(0).standard_normal((20_000, 8)))
    edited = {
        "insert": lambda: table.with_rows_inserted(10_000, np.ones((1, 8))),
        "delete": lambda: table.without_rows([10_000]),
        "move": lambda: table.with_rows_moved(10_000, 1, 500),
    }[what]()
    kept = {id(chunk) for chunk in table.chunks}
    shared = sum(id(chunk) in kept for chunk in edited.chunks)
    assert len(table.chunks) > 10
    assert shared >= len(table.chunks) - 2


def test_deleting_many_rows_of_a_large_table_takes_no_time_to_speak_of() -> None:
    table = Table.of(np.zeros((131_072, 64)))
    with patch.object(table_module, "frozen", wraps=frozen) as cuts:
        assert len(table.without_rows(range(65_536))) == 65_536
    assert cuts.call_count <= 1


@pytest.mark.parametrize(("row", "column"), [(-1, 0), (3, 0), (0, -1), (0, 2)])
def test_cells_that_are_not_there(row: int, column: int) -> None:
    table = Table.of(np.zeros((3, 2)))
    with pytest.raises(IndexError):
        table.with_cells(row, column, 1.0)
    if column == 0:
        with pytest.raises(IndexError, match=f"row {row} of a table of 3"):
            table[row, column]


def test_shapes_that_are_not_tables() -> None:
    with pytest.raises(
        ExperimentError, match=r"table: expected 2 axes \(rows, columns\), received 1 with shape \(3,\)"
    ):
        Table.of([1.0, 2.0, 3.0])
    with pytest.raises(ExperimentError, match=r"rows: expected shape \(count, 2\), received shape \(1, 4\)"):
        Table.of(np.zeros((3, 2))).with_rows_inserted(0, np.zeros((1, 4)))


def test_a_table_without_columns_has_rows_all_the_same() -> None:
    table = Table.of(np.empty((3, 0))).with_rows_inserted(1, np.empty((2, 0)))
    assert table.shape == (5, 0)


def test_a_nan_is_the_same_as_a_nan() -> None:
    a = Table.of([[np.nan, 1.0]])
    assert a.same_as(Table.of([[np.nan, 1.0]]))
    assert not a.same_as(Table.of([[1.0, np.nan]]))


def test_what_came_in_cannot_be_changed_from_outside() -> None:
    outside = np.zeros((2, 2))
    window = outside[:1]
    window.flags.writeable = False  # read-only, but its owner is not
    for given_array in (outside, window, outside.T):
        kept = frozen(given_array)
        outside[0, 0] += 1
        assert kept[0, 0] == outside[0, 0] - 1
        assert not kept.flags.writeable
        assert kept.flags.c_contiguous
    table = Table.of(outside)
    outside[0, 0] = 99
    assert table[0, 0] != 99


def test_what_nobody_can_change_is_not_copied() -> None:
    closed = frozen([[1.0, 2.0]])
    assert frozen(closed) is closed
    assert np.shares_memory(frozen(closed[:, :1].reshape(1, 1)), closed)
    assert frozen(np.array([[1, 2]], dtype=np.float32)).dtype == np.float64
