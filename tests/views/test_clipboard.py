"""Blocks as text, and the numbers in them."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.views.clipboard import Refused, from_text, quoted_short, ragged, read_numbers, to_text

blocks = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(st.text(max_size=8), min_size=width, max_size=width), min_size=1, max_size=4)
)


@given(blocks)
def test_a_block_comes_back_from_its_text(block: list[list[str]]) -> None:
    assert from_text(to_text(block)) == block


@given(st.lists(st.lists(st.text("ab\t\n\r\" '", max_size=6), min_size=2, max_size=2), min_size=1, max_size=4))
def test_other_programs_read_what_is_copied(block: list[list[str]]) -> None:
    read = list(csv.reader(io.StringIO(to_text(block), newline=""), delimiter="\t"))
    assert read == block


@pytest.mark.parametrize(
    ("text", "block"),
    [
        ("1\t2\r\n3\t4\r\n", [["1", "2"], ["3", "4"]]),  # Excel
        ("1\t2\n3\t4", [["1", "2"], ["3", "4"]]),  # LibreOffice
        ("1", [["1"]]),
        ("", [[""]]),
        ("1\t\n\t4\n", [["1", ""], ["", "4"]]),
        ('"two\nlines"\t1', [["two\nlines", "1"]]),
        ('"say ""hi"""\t1\r\n', [['say "hi"', "1"]]),
        ('5" wide\t1', [['5" wide', "1"]]),
        ('"\t1', [['"', "1"]]),
        ('"open\t1\n2\t3', [['"open', "1"], ["2", "3"]]),
        ("1\t2\n3", [["1", "2"], ["3"]]),
    ],
)
def test_text_of_spreadsheets(text: str, block: list[list[str]]) -> None:
    assert from_text(text) == block


def test_ragged_names_the_row() -> None:
    assert ragged([["1", "2"], ["3", "4"]]) is None
    assert ragged([["1", "2"], ["3", "4"], ["5", "6", "7"]]) == "row 3 of the block has 3 cells, row 1 has 2 cells"


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=6))
def test_a_number_written_in_full_is_read_exactly(numbers: list[float]) -> None:
    assert read_numbers([[repr(number) for number in numbers]]) == [numbers]


@given(st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 6)), min_size=1, max_size=6))
def test_a_decimal_comma_is_understood_unless_it_could_be_something_else(numbers: list[float]) -> None:
    # 0,5 beside them settles what 1,234 means
    cells = [[f"{number:.6f}".replace(".", ",") for number in numbers] + ["0,5"]]
    assert read_numbers(cells) == [[*numbers, 0.5]]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0,5", 0.5),
        ("-0,125", -0.125),
        ("1,5", 1.5),
        ("12,3456", 12.3456),
        (",5", 0.5),
        ("5,", 5.0),
        ("1,5e-3", 0.0015),
        ("1.234", 1.234),  # a point alone is a decimal point
        ("1,234.5", 1234.5),
        ("1.234,5", 1234.5),
        ("1,234,567", 1234567.0),
        ("1.234.567", 1234567.0),
        ("1 234,5", 1234.5),
        ("1\u202f234.5", 1234.5),
        ("1\u00a0234\u00a0567", 1234567.0),
        ("\u22121.5", -1.5),
        ("  7 ", 7.0),
        ("+3", 3.0),
        (".25", 0.25),
        ("1e-3", 0.001),
        ("1E5", 100000.0),
        ("0e-400", 0.0),
        ("-0.00e7", 0.0),
        ("5e-324", 5e-324),
        ("\u0663", 3.0),
        ("\u0661\u0662\N{ARABIC DECIMAL SEPARATOR}\u0665", 12.5),
        ("-\u06f4e\u06f2", -400.0),
        ("\uff11\uff12\uff0e\uff15", 12.5),
        ("\uff0d\uff11", -1.0),
        ("\u0967,\u0968", 1.2),
    ],
)
def test_ways_to_write_a_number(text: str, number: float) -> None:
    assert read_numbers([[text]]) == [[number]]


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1,234", "0,5"], [1.234, 0.5]),
        (["1,234", "0.5"], [1234.0, 0.5]),
        (["1,234", "1,234.5"], [1234.0, 1234.5]),
        (["1,234", "1.234,5"], [1.234, 1234.5]),
        (["1.234", "0.5"], [1.234, 0.5]),
        (["0,5", "0.25"], [0.5, 0.25]),
    ],
)
def test_one_cell_of_a_block_settles_the_others(cells: list[str], numbers: list[float]) -> None:
    assert read_numbers([cells]) == [numbers]


@pytest.mark.parametrize(
    ("cells", "column", "reason"),
    [
        (["1,234"], 0, "'1,234' could be 1.234 or 1234"),
        (["0,5", "1.234"], 1, "'1.234' could be 1.234 or 1234"),
        (["0,5", "0.5", "1,234"], 2, "'1,234' could be 1.234 or 1234"),
        (["1", "abc"], 1, "'abc' is not a number"),
        (["1", "1,23,4"], 1, "'1,23,4' is not a number"),
        (["1_000"], 0, "'1_000' is not a number"),
        (["0x10"], 0, "'0x10' is not a number"),
        (["\N{SUPERSCRIPT TWO}"], 0, "'²' is not a number"),
        (["\N{VULGAR FRACTION ONE HALF}"], 0, "'½' is not a number"),
        (["\u0663,\u0660\u0660\u0660"], 0, "'3,000' could be 3.000 or 3000"),
        (["5%"], 0, "'5%' is not a number"),
        (["NaN"], 0, "'NaN' is not a finite number"),
        (["-Infinity"], 0, "'-Infinity' is not a finite number"),
        (["\u2212\u221e"], 0, "'-\u221e' is not a finite number"),
        (["1e400"], 0, "'1e400' is too large for a number"),
        (["1e-400"], 0, "'1e-400' is too small for a number"),
        (["-0,001e-330"], 0, "'-0,001e-330' is too small for a number"),
        (["\u0661e-400"], 0, "'1e-400' is too small for a number"),
        (["0." + "0" * 400 + "1"], 0, "'0.000000000000000000000…' is too small for a number"),
        ([" "], 0, "a number is missing"),
    ],
)
def test_what_is_refused_and_why(cells: list[str], column: int, reason: str) -> None:
    with pytest.raises(Refused) as caught:
        read_numbers([["0"] * len(cells), cells])
    assert (caught.value.row, caught.value.column, str(caught.value)) == (1, column, reason)


def test_cells_that_stay_are_not_read() -> None:
    assert read_numbers([[None, "1"], ["2", None]]) == [[None, 1.0], [2.0, None]]


def test_long_text_is_cut_in_messages() -> None:
    assert quoted_short("x" * 50) == "'" + "x" * 23 + "…'"
