"""Tables that ship with an example, and CSV files with printed decimals."""

from __future__ import annotations

from pathlib import Path

import pytest

from attn_gui.compute.trace import trace
from attn_gui.files import answers, examples
from attn_gui.files.errors import FileError
from attn_gui.files.export import export_stage
from attn_gui.model.check import GivenTable


def test_karina_ships_with_the_tables_that_were_printed_of_it() -> None:
    shipped = answers.printed_tables("Karina")
    assert shipped is not None and shipped.title == "Karina’s printed tables"
    e = examples.load("karina").experiment
    assert [(table.stage, table.head, table.shape) for table in shipped.tables] == [
        ("A", 0, (5, 5)),
        ("N", 0, (5, 5)),
        ("output", 0, (5, 2)),
    ]
    assert all(table.printed().decimals.min() == 2 for table in shipped.tables)
    assert e.n_q == 5
    assert answers.printed_tables("Animal") is None


@pytest.mark.parametrize("ending", ["csv", "txt"])
def test_decimals_are_kept_as_they_were_written(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"mine.{ending}"
    path.write_text("query,a,b\nx,0.50,0.5\ny,,1\n", encoding="utf-8")
    assert answers.read_cells(path, (2, 2), 0) == [["0.50", "0.5"], ["", "1"]]


def test_a_file_with_a_byte_order_mark_and_decimal_commas(tmp_path: Path) -> None:
    path = tmp_path / "excel.csv"
    path.write_bytes("\ufeff0,50;0,25\r\n".encode())
    assert answers.read_cells(path, (1, 2), 0) == [["0,50", "0,25"]]


def test_the_long_form_gives_the_head_that_is_wanted(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    lines = ["head,query_index,query,key_index,key,value"]
    lines += [f"{head},1,a,{key},k,0.{head}{key}" for head in (1, 2) for key in (1, 2)]
    path.write_bytes("\r\n".join([*lines, ""]).encode())
    assert answers.read_cells(path, (1, 2), 1) == [["0.21", "0.22"]]
    with pytest.raises(FileError, match="head 3"):
        answers.read_cells(path, (1, 2), 2)


def test_what_the_program_exports_is_right(tmp_path: Path) -> None:
    from attn_gui.compute.check import check

    traced = trace(examples.load("karina").experiment)
    path = tmp_path / "N.csv"
    for form in ("csv", "csv-long"):
        for _ in export_stage(traced, "N", 0, path, form):
            pass
        cells = answers.read_cells(path, (5, 5), 0)
        assert check(traced, [GivenTable.of("N", 0, cells)])[0].is_right, form


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"1,2,3\n", "expected 2 × 2 numbers, received 1 × 3"),
        (b"\xff\xfe", "expected UTF-8 text, received 0xff"),
        (b"", "received none"),
    ],
)
def test_a_file_that_holds_no_such_table_is_refused_in_words(tmp_path: Path, data: bytes, expected: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes(data)
    with pytest.raises(FileError) as refused:
        answers.read_cells(path, (2, 2), 0)
    assert expected in str(refused.value)


def test_a_file_that_is_not_there_or_too_large_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="does not exist"):
        answers.read_cells(tmp_path / "none.csv", (1, 1), 0)
    large = tmp_path / "large.csv"
    large.write_bytes(b"1" * (answers.MAX_BYTES + 1))
    with pytest.raises(FileError, match="at most"):
        answers.read_cells(large, (1, 1), 0)
