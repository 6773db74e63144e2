"""Turning queries and keys: against complex numbers and rotation matrices, and what follows from that."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attn_gui.compute.attention import turned
from attn_gui.model.errors import ExperimentError
from attn_gui.model.rotary import Rotary
from attn_gui.model.rotary.frequencies import Frequencies
from attn_gui.model.rotary.imported import ImportedRotary

Array = np.ndarray[Any, Any]


class Overflowing(Frequencies):
    """As somebody may add it, whose tables leave the range of float64."""

    def tables(self, positions: Array, d_k: int) -> tuple[Array, Array]:
        angles = np.exp(1000.0 * positions)[:, None] * np.ones(d_k // 2)
        return np.cos(angles), np.sin(angles)


class Raising(Frequencies):
    """Likewise, through Python's own numbers."""

    def tables(self, positions: Array, d_k: int) -> tuple[Array, Array]:
        return super().tables(positions * int(math.exp(1000.0)), d_k)


layouts = st.sampled_from(["halves", "interleaved"])
even = st.sampled_from([2, 4, 6, 8])
seeds = st.integers(0, 1000)


def turn(rotary: Rotary, rows: Array, positions: Array) -> Array:
    """Rows [n, d] turned as the computation turns them, in float64."""
    cos, sin = (torch.tensor(table) for table in rotary.tables(positions, rows.shape[1]))
    return turned(torch.tensor(rows)[None], cos, sin, rotary.layout, torch.float64)[0].numpy()


