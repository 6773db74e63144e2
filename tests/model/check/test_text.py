"""Tables as text, between whatever marks, with labels or without."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.model.check import Unfitting, cells_in

WANTED = [["0.10", "0.20", "0.3"], ["0.4", "", "0.6"]]
FULL = [["0.10", "0.20", "0.3"], ["0.4", "0.5", "0.6"]]


@pytest.mark.parametrize(
    "text",
    [
        "0.10\t0.20\t0.3\n0.4\t\t0.6",
        "0.10,0.20,0.3\n0.4,,0.6\n",
        "0.10;0.20;0.3\r\n0.4;;0.6\r\n",
        "query,a,b,c\nx,0.10,0.20,0.3\ny,0.4,,0.6\n",
        "a\tb\tc\n0.10\t0.20\t0.3\n0.4\t\t0.6\n",
        'query,"a,b",c,d\n"x, y",0.10,0.20,0.3\n\ny,0.4,,0.6\n',
    ],
)
def test_marks_and_labels(text: str) -> None:
    assert cells_in(text, 2, 3) == WANTED


@pytest.mark.parametrize(
    "text",
    [
        "0.10 0.20 0.3\n0.4 0.5 0.6",
        "a b c\nx 0.10 0.20 0.3\ny 0.4 0.5 0.6",
        "0 1 2\n0 0.10 0.20 0.3\n1 0.4 0.5 0.6",
        "1 2 3\n0.10 0.20 0.3\n0.4 0.5 0.6",
        "[[0.10 0.20 0.3]\n [0.4 0.5 0.6]]",
        "tensor([[0.10, 0.20, 0.3],\n        [0.4, 0.5, 0.6]], dtype=torch.float64)",
    ],
)
def test_blanks_and_what_numpy_and_torch_print(text: str) -> None:
    assert cells_in(text, 2, 3) == FULL


@pytest.mark.parametrize("text", ["0,10 0,20\n0,4 0,5", "0,10;0,20\n0,4;0,5", "0,10\t0,20\n0,4\t0,5"])
def test_decimal_commas(text: str) -> None:
    assert cells_in(text, 2, 2) == [["0,10", "0,20"], ["0,4", "0,5"]]


@pytest.mark.parametrize("text", ["0,5\n0,25", "0,5\r\n0,25\r\n"])
def test_a_column_of_decimal_commas_is_one_column(text: str) -> None:
    assert cells_in(text, 2, 1) == [["0,5"], ["0,25"]]


@pytest.mark.parametrize("text", ["1\t2\t\n3\t4\t", "1;2;;\n3;4;;", "1\t2\n3\t4\n\t\n\t", "1,2,\n3,4,\n,,\n"])
def test_blank_cells_at_the_ends_are_no_labels(text: str) -> None:
    assert cells_in(text, 2, 2) == [["1", "2"], ["3", "4"]]


def test_a_row_without_answers_stays() -> None:
    assert cells_in("\t\n1\t2", 2, 2) == [["", ""], ["1", "2"]]


@pytest.mark.parametrize(
    "text",
    [
        "\t[CLS]\t[SEP]\n[CLS]\t1\t2\n[SEP]\t3\t4",
        ",[CLS],[SEP]\n[CLS],1,2\n[SEP],3,4",
        ", 1 2\n; 3 4",
        "a;b\t1\t2\nc\t3\t4",
        "\N{ZERO WIDTH NO-BREAK SPACE}1\t2\n3\t4",
        "[1 2; 3 4]",
    ],
)
def test_tokens_with_marks_in_them_are_labels(text: str) -> None:
    assert cells_in(text, 2, 2) == [["1", "2"], ["3", "4"]]


def test_torch_prints_rows_that_are_no_numbers() -> None:
    assert cells_in("tensor([[nan, nan],\n        [0.5, -inf]])", 2, 2) == [["nan", "nan"], ["0.5", "-inf"]]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1,2\n3,4", "Expected 2 × 3 numbers, received 2 × 2"),
        ("1,2,3\n4,5", "Expected 2 × 3 numbers, received 2 × 2 or 3"),
        ("", "Expected 2 × 3 numbers, received none"),
        # a column of sums behind the numbers, a row of them below: the first are no names
        ("1,2,3,6\n4,5,6,15", "Expected 2 × 3 numbers, received 2 × 4"),
        ("1.5,2,3\n4,5,6\n5.5,7,9", "Expected 2 × 3 numbers, received 3 × 3"),
        ("1.5,2,3,6.5\n4,5,6,15\n5.5,7,9,21.5", "Expected 2 × 3 numbers, received 3 × 4"),
        ("1,2,3\n4,x,6", "Expected a number in row 2, column 2, received x"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(text: str, reason: str) -> None:
    with pytest.raises(Unfitting, match=f"^{reason}$"):
        cells_in(text, 2, 3)


@given(st.text(max_size=60), st.integers(1, 3), st.integers(1, 3))
def test_no_text_breaks_it(text: str, rows: int, columns: int) -> None:
    with suppress(Unfitting):
        cells = cells_in(text, rows, columns)
        assert len(cells) == rows and all(len(row) == columns for row in cells)
