"""ALiBi: the paper's slopes, and scores that fall off with distance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.model.biases.alibi import ALiBi, slopes
from tests.model.biases.checking import check_libraries_agree, values


def test_slopes_of_8_heads_are_those_of_the_paper() -> None:
    # "For models with 8 heads, the slopes that we use are the geometric sequence 1/2, 1/4, ..., 1/256"
    assert slopes(8).tolist() == [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]


def test_slopes_of_16_heads_are_those_of_the_paper() -> None:
    # "for models with 16 heads, we interpolate those 8 slopes by geometrically averaging every consecutive pair"
    np.testing.assert_allclose(slopes(16), [2 ** (-k / 2) for k in range(1, 17)], rtol=1e-15)


def test_slopes_of_12_heads_are_those_of_the_authors_code() -> None:
    extra = [2**-0.5, 2**-1.5, 2**-2.5, 2**-3.5]
    np.testing.assert_allclose(slopes(12), [*slopes(8), *extra], rtol=1e-15)


def authors_slopes(n: int) -> list[float]:
    """get_slopes of the published repository, in its own steps."""

    def of_power(n: int) -> list[float]:
        start = 2 ** (-(2 ** -(np.log2(n) - 3)))
        return [start * start**i for i in range(n)]

    if np.log2(n).is_integer():
        return of_power(n)
    closest = int(2 ** np.floor(np.log2(n)))
    return of_power(closest) + authors_slopes(2 * closest)[0::2][: n - closest]


@given(st.integers(1, 200))
def test_slopes_of_any_count(heads: int) -> None:
    assert slopes(heads).shape == (heads,)
    np.testing.assert_allclose(slopes(heads), authors_slopes(heads), rtol=1e-12)
    with pytest.raises(ValueError, match="read-only"):
        slopes(heads)[0] = 0


def test_scores_fall_off_with_distance() -> None:
    assert values(ALiBi(), 3, 3, heads=8)[1].tolist() == [[0, -0.25, -0.5], [-0.25, 0, -0.25], [-0.5, -0.25, 0]]


def test_distance_counts_from_the_cache() -> None:
    assert values(ALiBi(), 2, 4, offset=2, heads=8)[0].tolist() == [[-1, -0.5, 0, -0.5], [-1.5, -1, -0.5, 0]]


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 3), st.integers(1, 6))
def test_numpy_and_torch_agree(n_q: int, n_k: int, offset: int, heads: int) -> None:
    check_libraries_agree(ALiBi(), n_q, n_k, offset, heads)
