"""The benchmarks at sizes that take no time: what they measure is measured, written down and judged. No time is."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from pytestqt.qtbot import QtBot

from attn_gui.compute.trace import trace
from tests.bench import csv_export, edit_to_painted, first_paint, stages
from tests.bench.__main__ import cases, main
from tests.bench.report import Case, Figure, Pairs
from tests.bench.subject import KARINA, SIZES, WIDE, Forward, Size, alternate, experiment

SMALL = Size(6, 4, 2)
TWICE = Pairs((2.0, 3.0, 2.0), (1.0, 1.0, 1.0))


def case(name: str, limit: float | None, pairs: Pairs = TWICE) -> Case:
    return Case(name, "the peer", limit, lambda: pairs)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_table_and_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], [case("first", 2.0), case("second", None)]) == 0
    told = capsys.readouterr().out
    for word in ("torch threads", torch.__version__, "name", "limit", "holds", "first", "second", "2,000 ms", "yes"):
        assert word in told
    one, other = json.loads((folder / "bench.json").read_text(encoding="utf-8"))
    assert one == {
        "name": "first",
        "value": 2.0,
        "unit": "ratio to peer",
        "peer": "the peer: 1,000 ms",
        "limit": 2.0,
        "holds": True,
    }
    assert (other["limit"], other["holds"]) == (None, None)


def test_a_limit_that_does_not_hold(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], [case("first", None), case("second", 1.9), case("third", 2.1)]) == 1
    assert [figure["holds"] for figure in json.loads((folder / "bench.json").read_text())] == [None, False, True]
    assert "NO" in capsys.readouterr().out


def test_cases_are_chosen_by_a_part_of_their_name(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    available = [case("edit, n 5", None), case("edit, n 64", None), case("csv", None)]
    assert main(["n 64", "csv"], available) == 0
    assert [figure["name"] for figure in json.loads((folder / "bench.json").read_text())] == ["edit, n 64", "csv"]
    assert main(["nothing"], available) == 2
    assert "edit, n 5" in capsys.readouterr().out


def test_ratios_are_of_neighbours() -> None:
    assert Pairs((1.0, 20.0, 3.0), (2.0, 10.0, 1.0)).ratio == 2.0
    assert Figure(case("equal", 2.0), TWICE).holds


def test_every_limit_of_the_programme_is_there() -> None:
    limits = {made.name: made.limit for made in cases()}
    assert len(limits) == len(cases())
    assert limits["first paint"] == 1.3
    assert [limits[f"edit to painted, {size}"] for size in SIZES] == [1.5] * 4
    assert [str(size) for size in SIZES][::3] == ["n 5, d 2, 1 head", "n 1,024, d 64, 8 heads"]
    assert limits[f"edit to painted, {WIDE}"] is None
    assert limits["csv of A, 4 million cells"] == 0.2


@pytest.mark.parametrize("size", [KARINA, SMALL])
def test_the_peer_computes_the_same(size: Size) -> None:
    e = experiment(size)
    A, N, output = Forward(e)()
    ours = trace(e)
    for name, peer in (("A", A), ("N", N), ("output", output)):
        np.testing.assert_allclose(ours.stage(name), peer.numpy(), rtol=1e-5, atol=1e-6)


def test_we_and_the_peer_take_turns() -> None:
    turns: list[str] = []
    pairs = alternate(lambda: turns.append("ours"), lambda: turns.append("peer"), 4, 60.0)
    assert turns == ["ours", "peer"] * 5
    assert len(pairs.ours) == len(pairs.peer) == 4


def test_an_edit_is_waited_for_until_it_is_painted(qtbot: QtBot) -> None:
    pairs = edit_to_painted.measure(SMALL, count=2)
    assert len(pairs.ours) == len(pairs.peer) == 2
    assert min(*pairs.ours, *pairs.peer) > 0


def test_stages_and_csv() -> None:
    assert min(stages.measure_trace(SMALL, count=2).ours) > 0
    assert min(stages.measure_pictures(SMALL, count=2).peer) > 0
    assert min(csv_export.measure(SMALL, count=2).ours) > 0


def test_whole_programs_are_started() -> None:
    paint, result = first_paint.starts(1)
    assert paint.peer == result.peer
    assert 0 < paint.ours[0] < result.ours[0]
