"""The way between numpy and torch: one rounding in, exact out."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.compute.numbers import from_numpy, stored, summed, to_numpy
from attn_gui.model.precision import Precision
from tests.reference import FORMATS, rounded

CPU = torch.device("cpu")


@pytest.mark.parametrize("precision", Precision)
@given(st.lists(st.floats(-6e4, 6e4), min_size=1, max_size=20), st.data())
def test_rounded_once_to_the_nearest(precision: Precision, values: list[float], data: st.DataObject) -> None:
    bits = FORMATS[precision][0]
    # beside the middle between two neighbours, where rounding twice goes wrong
    edge = 1 + 2.0**-bits + data.draw(st.sampled_from([0.0, 2.0**-40, -(2.0**-40), 2.0**-25]))
    array = np.array([*values, edge, -edge, edge * 2.0**7, 0.0, np.inf, -np.inf, np.nan])
    found = to_numpy(from_numpy(array, stored(precision), CPU))
    assert np.array_equal(found.astype(np.float64), rounded(array, precision), equal_nan=True)


@pytest.mark.parametrize("precision", Precision)
def test_a_precision_says_what_torch_knows_of_it(precision: Precision) -> None:
    info = torch.finfo(stored(precision))
    assert precision.eps == info.eps
    assert precision.bytes * 8 == info.bits
    assert summed(precision) is (torch.float64 if precision is Precision.FLOAT64 else torch.float32)
    value = torch.tensor([info.max, info.tiny], dtype=stored(precision))
    assert to_numpy(value).dtype == precision.numpy
    assert to_numpy(value).tolist() == value.tolist()


def test_the_array_that_came_in_is_left_alone() -> None:
    array = np.array([[1.0, 2.0]])
    array.flags.writeable = False
    tensor = from_numpy(array, torch.float64, CPU)
    tensor[0, 0] = 7
    assert array.tolist() == [[1.0, 2.0]]
