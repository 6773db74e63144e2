"""Matrix: windows, pooling and extent against brute force, with masks, NaN and infinities."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from attn_gui.compute.array_matrix import ArrayMatrix
from attn_gui.compute.matrix import DenseMatrix
from attn_gui.compute.pooling import edges
from attn_gui.compute.trace import trace
from attn_gui.model.experiment import Experiment
from attn_gui.model.precision import Precision

Array = np.ndarray[Any, Any]
KINDS = st.sampled_from([np.float64, np.float32, np.float16])
ODD = [np.nan, np.inf, -np.inf]


def mask_of(flags: Array | None) -> Callable[[slice, slice], torch.Tensor] | None:
    """A mask that is an array."""
    return None if flags is None else lambda rows, columns: torch.tensor(flags[rows, columns])


@st.composite
def cases(draw: st.DrawFn) -> tuple[Array, Array, DenseMatrix]:
    """Values [rows, columns] (some odd), flags, and the matrix of them."""
    shape = draw(st.tuples(st.integers(1, 9), st.integers(1, 9)))
    kind = draw(KINDS)
    width = {np.float64: 64, np.float32: 32, np.float16: 16}[kind]
    numbers = st.floats(-100, 100, width=width, allow_subnormal=False)
    elements = st.one_of(numbers, st.sampled_from(ODD)) if draw(st.booleans()) else numbers
    values = draw(hnp.arrays(kind, shape, elements=elements, fill=st.nothing()))
    some = hnp.arrays(bool, shape, fill=st.nothing())
    flags = draw(st.one_of(st.none(), some, st.just(np.zeros(shape, bool))))
    matrix = DenseMatrix(shape, lambda rows: torch.tensor(values)[rows], mask_of(flags), None)
    return values, np.ones(shape, bool) if flags is None else flags, matrix


@st.composite
def windows(draw: st.DrawFn, shape: tuple[int, int]) -> tuple[slice, slice]:
    starts = [draw(st.integers(0, length - 1)) for length in shape]
    stops = [draw(st.integers(start + 1, length)) for start, length in zip(starts, shape, strict=True)]
    return slice(starts[0], stops[0]), slice(starts[1], stops[1])


def pooled_cell(values: list[float], count: int, how: str) -> tuple[set[float] | float, bool]:
    """What one pooled cell may be, from the values of its allowed cells and the count of all."""
    if not values:
        return 0.0, False
    odd = [v for v in values if not math.isfinite(v)]
    if any(math.isnan(v) for v in odd) or (how == "mean" and len(set(odd)) == 2):
        return math.nan, True
    if odd:
        return set(odd), True
    if how == "mean":
        return math.fsum(values) / count, True
    return (max if how == "max" else min)(values), True


@pytest.mark.parametrize("how", ["max", "min", "mean"])
@given(data=st.data())
def test_pooling_is_what_brute_force_gives(how: str, data: st.DataObject) -> None:
    values, flags, matrix = data.draw(cases())
    rows, columns = data.draw(windows(values.shape))
    window, allowed = values[rows, columns], flags[rows, columns]
    height, width = window.shape
    out = data.draw(st.integers(1, height)), data.draw(st.integers(1, width))
    found, any_allowed = matrix.pooled(rows, columns, out, how)  # type: ignore[arg-type]
    assert found.shape == any_allowed.shape == out
    assert found.dtype == values.dtype
    for r in range(out[0]):
        for c in range(out[1]):
            block = (
                slice(r * height // out[0], (r + 1) * height // out[0]),
                slice(c * width // out[1], (c + 1) * width // out[1]),
            )
            inside = [float(v) for v in window[block][allowed[block]]]
            expected, ok = pooled_cell(inside, window[block].size, how)
            assert any_allowed[r, c] == ok
            got = float(found[r, c])
            if isinstance(expected, set):
                assert got in expected
            elif math.isnan(expected):
                assert math.isnan(got)
            elif how == "mean":
                assert got == pytest.approx(expected, rel=float(np.finfo(values.dtype).eps), abs=1e-7)
            else:
                assert got == expected


@given(st.integers(1, 5000), st.data())
def test_blocks_cover_every_row_once(length: int, data: st.DataObject) -> None:
    parts = data.draw(st.integers(1, length))
    first = edges(length, parts)
    assert first[0] == 0
    sizes = np.diff(first, append=length)
    assert sizes.min() >= length // parts
    assert sizes.max() <= -(-length // parts)


@given(st.integers(2, 300), st.integers(2, 300), st.data())
def test_a_spike_is_never_lost(n_q: int, n_k: int, data: st.DataObject) -> None:
    i, j = data.draw(st.integers(0, n_q - 1)), data.draw(st.integers(0, n_k - 1))
    out = data.draw(st.integers(1, n_q)), data.draw(st.integers(1, n_k))
    values = np.full((n_q, n_k), 0.25, np.float32)
    values[i, j] = 1.0
    found, _ = ArrayMatrix(values).pooled(slice(0, n_q), slice(0, n_k), out, "max")
    r = next(r for r in range(out[0]) if r * n_q // out[0] <= i < (r + 1) * n_q // out[0])
    c = next(c for c in range(out[1]) if c * n_k // out[1] <= j < (c + 1) * n_k // out[1])
    assert found[r, c] == 1.0
    assert (found == 1.0).sum() == 1
    lowest, _ = ArrayMatrix(-values).pooled(slice(0, n_q), slice(0, n_k), out, "min")
    assert np.array_equal(lowest, -found)


@given(cases(), st.data())
def test_windows_and_extent(case: tuple[Array, Array, DenseMatrix], data: st.DataObject) -> None:
    values, flags, matrix = case
    rows, columns = data.draw(windows(values.shape))
    assert matrix.shape == values.shape
    assert np.array_equal(matrix.block(rows, columns), values[rows, columns], equal_nan=True)
    assert np.array_equal(matrix.allowed(rows, columns), flags[rows, columns])
    usable = [float(v) for v in values[flags] if math.isfinite(v)]
    assert matrix.extent() == ((min(usable), max(usable)) if usable else (0.0, 0.0))
    assert matrix.extent() == matrix.extent()


@given(st.integers(1, 40), st.integers(1, 9), st.data())
def test_the_extent_of_a_large_matrix_is_that_of_all_its_parts(n_q: int, n_k: int, data: st.DataObject) -> None:
    random = np.random.RandomState(data.draw(st.integers(0, 1000)))
    values = random.standard_normal((n_q, n_k)).astype(np.float32)
    asked = []

    def read(rows: slice) -> torch.Tensor:
        asked.append(rows.stop - rows.start)
        return torch.tensor(values)[rows]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("attn_gui.compute.matrix.SCAN_CELLS", 7 * n_k)
        matrix = DenseMatrix((n_q, n_k), read, None, None)
        assert matrix.extent() == (float(values.min()), float(values.max()))
    assert max(asked) <= 7
    assert sum(asked) == n_q


def test_what_a_masked_cell_holds() -> None:
    values, flags = np.ones((2, 2), np.float32), np.array([[True, False], [False, False]])
    matrix = DenseMatrix((2, 2), lambda rows: torch.tensor(values)[rows], mask_of(flags), -np.inf)
    assert matrix.block(slice(0, 2), slice(0, 2)).tolist() == [[1, -np.inf], [-np.inf, -np.inf]]
    pooled, allowed = matrix.pooled(slice(0, 2), slice(0, 2), (2, 1), "max")
    assert pooled.tolist() == [[1], [0]]
    assert allowed.tolist() == [[True], [False]]


def test_bfloat16_comes_widened_and_exact() -> None:
    e = Experiment.from_tokens("ab", [[1.0, 0.3], [0.2, 0.1]], precision=Precision.BFLOAT16)
    block = trace(e).matrix("N", 0).block(slice(0, 2), slice(0, 2))
    assert block.dtype == np.float32
    assert np.array_equal(torch.tensor(block).bfloat16().float().numpy(), block)
    assert trace(e).matrix("N", 0).extent() == (float(block.min()), float(block.max()))
