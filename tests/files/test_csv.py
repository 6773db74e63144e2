"""CSV is written as RFC 4180 says and read back exactly; what is not such a file is refused with its place."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from attn_gui.files import csv_matrix, csv_reader
from attn_gui.files.csv_labels import neutralised, restored
from attn_gui.files.csv_matrix import write_long, write_matrix
from attn_gui.files.csv_reader import read
from attn_gui.files.errors import FileError
from attn_gui.files.layout import Layout
from attn_gui.model.precision import Precision
from tests.files.strategies import tokens

RUN_BY_A_SPREADSHEET = ("=", "+", "-", "@", "\t", "\r")
quick = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def tables(draw: st.DrawFn) -> tuple[Layout, np.ndarray[Any, Any], Precision]:
    rows = tuple(draw(st.lists(tokens, min_size=1, max_size=4)))
    columns = tuple(draw(st.lists(tokens, min_size=1, max_size=4)))
    precision = draw(st.sampled_from(list(Precision)))
    width = {Precision.FLOAT64: 64, Precision.FLOAT32: 32}.get(precision, 16)
    shape = (len(rows), len(columns))
    if precision is Precision.BFLOAT16:
        patterns = draw(hnp.arrays(np.uint16, shape)).astype(np.uint32) << 16
        values = patterns.view(np.float32)
    else:
        values = draw(hnp.arrays(precision.numpy, shape, elements=st.floats(width=width)))
    kinds = draw(st.sampled_from([("query", "key"), ("query", "dimension"), ("key", "dimension")]))
    return Layout(*kinds, rows, columns), values, precision


def run(steps: Any) -> list[float]:
    return list(steps)


def assert_same(read_back: np.ndarray[Any, Any], values: np.ndarray[Any, Any], precision: Precision) -> None:
    as_written = read_back.astype(values.dtype)
    if precision is Precision.BFLOAT16:
        as_written = torch.tensor(read_back).to(torch.bfloat16).float().numpy()
    np.testing.assert_array_equal(as_written, values)
    zeros = values == 0
    np.testing.assert_array_equal(np.signbit(as_written[zeros]), np.signbit(values[zeros]))


@quick
@given(tables())
def test_the_matrix_form_reads_back(tmp_path: Path, table: tuple[Layout, np.ndarray[Any, Any], Precision]) -> None:
    layout, values, precision = table
    path = tmp_path / "a.csv"
    assert run(write_matrix(path, layout, lambda rows: values[rows], precision))[-1] == 1
    found = read(path)
    assert (found.rows, found.columns, found.heads) == (layout.rows, layout.columns, None)
    assert_same(found.values, values, precision)


@quick
@given(tables(), st.sampled_from([("",), ("mean",), ("1", "2", "3")]))
def test_the_long_form_reads_back(
    tmp_path: Path, table: tuple[Layout, np.ndarray[Any, Any], Precision], heads: tuple[str, ...]
) -> None:
    layout, values, precision = table
    path = tmp_path / "a.csv"
    per_head = [np.roll(values, head) for head in range(len(heads))]
    readers = [(name, lambda rows, v=v: v[rows]) for name, v in zip(heads, per_head, strict=True)]
    assert run(write_long(path, layout, readers, precision))[-1] == 1
    found = read(path)
    assert (found.rows, found.columns, found.heads) == (layout.rows, layout.columns, heads)
    assert_same(found.values, np.stack(per_head), precision)


@quick
@given(tables())
def test_any_csv_reader_sees_the_same_cells(
    tmp_path: Path, table: tuple[Layout, np.ndarray[Any, Any], Precision]
) -> None:
    layout, values, precision = table
    path = tmp_path / "a.csv"
    run(write_matrix(path, layout, lambda rows: values[rows], precision))
    header, *body = list(csv.reader(io.StringIO(path.read_bytes().decode("utf-8"), newline=""), strict=True))
    assert [header[0], *map(restored, header[1:])] == [layout.row_kind, *layout.columns]
    assert [restored(record[0]) for record in body] == list(layout.rows)
    assert np.array([record[1:] for record in body]).shape == values.shape
    for label in header + [record[0] for record in body]:
        assert not label.startswith(RUN_BY_A_SPREADSHEET)


def test_the_bytes_of_a_small_table(tmp_path: Path) -> None:
    layout = Layout("query", "key", ("a,b", "=1"), ('say "hi"', "it's", "the", "the"))
    values = np.array([[0.1, -np.inf, 0, 1], [1e-7, 2.5, -3, 1e20]], dtype=np.float32)
    run(write_matrix(tmp_path / "m.csv", layout, lambda rows: values[rows], Precision.FLOAT32))
    assert (tmp_path / "m.csv").read_bytes() == (
        b'query,"say ""hi""",it\'s,the,the\r\n"a,b",0.1,-inf,0,1\r\n\'=1,1e-7,2.5,-3,1e+20\r\n'
    )
    run(write_long(tmp_path / "l.csv", layout, [("2", lambda rows: values[rows])], Precision.FLOAT32))
    assert (tmp_path / "l.csv").read_bytes().splitlines()[:3] == [
        b"head,query_index,query,key_index,key,value",
        b'2,1,"a,b",1,"say ""hi""",0.1',
        b'2,1,"a,b",2,it\'s,-inf',
    ]


