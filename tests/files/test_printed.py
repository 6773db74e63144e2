"""Numbers as they are printed and pasted."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from attn_gui.files.printed import Unreadable, numbers_in

VALUES = np.array([[0.7071, -1.25, 3.0], [0.0, 12.3457, 0.001]])


@pytest.mark.parametrize("mark", ["\t", ", ", ",", "; ", " ", "   "])
def test_tables(mark: str) -> None:
    text = "\n".join(mark.join(map(str, row)) for row in VALUES) + "\n\n"
    np.testing.assert_array_equal(numbers_in(text).values, VALUES)


@pytest.mark.parametrize("mark", ["\t", "; ", "  "])
def test_decimal_commas(mark: str) -> None:
    text = "\n".join(mark.join(str(value).replace(".", ",") for value in row) for row in VALUES)
    np.testing.assert_array_equal(numbers_in(text).values, VALUES)


def test_tables_one_below_another_are_heads() -> None:
    text = "1 2\n3 4\n\n\n5 6\n7 8\n"
    np.testing.assert_array_equal(numbers_in(text).values, np.arange(1, 9).reshape(2, 2, 2))


@pytest.mark.parametrize(
    "text",
    [
        "query\tk1\tk2\nq1\t0.1\t0.9\nq2\t0.4\t0.6",
        "query,1,2\n1,0.1,0.9\n2,0.4,0.6",
        "\tthe\tstore\nis\t0.1\t0.9\nto\t0.4\t0.6",
        "the\tstore\n0.1\t0.9\n0.4\t0.6",
        "is\t0.1\t0.9\nto\t0.4\t0.6",
    ],
)
def test_labels_are_left_out(text: str) -> None:
    np.testing.assert_array_equal(numbers_in(text).values, [[0.1, 0.9], [0.4, 0.6]])


@pytest.mark.parametrize("shape", [(2, 3), (2, 2, 3), (1, 2, 2, 3)])
def test_what_numpy_and_torch_print(shape: tuple[int, ...]) -> None:
    values = np.random.RandomState(0).standard_normal(shape).round(4)
    expected = values[0] if len(shape) == 4 else values
    tensor = torch.tensor(values)
    grown = torch.tensor(values, requires_grad=True) * 1
    for text in (
        str(values),
        repr(values),
        repr(tensor),
        repr(tensor.half().double()),
        repr(grown),
        str(values.tolist()),
    ):
        np.testing.assert_allclose(numbers_in(text).values, expected, atol=2e-3 if "float" in text else 5e-5)


def test_not_finite() -> None:
    found = numbers_in("tensor([[0.5, -inf], [nan, inf]])").values
    np.testing.assert_array_equal(found, [[0.5, -np.inf], [np.nan, np.inf]])
    np.testing.assert_array_equal(numbers_in("0.5 −∞").values, [[0.5, -np.inf]])


def half(text: str) -> NDArray[np.float64]:
    numbers = numbers_in(text)
    assert numbers.half_unit is not None
    return numbers.half_unit


def test_how_far_printing_may_be_off() -> None:
    np.testing.assert_allclose(half("0.7071 0.5 1 12.3457"), [[5e-5] * 4])
    # six significant digits, as %g has them
    np.testing.assert_allclose(half("0.333333 12.3457 0.25"), [[5e-7, 5e-5, 5e-7]])
    np.testing.assert_allclose(half("1.2345e-05 7.0711e-01 0.0000e+00"), [[5e-10, 5e-6, 5e-10]])
    np.testing.assert_allclose(half("0.25 -1000000000.0"), [[5e-3, 5e-2]])
    assert numbers_in("1 0\n0 1").half_unit is None


def test_a_zero_of_absurdly_large_units() -> None:
    assert np.isfinite(half("0e9999 0.0")).all()


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=6), st.integers(1, 8))
def test_the_true_number_is_within_half_a_place(values: list[float], decimals: int) -> None:
    text = " ".join(f"{value:.{decimals}f}" for value in values)
    numbers = numbers_in(text)
    assert numbers.half_unit is not None
    assert (np.abs(numbers.values - values) <= numbers.half_unit * (1 + 1e-9)).all()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no number"),
        (" \n\n", "no number"),
        ("1 2\n3", "line 2 has 1 number, line 1 has 2"),
        ("1 2\n\n3 4\n5 6", "tables of 1 × 2 and 2 × 2"),
        ("1 2\n3 four", "line 2, column 2: ‘four’ is not a number"),
        ("1_000", "is not a number"),
        ("[[1, 2], [3]]", "lists of 1 and 2 numbers side by side"),
        ("[[1, 2], 3]", "numbers and lists side by side"),
        ("[[1, 2]", "an opening bracket without a closing one"),
        ("[1]]", "a closing bracket without"),
        ("[[1 ... 2]]", "the print was shortened"),
        ("[]", "lists of 0 numbers"),
        ("[[[[1]]], [[[2]]]]", "this has 4 axes"),
        ("[" * 500_000 + "1" + "]" * 500_000, "brackets in more than 64 brackets"),
        ("1 1e999", "line 1, column 2: ‘1e999’ is larger than any number of float64"),
        ("hello", "is not a number"),
        ("9" * (1 << 22) + "9", "a file is better"),
    ],
)
def test_what_cannot_be_read(text: str, words: str) -> None:
    with pytest.raises(Unreadable, match=re.escape(words)):
        numbers_in(text)
