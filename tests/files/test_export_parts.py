"""Windows, brought-down matrices and the largest of each row, read back and compared, dense and block by block."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attn_gui.compute import budget
from attn_gui.compute.pooling import pool
from attn_gui.compute.trace import trace
from attn_gui.files.csv_labels import restored
from attn_gui.files.csv_reader import read
from attn_gui.files.export_parts import TOP_HEADER, Pooled, Top, Window, export_part
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal
from attn_gui.model.precision import Precision
from attn_gui.model.trace import Trace
from tests.strategies import experiments


def traced(e: Experiment, whole: bool) -> Trace:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(budget, "TRIFLE", 0)
        return trace(e, memory=1 << 40 if whole else 0)


def lines(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def written(t: Trace, stage: str, head: Any, path: Path, part: Any, **options: Any) -> list[list[str]]:
    parts = list(export_part(t, stage, head, path, part, **options))
    assert parts == sorted(parts)
    assert parts[-1] == 1.0
    return lines(path)


@given(experiments(Precision.FLOAT32), st.booleans(), st.data())
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_window_has_its_own_labels_and_numbers(tmp_path: Path, e: Experiment, whole: bool, data: Any) -> None:
    top, left = data.draw(st.integers(0, e.n_q - 1)), data.draw(st.integers(0, e.n_k - 1))
    window = Window((top, data.draw(st.integers(top + 1, e.n_q))), (left, data.draw(st.integers(left + 1, e.n_k))))
    head = data.draw(st.sampled_from([*range(e.heads), "mean"]))
    t, path = traced(e, whole), tmp_path / "window.csv"
    rows, columns = slice(*window.rows), slice(*window.columns)
    expected = t.matrix("A_masked", head).block(rows, columns)
    found = written(t, "A_masked", head, path, window)
    assert [restored(cell) for cell in found[0][1:]] == list(e.keys.tokens[columns])
    assert [restored(line[0]) for line in found[1:]] == list(e.tokens.tokens[rows])
    assert np.array_equal(np.array([line[1:] for line in found[1:]], dtype=np.float64).astype(expected.dtype), expected)
    long = written(t, "A_masked", head, path, window, long_form=True)
    assert [(int(line[1]) - 1, int(line[3]) - 1) for line in long[1:]] == [
        (i, j) for i in range(*window.rows) for j in range(*window.columns)
    ]
    assert {line[0] for line in long[1:]} == {"mean" if head == "mean" else str(head + 1)}


@given(experiments(Precision.FLOAT32), st.booleans(), st.integers(1, 6), st.sampled_from(["max", "mean", "min"]))
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_brought_down_it_is_the_pooled_matrix(tmp_path: Path, e: Experiment, whole: bool, size: int, how: Any) -> None:
    t = traced(e, whole)
    found = written(t, "N", 0, tmp_path / "pooled.csv", Pooled(size, how))
    every = slice(0, e.n_q), slice(0, e.n_k)
    matrix = t.matrix("N", 0)
    out = min(size, e.n_q), min(size, e.n_k)
    expected, _ = pool(matrix.block(*every), matrix.allowed(*every), out, how)
    numbers = np.array([line[1:] for line in found[1:]], dtype=np.float64)
    assert np.allclose(numbers, expected, rtol=4 * e.precision.eps, atol=1e-7)


def test_blocks_are_named_by_the_places_of_their_tokens(tmp_path: Path) -> None:
    t = trace(Experiment.from_tokens("abcde", np.eye(5)))
    found = written(t, "N", 0, tmp_path / "pooled.csv", Pooled(3))
    assert found[0] == ["query", "a", "2 to 3", "4 to 5"]


@given(experiments(Precision.FLOAT32), st.booleans(), st.integers(1, 9), st.sampled_from(["N", "A_masked", "raw"]))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_largest_of_each_row(tmp_path: Path, e: Experiment, whole: bool, count: int, stage: str) -> None:
    t = traced(e, whole)
    found = written(t, stage, 0, tmp_path / "top.csv", Top(count))
    assert ",".join(found[0]) == TOP_HEADER
    matrix = t.matrix(stage, 0)
    every = slice(0, e.n_q), slice(0, e.n_k)
    values, allowed = matrix.block(*every), matrix.allowed(*every)
    expected = []
    for i in range(e.n_q):
        keys = sorted(np.flatnonzero(allowed[i]).tolist(), key=lambda j: (-values[i, j], j))[:count]
        expected += [("1", i + 1, rank, j + 1) for rank, j in enumerate(keys, 1)]
    assert [(line[0], int(line[1]), int(line[3]), int(line[4])) for line in found[1:]] == expected
    for line in found[1:]:
        assert restored(line[5]) == e.keys.tokens[int(line[4]) - 1]
        assert (
            matrix.block(slice(0, e.n_q), slice(0, e.n_k)).dtype.type(line[6])
            == values[int(line[1]) - 1, int(line[4]) - 1]
        )


@pytest.mark.parametrize("window", [Window((0, 6), (0, 5)), Window((2, 2), (0, 5)), Window((0, 5), (-1, 5))])
def test_a_window_outside_the_matrix_is_refused(tmp_path: Path, window: Window) -> None:
    t = trace(Experiment.from_tokens("abcde", np.eye(5)))
    with pytest.raises(ValueError, match=r"expected some of the (queries|keys) 1 to 5"):
        list(export_part(t, "N", 0, tmp_path / "w.csv", window))
    assert not list(tmp_path.iterdir())


def test_closing_it_half_way_leaves_no_file(tmp_path: Path) -> None:
    e = Experiment.from_tokens(
        [f"t{k}" for k in range(700)], np.random.default_rng(0).normal(size=(700, 4)), rule=Causal()
    )
    for part in (Top(3), Pooled(100), Window((0, 700), (0, 700))):
        steps = export_part(traced(e, False), "N", 0, tmp_path / "x.csv", part)
        next(steps)
        steps.close()
        assert not list(tmp_path.iterdir())


def test_a_window_is_read_back_as_a_table(tmp_path: Path) -> None:
    e = Experiment.from_tokens(["=1", "a,b", 'c"', "d\ne"], np.eye(4))
    path = tmp_path / "w.csv"
    list(export_part(trace(e), "N", 0, path, Window((1, 4), (0, 3))))
    table = read(path)
    assert list(table.rows) == ["a,b", 'c"', "d\ne"]
