"""Mask rules: cell by cell, as plain values, and the range of keys they can touch."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.model.errors import ExperimentError
from attn_gui.model.masks import (
    Causal,
    Columns,
    MaskRule,
    SlidingWindow,
)
from tests.reference import rule_allows
from tests.strategies import rules

sizes = st.tuples(st.integers(1, 9), st.integers(1, 9))


@given(rules(), sizes, st.data())
def test_numpy_and_torch_run_one_rule(rule: MaskRule, size: tuple[int, int], data: st.DataObject) -> None:
    n_q, n_k = size
    pad = np.array(data.draw(st.lists(st.booleans(), min_size=n_k, max_size=n_k)))
    expected = [[rule_allows(rule, i, j, n_q, n_k, pad) for j in range(n_k)] for i in range(n_q)]
    i, j = np.arange(n_q)[:, np.newaxis], np.arange(n_k)[np.newaxis, :]
    found = rule.allowed(i, j, Columns(n_q, n_k, 0, {"pad": pad}))
    assert np.broadcast_to(found, size).tolist() == expected
    there = rule.allowed(torch.tensor(i), torch.tensor(j), Columns(n_q, n_k, 0, {"pad": torch.tensor(pad)}))
    assert there.dtype is torch.bool
    assert there.expand(size).tolist() == expected


@given(rules(), sizes, st.data())
def test_no_allowed_key_lies_outside_the_range(rule: MaskRule, size: tuple[int, int], data: st.DataObject) -> None:
    n_q, n_k = size
    first = data.draw(st.integers(0, n_q - 1))
    last = data.draw(st.integers(first, n_q - 1))
    pad = np.zeros(n_k, bool)
    start, stop = rule.key_range(first, last, Columns(n_q, n_k, 0, {"pad": pad}))
    assert 0 <= start <= stop <= n_k
    for i in range(first, last + 1):
        for j in range(n_k):
            assert start <= j < stop or not rule_allows(rule, i, j, n_q, n_k, pad)


def test_ranges_are_no_wider_than_they_need_be() -> None:
    columns = Columns(10, 10)
    assert Causal().key_range(2, 4, columns) == (0, 5)
    assert Causal("bottom-right").key_range(0, 3, Columns(10, 4)) == (0, 0)
    assert SlidingWindow(2).key_range(5, 6, columns) == (3, 7)
    assert SlidingWindow(2, two_sided=True).key_range(5, 6, columns) == (3, 9)


@pytest.mark.parametrize("window", [2**31, 10**30])
def test_a_window_beyond_all_bounds_is_refused(window: int) -> None:
    SlidingWindow(2**31 - 1)
    with pytest.raises(ExperimentError, match="mask sliding_window window: expected a whole number, 0 or more"):
        SlidingWindow(window)