@given(tokens)
def test_a_label_is_neutralised_reversibly(label: str) -> None:
    assert restored(neutralised(label)) == label
    assert not neutralised(label).startswith(RUN_BY_A_SPREADSHEET)
    assert neutralised(label) in (label, "'" + label)


def test_an_apostrophe_of_another_program_is_kept() -> None:
    assert restored("'tis") == "'tis"
    assert neutralised("'tis") == "''tis"


def test_progress_rises_in_steps_that_can_be_cancelled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_matrix, "BLOCK_CELLS", 8)
    monkeypatch.setattr(csv_matrix, "LONG_BLOCK_CELLS", 8)
    path = tmp_path / "a.csv"
    path.write_bytes(b"old")
    values = np.zeros((10, 4))
    layout = Layout("query", "key", ("q",) * 10, ("k",) * 4)
    for write in (
        lambda: write_matrix(path, layout, lambda rows: values[rows], Precision.FLOAT64),
        lambda: write_long(path, layout, [("1", lambda rows: values[rows])], Precision.FLOAT64),
    ):
        steps = write()
        assert [next(steps), next(steps)] == [0.2, 0.4]
        steps.close()
        assert path.read_bytes() == b"old"
        assert [p.name for p in tmp_path.iterdir() if p.is_file()] == ["a.csv"]
    assert run(write()) == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])


def test_half_a_surrogate_pair_is_named(tmp_path: Path) -> None:
    layout = Layout("query", "key", ("fine", "bad \ud800"), ("k",))
    with pytest.raises(FileError) as caught:
        run(write_matrix(tmp_path / "a.csv", layout, lambda rows: np.zeros((2, 1))[rows], Precision.FLOAT64))
    assert caught.value.where == "query 2"
    assert not (tmp_path / "a.csv").exists()


GOOD_MATRIX = b"query,a,b\r\nq,1,2\r\nr,3,4\r\n"
GOOD_LONG = (
    b"head,query_index,query,key_index,key,value\r\n1,1,q,1,a,1\r\n1,1,q,2,b,2\r\n2,1,q,1,a,3\r\n2,1,q,2,b,4\r\n"
)


def test_what_a_spreadsheet_saved_again_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD_MATRIX.replace(b"\r\n", b"\n"))
    np.testing.assert_array_equal(read(path).values, [[1, 2], [3, 4]])
    lines = GOOD_LONG.splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], *reversed(lines[1:])]))
    found = read(path)
    assert found.heads == ("2", "1")
    np.testing.assert_array_equal(found.values, [[[3, 4]], [[1, 2]]])