def pair(layout: str, p: int, width: int) -> tuple[int, int]:
    return (p, p + width // 2) if layout == "halves" else (2 * p, 2 * p + 1)


@given(layouts, even, seeds, st.integers(-50, 50), st.sampled_from([10.0, 1e4]))
def test_each_pair_is_a_complex_number_times_a_power_of_i(
    layout: str, d: int, seed: int, offset: int, base: float
) -> None:
    random = np.random.RandomState(seed)
    rows, positions = random.standard_normal((4, d)), random.randint(0, 3000, 4)
    found = turn(Frequencies(layout, offset=offset, base=base), rows, positions)
    for row, position in enumerate(positions):
        for p in range(d // 2):
            x, y = pair(layout, p, d)
            angle = (position + offset) * base ** (-2 * p / d)
            number = complex(rows[row, x], rows[row, y]) * np.exp(1j * angle)
            assert found[row, x] == pytest.approx(number.real, abs=1e-10)
            assert found[row, y] == pytest.approx(number.imag, abs=1e-10)


def rotation(layout: str, d: int, width: int, position: int, base: float) -> Array:
    """The matrix R of equation 15 of Su et al. 2021, for row vectors x R^T; identity on what is not turned."""
    R = np.eye(d)
    for p in range(width // 2):
        x, y = pair(layout, p, width)
        angle = position * base ** (-2 * p / width)
        R[x, x] = R[y, y] = np.cos(angle)
        R[y, x], R[x, y] = np.sin(angle), -np.sin(angle)
    return R


@given(layouts, even, st.sampled_from([0, 2, 4, 6, 8]), st.integers(0, 3), seeds)
def test_a_row_is_multiplied_by_a_rotation(layout: str, d: int, width: int, more: int, seed: int) -> None:
    random = np.random.RandomState(seed)
    width = min(width, d)
    rows, positions = random.standard_normal((3, d + (more if width else 0))), random.randint(0, 500, 3)
    found = turn(Frequencies(layout, width), rows, positions)
    for row, position in enumerate(positions):
        R = rotation(layout, rows.shape[1], width or d, position, 1e4)
        np.testing.assert_allclose(found[row], R @ rows[row], atol=1e-11)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), np.linalg.norm(rows, axis=1), rtol=1e-12)


SCALED = st.sampled_from(["none", "linear", "ntk", "yarn", "llama3"])


@given(layouts, even, SCALED, seeds, st.integers(0, 40), st.integers(0, 40), st.integers(0, 200))
def test_scores_depend_on_distance_alone(
    layout: str, d: int, scaling: str, seed: int, i: int, j: int, step: int
) -> None:
    random = np.random.RandomState(seed)
    q, k = random.standard_normal((2, 1, d))
    rotary = Frequencies(layout, scaling=scaling, original_length=64)

    def score(i: int, j: int) -> float:
        return float((turn(rotary, q, np.array([i])) @ turn(rotary, k, np.array([j])).T)[0, 0])

    assert score(i, j) == pytest.approx(score(i + step, j + step), abs=1e-9)


@given(even, seeds)
def test_halves_and_neighbours_are_permutations_of_each_other(d: int, seed: int) -> None:
    random = np.random.RandomState(seed)
    rows, positions = random.standard_normal((3, d)), np.arange(3)
    order = [d // 2 * (k % 2) + k // 2 for k in range(d)]  # 0, d/2, 1, d/2 + 1, ...
    halves = turn(Frequencies("halves"), rows, positions)
    np.testing.assert_allclose(
        turn(Frequencies("interleaved"), rows[:, order], positions), halves[:, order], atol=1e-14
    )


@given(layouts, even, st.integers(0, 30), seeds)
def test_an_offset_moves_all_positions(layout: str, d: int, offset: int, seed: int) -> None:
    rows, positions = np.random.RandomState(seed).standard_normal((4, d)), np.arange(4)
    moved = turn(Frequencies(layout, offset=offset), rows, positions)
    assert np.array_equal(moved, turn(Frequencies(layout), rows, positions + offset))


def test_position_0_is_not_turned() -> None:
    rows = np.arange(8.0).reshape(2, 4)
    assert np.array_equal(turn(Frequencies(), rows, np.array([0, 0])), rows)


@given(layouts, even, st.integers(0, 9), seeds)
def test_imported_tables_turn_as_what_they_came_from(layout: str, d: int, offset: int, seed: int) -> None:
    rows = np.random.RandomState(seed).standard_normal((4, d))
    computed = Frequencies(layout)
    cos, sin = computed.tables(np.arange(20), d)
    given_tables = ImportedRotary(layout, offset=offset, cos=cos, sin=sin)
    assert given_tables.turned(d) == d
    expected = turn(replace(computed, offset=offset), rows, np.arange(4))
    assert np.array_equal(turn(given_tables, rows, np.arange(4)), expected)


TABLES = {"cos": np.ones((3, 2)), "sin": np.zeros((3, 2))}


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: Frequencies().check_fits(np.arange(2), 3),
            "rotary frequencies width: expected an even number of the 3 dimensions of a head, received 3",
        ),
        (
            lambda: Frequencies(width=3).check_fits(np.arange(2), 4),
            "rotary frequencies width: expected an even number of the 4 dimensions of a head, received 3",
        ),
        (
            lambda: Frequencies(width=6).check_fits(np.arange(2), 4),
            "rotary frequencies width: expected an even number of the 4 dimensions of a head, received 6",
        ),
        (
            lambda: Frequencies("thirds"),
            "rotary frequencies layout: expected halves or interleaved, received 'thirds'",
        ),
        (
            lambda: Frequencies(base=0.5),
            "rotary frequencies base: expected a finite number from 1 to 1e15, received 0.5",
        ),
        (
            lambda: Frequencies(scaling="ntk", factor=1e200),
            "rotary frequencies factor: expected a finite number from 1 to 1e9, received 1e+200",
        ),
        (
            lambda: Frequencies(scaling="yarn", fast=1e308),
            "rotary frequencies fast: expected a finite number from 0 to 1e9, received 1e+308",
        ),
        (
            lambda: Frequencies(scaling="llama3", low=1e308),
            "rotary frequencies low: expected a finite number from 0 to 1e9, received 1e+308",
        ),
        (
            lambda: Overflowing().check_fits(np.arange(3), 4),
            "rotary frequencies: expected parameters whose cosines and sines are finite, received some whose are not",
        ),
        (
            lambda: Raising().check_fits(np.arange(3), 4),
            "rotary frequencies: expected parameters whose cosines and sines are finite, received some that have none "
            "(math range error)",
        ),
        (lambda: ImportedRotary(), "rotary imported: expected cos and sin, received none"),
        (lambda: ImportedRotary(cos=np.ones((3, 2))), "rotary imported: expected cos and sin, received none"),
        (
            lambda: ImportedRotary(cos=np.ones((3, 2)), sin=np.ones((2, 2))),
            "rotary imported sin: expected the shape of cos, (3, 2), received (2, 2)",
        ),
        (
            lambda: ImportedRotary(**TABLES).check_fits(np.array([0, 3]), 4),
            "rotary imported cos: expected a row for position 3, received rows for 0 to 2",
        ),
        (
            lambda: ImportedRotary(**TABLES, offset=-1).check_fits(np.array([0, 1]), 4),
            "rotary imported cos: expected a row for position -1, received rows for 0 to 2",
        ),
        (
            lambda: ImportedRotary(**TABLES).check_fits(np.array([0]), 3),
            "rotary imported cos: expected a column for each pair of a head's 3 dimensions, at most 1, received 2",
        ),
    ],
)
def test_what_does_not_fit_is_refused_in_words(make: Any, words: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        make()
    assert str(caught.value) == words


def test_which_can_be_begun_with() -> None:
    assert Frequencies.can_start()
    assert not ImportedRotary.can_start()
    ImportedRotary(**TABLES).check_fits(np.array([0, 2]), 7)
