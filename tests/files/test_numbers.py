"""Text of numbers, against exact arithmetic, torch and numpy's own printing."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from attn_gui.files import numbers
from attn_gui.model.precision import Precision

HALF = {
    Precision.FLOAT16: (torch.float16, np.arange(1 << 16, dtype=np.uint16).view(np.float16)),
    Precision.BFLOAT16: (torch.bfloat16, (np.arange(1 << 16, dtype=np.uint32) << 16).view(np.float32)),
}
half_precisions = pytest.mark.parametrize("precision", list(HALF))


def digits(text: str) -> str:
    """The significant digits of a number's text."""
    return text.lower().lstrip("-").split("e")[0].replace(".", "").strip("0")


def bits(values: torch.Tensor) -> np.ndarray[Any, Any]:
    return values.view(torch.int16).numpy().view(np.uint16)


@half_precisions
@pytest.mark.parametrize("through", [torch.float64, torch.float32])
def test_every_16_bit_value_reads_back(precision: Precision, through: torch.dtype) -> None:
    dtype, values = HALF[precision]
    texts = numbers.row_text(values, precision).split(b",")
    parsed = torch.tensor([float(text) for text in texts], dtype=torch.float64).to(through).to(dtype)
    is_nan = np.isnan(values)
    assert [text == b"nan" for text in texts] == is_nan.tolist()
    np.testing.assert_array_equal(bits(parsed)[~is_nan], np.arange(1 << 16, dtype=np.uint16)[~is_nan])


@half_precisions
def test_no_16_bit_value_has_a_shorter_text_or_a_closer_one(precision: Precision) -> None:
    _, values = HALF[precision]
    exact = [Fraction(float(v)) for v in values[: np.flatnonzero(np.isinf(values))[0]]]
    step = exact[-1] - exact[-2]
    texts = numbers.row_text(values[: len(exact)], precision).decode().split(",")
    for pattern in range(1, len(exact)):
        value = exact[pattern]
        low = (exact[pattern - 1] + value) / 2
        high = (value + (exact[pattern + 1] if pattern + 1 < len(exact) else value + step)) / 2
        of_fewest = decimals_of_fewest_digits(low, high, pattern % 2 == 0)
        text = Fraction(texts[pattern])
        assert text in of_fewest
        assert abs(text - value) == min(abs(decimal - value) for decimal in of_fewest)


def decimals_of_fewest_digits(low: Fraction, high: Fraction, ends: bool) -> list[Fraction]:
    """The decimals between ``low`` and ``high`` (or at one of them, if ``ends``) that have the fewest digits."""
    decades = {math.floor(math.log10(low)), math.floor(math.log10(high))}
    for count in range(1, 10):
        found = []
        for place in (decade - count + 1 for decade in decades):
            up, down = 10 ** max(0, -place), 10 ** max(0, place)
            first = -(-low.numerator * up // (low.denominator * down))
            last = min(high.numerator * up // (high.denominator * down), 10**count)
            found += [Fraction(n * down, up) for n in range(first, last + 1)]
        if not ends:
            found = [decimal for decimal in found if low < decimal < high]
        if found:
            return found
    raise AssertionError("no decimal of 9 digits")


@half_precisions
def test_one_number_is_written_as_in_a_row(precision: Precision) -> None:
    _, values = HALF[precision]
    some = values[::97]
    assert [numbers.text(float(v), precision) for v in some] == numbers.row_text(some, precision).decode().split(",")


@given(hnp.arrays(np.float64, st.integers(1, 20), elements=st.floats()))
def test_float64_reads_back_in_as_few_digits_as_repr(row: np.ndarray[Any, Any]) -> None:
    texts = numbers.row_text(row, Precision.FLOAT64).decode().split(",")
    np.testing.assert_array_equal(np.array([float(text) for text in texts]), row)
    assert [text[0] == "-" for text in texts if text != "nan"] == np.signbit(row[~np.isnan(row)]).tolist()
    for text, value in zip(texts, row.tolist(), strict=True):
        if math.isfinite(value):
            assert digits(text) == digits(repr(value))


@given(hnp.arrays(np.float32, st.integers(1, 20), elements=st.floats(width=32)))
def test_float32_reads_back_in_as_few_digits_as_numpy_prints(row: np.ndarray[Any, Any]) -> None:
    texts = numbers.row_text(row, Precision.FLOAT32).decode().split(",")
    np.testing.assert_array_equal(np.array([float(text) for text in texts]).astype(np.float32), row)
    for text, value in zip(texts, row, strict=True):
        if np.isfinite(value):
            assert len(digits(text)) <= len(digits(np.format_float_scientific(value, unique=True)))


def test_the_float32_whose_shortest_text_would_be_rounded_twice() -> None:
    row = np.array([0x15AE43FC, 0x15AE43FD, 0x95AE43FD, 0x15AE43FE, 0x7F800000, 0x7FC00000], np.uint32).view(np.float32)
    texts = numbers.row_text(row, Precision.FLOAT32).decode().split(",")
    shortest = Fraction("7.038531e-26")
    assert abs(shortest - Fraction(float(row[1]))) < abs(shortest - Fraction(float(row[3])))
    assert np.float32(float(shortest)) == row[3]
    np.testing.assert_array_equal(np.array(texts, dtype=np.float64).astype(np.float32), row)
    assert texts[4:] == ["inf", "nan"]


@pytest.mark.parametrize("precision", list(Precision))
def test_how_numbers_are_spelled(precision: Precision) -> None:
    row = np.array([0.0, -0.0, 1.0, -2.0, 0.5, np.inf, -np.inf, np.nan, 100.0], dtype=precision.numpy)
    assert numbers.row_text(row, precision) == b"0,-0,1,-2,0.5,inf,-inf,nan,100"
    assert numbers.cells(row[:2], precision) == [b"0", b"-0"]
    assert numbers.cells(row[:0], precision) == []
    assert numbers.text(-2.0, precision) == "-2"


@pytest.mark.parametrize("infinity", [np.inf, -np.inf])
def test_a_masked_row(infinity: float) -> None:
    row = np.array([1.5, infinity, infinity, 2.0], dtype=np.float32)
    assert numbers.row_text(row, Precision.FLOAT32).decode() == f"1.5,{infinity},{infinity},2"


def test_rows_that_are_not_contiguous_or_of_another_byte_order() -> None:
    table = np.arange(12, dtype=np.float64).reshape(3, 4) / 8
    assert numbers.row_text(table[:, 1], Precision.FLOAT64) == b"0.125,0.625,1.125"
    assert numbers.row_text(table[0].astype(">f8"), Precision.FLOAT64) == b"0,0.125,0.25,0.375"


def test_what_is_not_bfloat16_is_refused() -> None:
    with pytest.raises(ValueError, match="bfloat16"):
        numbers.row_text(np.array([0.1], dtype=np.float32), Precision.BFLOAT16)