@pytest.mark.parametrize(
    ("data", "where", "words"),
    [
        (b"", "line 1", "an empty file"),
        (b"\r\n", "line 1", "an empty line"),
        (b"PK\x03\x04\x14\x00\x00\x00", "line 1", "seems cut off"),
        (b"\x89PNG\r\n\x1a\n", "line 1, byte 1", "UTF-8"),
        (b"<!DOCTYPE html>\n<p>\n", "line 1", "header"),
        (b"name,age\r\nkarina,3\r\n", "line 1", "query or key"),
        (b"query\r\nq\r\n", "line 1", "and a label"),
        (b"query,a\r\n", "line 1", "at least 1 row"),
        (b"query,a,b\r\nq,1\r\n", "line 2", "3 cells, as in the header, received 2"),
        (b"query,a,b\r\nq,1,2\r\nr,1,2,3\r\n", "line 3", "received 4"),
        (b"query,a\r\nq,1\r\n\r\nr,2\r\n", "line 3", "received 0"),
        (b"query,a,b\r\nq,1,two\r\n", "line 2, column 3", "a number, received 'two'"),
        (b"query,a\r\nq,1_000\r\n", "line 2, column 2", "1_000"),
        (b"query,a\r\nq,1e999\r\n", "line 2, column 2", "1e999"),
        (b"query,a\r\nq,\r\n", "line 2, column 2", "a number"),
        (b"query,a\r\nq,1", "line 2", "seems cut off"),
        (b'query,a\r\n"q,1\r\n', "line 2", "unexpected end"),
        (b'query,a\r\n"q"x,1\r\n', "line 2", "RFC 4180"),
        (b"query,a\r\nq\xff,1\r\n", "line 2, byte 2", "0xff"),
        (b"query,a\rq,1\r\n", "line 1", "RFC 4180"),
        (b"query," + b"x" * 200_000 + b"\r\nq,1\r\n", "line 1", "field limit"),
        (b"head,query,key,value\r\n1,q,a,1\r\n", "line 1", "head,query_index"),
        (GOOD_LONG[:44], "line 1", "at least 1 rows"),
        (GOOD_LONG.replace(b"2,1,q,2,b,4\r\n", b""), "line 4", "4 rows"),
        (GOOD_LONG.replace(b"2,1,q,2,b,4", b"2,1,q,1,a,4"), "head 2, query 1, key 2", "none for this one"),
        (GOOD_LONG.replace(b"2,1,q,2,b,4", b"2,1,q,2,c,4"), "line 5, column 5", "to be 'b'"),
        (GOOD_LONG.replace(b"2,1,q,2,b,4", b"2,1,q,0,b,4"), "line 5, column 4", "whole number from 1"),
        (GOOD_LONG.replace(b"2,1,q,2,b,4", b"2,9,q,2,b,4"), "line 5", "rows (2 heads x 9 query x 2 key)"),
        (GOOD_LONG.replace(b"2,1,q,2,b,4", b"2,999999999,q,2,b,4"), "line 5", "999999999 query"),
    ],
)
def test_what_is_not_such_a_file_is_refused(tmp_path: Path, data: bytes, where: str, words: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(data)
    with pytest.raises(FileError) as caught:
        read(path)
    assert caught.value.path == path
    assert caught.value.where == where
    assert words in str(caught.value)


@pytest.mark.parametrize("data", [GOOD_MATRIX, GOOD_LONG], ids=["matrix", "long"])
def test_a_cut_file_never_gives_other_numbers(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(data)
    whole = read(path).values
    for length in range(len(data)):
        path.write_bytes(data[:length])
        try:
            part = read(path).values
        except FileError:
            continue
        # whole lines can be a smaller table of their own
        assert data[:length].endswith(b"\n")
        np.testing.assert_array_equal(part, whole[tuple(map(slice, part.shape))])


def test_files_that_cannot_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileError, match="does not exist"):
        read(tmp_path / "none.csv")
    with pytest.raises(FileError, match="a folder"):
        read(tmp_path)
    monkeypatch.setattr(csv_reader, "MAX_BYTES", 10)
    (tmp_path / "large.csv").write_bytes(GOOD_MATRIX)
    with pytest.raises(FileError, match="at most 10 bytes"):
        read(tmp_path / "large.csv")
