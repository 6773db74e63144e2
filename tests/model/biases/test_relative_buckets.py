"""T5's relative buckets against a plain reimplementation and known values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from attn_gui.model.biases.relative_buckets import RelativeBuckets
from attn_gui.model.errors import ExperimentError
from tests.model.biases.checking import check_libraries_agree, values


def t5(distance: int, bidirectional: bool, count: int, farthest: int) -> int:
    """_relative_position_bucket as the paper's code has it, one distance at a time; float32 where it has tensors."""
    bucket = 0
    if bidirectional:
        count //= 2
        bucket += count * (distance > 0)
        distance = abs(distance)
    else:
        distance = -min(distance, 0)
    exact = count // 2
    if distance < exact:
        return bucket + distance
    part = np.log(np.float32(distance) / np.float32(exact)) / np.float32(math.log(farthest / exact))
    return bucket + min(exact + int(part * np.float32(count - exact)), count - 1)


def buckets(count: int, farthest: int, bidirectional: bool) -> RelativeBuckets:
    return RelativeBuckets(np.zeros((count, 1)), farthest, bidirectional)


@given(st.sampled_from([4, 8, 12, 32, 64]), st.integers(17, 300), st.booleans())
def test_every_distance_falls_as_in_the_published_code(count: int, farthest: int, bidirectional: bool) -> None:
    assume(farthest > count // (4 if bidirectional else 2))
    distances = np.arange(-400, 401)
    found = buckets(count, farthest, bidirectional).buckets(distances)
    assert found.tolist() == [t5(int(d), bidirectional, count, farthest) for d in distances]


def test_known_values_of_t5s_own_sizes() -> None:
    # 32 buckets, 128 positions: 8 single distances and 8 ranges each way for the encoder
    encoder = buckets(32, 128, True)
    distances = np.array([0, -1, -7, -8, -11, -12, -16, -32, -64, -90, -91, -127, -128, -1000])
    assert encoder.buckets(distances).tolist() == [0, 1, 7, 8, 8, 9, 10, 12, 14, 14, 15, 15, 15, 15]
    assert encoder.buckets(-distances).tolist() == [0, *(16 + encoder.buckets(distances[1:]))]
    decoder = buckets(32, 128, False)
    assert decoder.buckets(np.array([5, 0, -1, -15, -16, -128, -500])).tolist() == [0, 0, 1, 15, 16, 31, 31]


def test_a_cell_is_its_distances_row_and_its_heads_column() -> None:
    table = np.arange(16.0).reshape(8, 2)
    bias = RelativeBuckets(table, 8, False)  # 4 single distances, then 4 ranges
    found = values(bias, 3, 3, heads=2)
    assert found[0].tolist() == [[0, 0, 0], [2, 0, 0], [4, 2, 0]]
    assert np.array_equal(found[1], found[0] + 1)
    assert values(bias, 1, 4, offset=3, heads=2)[0].tolist() == [[6, 4, 2, 0]]


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 3), st.integers(1, 3), st.booleans())
def test_numpy_and_torch_agree(n_q: int, n_k: int, offset: int, heads: int, bidirectional: bool) -> None:
    table = np.random.RandomState(heads).standard_normal((8, heads))
    check_libraries_agree(RelativeBuckets(table, 9, bidirectional), n_q, n_k, offset, heads)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: RelativeBuckets(np.ones((5, 1))),
            "bias relative_buckets table: expected 4 or more rows, one a bucket, an even number, received 5",
        ),
        (
            lambda: RelativeBuckets(np.ones((1, 1)), bidirectional=False),
            "bias relative_buckets table: expected 2 or more rows, one a bucket, received 1",
        ),
        (
            lambda: RelativeBuckets(np.ones((32, 1)), 8),
            "bias relative_buckets max_distance: expected more than the 8 distances with buckets of their own, "
            "received 8",
        ),
        (
            lambda: RelativeBuckets(np.ones((32, 3))).check_fits(2, 2, 4),
            "bias relative_buckets table: expected 4 columns, one a head, received 3",
        ),
    ],
)
def test_what_does_not_fit_is_refused_in_words(make: Any, words: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        make()
    assert str(caught.value) == words
