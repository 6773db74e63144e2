"""Source expressions give, evaluated, the very numbers that are selected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attn_gui.model.experiment import Experiment
from attn_gui.model.origin import Origin
from attn_gui.model.session import NamedExperiment
from attn_gui.model.source_expression import indexed, source_expression
from attn_gui.model.trace import Head

DIGEST = "sha256:0"
places = st.none() | st.sets(st.integers(0, 5), min_size=1, max_size=6).map(sorted)


def named(e: Experiment, **expressions: str) -> NamedExperiment:
    return NamedExperiment("x", e, origin=Origin("/attn.npy", DIGEST, {}, expressions))


@settings(max_examples=60)
@given(
    st.integers(0, 1) | st.just("mean"),
    places,
    places,
    st.sampled_from(["a", "a[1]", "a[1, 0]", "d['x'][1]", "a[0:2][1]"]),
)
def test_evaluated_it_is_the_selection(
    head: Head, rows: list[int] | None, columns: list[int] | None, start: str
) -> None:
    a = (
        np.arange(2 * 3 * 2 * 6 * 6).reshape(2, 3, 2, 6, 6)
        if start == "a[1, 0]"
        else np.arange(2 * 72).reshape(2, 2, 6, 6)
    )
    scope: dict[str, Any] = {"a": a[0] if start == "a" else a, "d": {"x": a}, "np": np}
    whole = eval(start, scope)
    chosen = whole.mean(axis=0) if head == "mean" else whole[head]
    expected = chosen[np.ix_(*(range(6) if p is None else p for p in (rows, columns)))]
    found = eval(indexed(start, head, rows, columns), scope)
    assert np.array_equal(np.squeeze(found), np.squeeze(expected))


def test_as_a_person_would_write_it() -> None:
    start = "np.load('attn.npy')[12]"
    assert indexed(start, 7, list(range(34, 50)), None) == "np.load('attn.npy')[12, 7, 34:50]"
    assert indexed(start, 7, None, None) == "np.load('attn.npy')[12, 7]"
    assert indexed(start, 7, [3], [4]) == "np.load('attn.npy')[12, 7, 3, 4]"
    assert indexed(start, 7, None, [1, 3]) == "np.load('attn.npy')[12, 7][:, [1, 3]]"
    assert indexed(start, "mean", None, [4]) == "np.load('attn.npy')[12].mean(axis=0)[:, 4]"
    assert indexed("np.load('a.npz')['attn']", 0, [2], None) == "np.load('a.npz')['attn'][0, 2]"


def test_of_what_the_file_holds() -> None:
    weights = Experiment.from_weights(np.full((2, 6, 6), 1 / 6))
    assert source_expression(named(weights, N="x"), "N", 1, {2, 3}, set()) == "x[1, 2:4]"
    assert source_expression(named(weights, N="x"), "N", 1, set(range(6)), {5}) == "x[1, :, 5]"
    assert source_expression(named(weights, A="y"), "N", 1, {2}, {3}) == "A = y[1, 2, 3]"
    assert source_expression(NamedExperiment("x", weights), "N", 0, {0}, {0}) == ""
    random = np.random.default_rng(0)
    grouped = Experiment.from_qkv(random.random((4, 6, 2)), random.random((2, 6, 2)), random.random((2, 6, 2)))
    text = source_expression(named(grouped, Q="q", K="k", V="v"), "N", 3, {1}, {4, 5})
    assert text == "Q = q[3, 1]\nK = k[1, 4:6]"


def test_from_a_file_on_disk(tmp_path: Path) -> None:
    N = np.random.default_rng(0).random((3, 2, 6, 6))
    np.save(tmp_path / "attn.npy", N)
    path = str(tmp_path / "attn.npy")
    text = source_expression(named(Experiment.from_weights(N[2]), N=f"np.load({path!r})[2]"), "N", 1, {4}, {0, 1, 2})
    assert np.array_equal(eval(text), N[2, 1, 4, :3])


@pytest.mark.parametrize("head", [0, "mean"])
def test_scattered_places_on_both_sides(head: Head) -> None:
    assert "np.ix_([0, 2], [1, 3])" in indexed("a", head, [0, 2], [1, 3])
