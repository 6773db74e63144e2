"""Numbers as people write them, with their decimals."""

from __future__ import annotations

import math
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.model.check import GivenTable, NotANumber, read_cell


@pytest.mark.parametrize(
    ("text", "value", "decimals"),
    [
        ("0.2384", 0.2384, 4),
        ("0.2380", 0.238, 4),
        (".5", 0.5, 1),
        ("1,5", 1.5, 1),
        ("-0,25", -0.25, 2),
        ("−0.25", -0.25, 2),
        ("+1.0", 1.0, 1),
        ("2.384e-1", 0.2384, 4),
        ("1.2E3", 1200.0, -2),
        ("1234", 1234.0, 0),
        (" 0.5 ", 0.5, 1),
        ("٠.٥", 0.5, 1),
        ("-inf", -math.inf, 0),
        ("−∞", -math.inf, 0),
        ("\N{HYPHEN}0.5", -0.5, 1),
        ("٠٫٥", 0.5, 1),
        ("\N{ZERO WIDTH NO-BREAK SPACE}0.5", 0.5, 1),
        ("22.3%", 0.223, 3),
        ("12,5 %", 0.125, 3),
        ("0.00e+00", 0.0, 2),
        ("0.0e9", 0.0, 1),
    ],
)
def test_a_number_and_its_decimals(text: str, value: float, decimals: int) -> None:
    number = read_cell(text)
    assert number is not None and not number.exact
    assert (number.value, number.decimals) == (value, decimals)


@pytest.mark.parametrize("text", ["0", "1", "-1", "12", "007", "5.", "0e9", "2e1", "-0E5"])
def test_a_short_whole_number_is_meant_exactly(text: str) -> None:
    number = read_cell(text)
    assert number is not None and number.exact and number.value == float(text)


@pytest.mark.parametrize("text", ["", "   ", "\t"])
def test_nothing_is_not_answered(text: str) -> None:
    assert read_cell(text) is None


@pytest.mark.parametrize(
    "text",
    ["a", "1/2", "0.5.", "1,2,3", "1.2,3", "0,5 0,6", "--1", "%", "2e1%", "5 5%", "1e9999", "1e", "0x1", "½", "²"],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(NotANumber):
        read_cell(text)


@pytest.mark.parametrize("text", ["nan", "NaN", "-nan"])
def test_what_programs_print_as_no_number_is_an_answer(text: str) -> None:
    number = read_cell(text)
    assert number is not None and math.isnan(number.value)


@given(st.text(max_size=12))
def test_no_text_breaks_it(text: str) -> None:
    with suppress(NotANumber):
        number = read_cell(text)
        assert (number is None) == (not "".join(text.split()))


@given(st.decimals(-1000, 1000, places=4))
def test_what_is_printed_is_read(number: object) -> None:
    text = f"{number:f}"
    read = read_cell(text)
    assert read is not None and read.value == float(text) and read.decimals == 4


def test_the_halves_of_a_table() -> None:
    printed = GivenTable.of("N", 0, [["0.25", "0"], ["1.5", ""], ["x", "-inf"]]).printed()
    np.testing.assert_array_equal(printed.answered, [[True, True], [True, False], [True, True]])
    np.testing.assert_allclose(printed.half_units[:2], [[0.005, 0.005], [0.05, 0.5]])
    assert np.isnan(printed.values[2, 0]) and printed.values[2, 1] == -math.inf
    assert printed.most_decimals == 2


def test_whole_numbers_alone_count_to_two_decimals() -> None:
    printed = GivenTable.of("N", 0, [["1", "0"]]).printed()
    np.testing.assert_allclose(printed.half_units, 0.005)


def test_a_table_is_cut_and_continued() -> None:
    table = GivenTable.of("A", 1, [["1", "2"], ["3", "4"]])
    assert table.fitted(1, 3).cells == (("1", "2", ""),)
    assert table.fitted(3, 1).cells == (("1",), ("3",), ("",))
    assert table.fitted(2, 2) is table
    assert GivenTable("A", 0, ()).fitted(1, 2).is_blank


def test_a_table_that_is_not_per_head_is_of_no_head() -> None:
    assert GivenTable.of("output", 3, [["1"]]).head == 0
    assert GivenTable.of("output", 0, [["1"]]).name(4) == "output"
    assert GivenTable.of("N", 3, [["1"]]).name(4) == "N of head 4"
    assert GivenTable.of("N", 0, [["1"]]).name(1) == "N"
