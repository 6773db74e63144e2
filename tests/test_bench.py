"""The benchmarks' own bookkeeping, on made-up measurements: nothing here is timed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.bench.__main__ import cases, main
from tests.bench.report import Case, Pairs


def made_up(name: str, ours: float, limit: float | None) -> Case:
    return Case(name, "a peer", limit, lambda: Pairs((ours, 9 * ours, ours), (1.0, 9.0, 1.0)))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_limits_that_hold_give_0_and_the_figures_in_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], [made_up("fast", 0.5, 1.5), made_up("told", 7.0, None)]) == 0
    fast, told = json.loads((folder / "bench.json").read_text(encoding="utf-8"))
    assert fast.keys() == {"name", "value", "unit", "peer", "limit", "holds"}
    assert (fast["name"], fast["value"], fast["limit"], fast["holds"]) == ("fast", 0.5, 1.5, True)
    assert (told["value"], told["limit"], told["holds"]) == (7.0, None, None)
    printed = capsys.readouterr().out
    assert "torch threads" in printed.splitlines()[0]
    assert [line.split()[0] for line in printed.splitlines()[1:]] == ["name", "fast", "told"]


def test_a_limit_that_does_not_hold_gives_1(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], [made_up("fast", 1.0, 1.5), made_up("slow", 1.6, 1.5)]) == 1
    assert [figure["holds"] for figure in json.loads((folder / "bench.json").read_text("utf-8"))] == [True, False]
    assert capsys.readouterr().out.splitlines()[-1].endswith("NO")


def test_a_slow_phase_of_the_machine_leaves_the_ratio_alone() -> None:
    assert Pairs((1.0, 30.0, 1.2), (1.0, 30.0, 1.0)).ratio == 1.0


def test_words_choose_cases(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    available = [made_up("edit", 1.0, None), made_up("csv", 1.0, None)]
    assert main(["cs"], available) == 0
    assert [figure["name"] for figure in json.loads((folder / "bench.json").read_text("utf-8"))] == ["csv"]
    assert main(["nothing"], available) == 2
    assert "edit" in capsys.readouterr().out


def test_the_promised_limits_are_in_the_list() -> None:
    limits = {case.name: case.limit for case in cases()}
    assert limits["first paint"] == 1.3
    assert [limit for name, limit in limits.items() if name.startswith("edit to painted") and limit] == [1.5] * 4
    assert next(limit for name, limit in limits.items() if "csv" in name.lower()) == pytest.approx(1 / 5)
