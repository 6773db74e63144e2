"""``attn-gui mark``: a folder of answers, marked without a window."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from attn_gui import cli
from attn_gui.compute.trace import trace
from attn_gui.files import examples, session
from attn_gui.files.exercise_files import Handout, write_all
from attn_gui.files.marks_csv import COLUMNS
from attn_gui.model.check import GivenTable
from attn_gui.model.exercise import Exercise, Tally
from attn_gui.model.recipe import Recipe
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.model.table import Table

Captured = pytest.CaptureFixture[str]
RECIPE = Recipe("1", ("embeddings",), 0, 200, 2)
STUDENTS = ["right", "blank", "=SUM(1)", "changed", "unscaled", "shown", "Åsa/1"]


def told(lines: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(lines)))


def open_stages(named: NamedExperiment) -> dict[str, np.ndarray]:
    result = trace(replace(named.experiment, hidden=frozenset()))
    return {stage: result.stage(stage, 0) for stage in ("A", "N", "output")}


def answered(named: NamedExperiment, stage: str, values: np.ndarray) -> NamedExperiment:
    assert named.exercise is not None
    cells = tuple(tuple(f"{value:.3f}" for value in row) for row in values)
    return replace(named, exercise=named.exercise.with_answer(GivenTable(stage, 0, cells)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Answers of every kind."""
    answers = tmp_path / "answers"
    exercise = Exercise(("A", "N", "output"), 3, 1, recipe=RECIPE)
    list(write_all(Handout(examples.load("karina").experiment, exercise, "x"), STUDENTS, answers))
    for path in answers.iterdir():
        handed_out = session.load(path)
        named = handed_out.named
        assert named.exercise is not None
        right, student, view = open_stages(named), named.exercise.student, {}
        if student in ("right", "Åsa/1"):
            for stage, values in right.items():
                named = answered(named, stage, values)
        elif student == "=SUM(1)":  # a slip in one cell of A, carried on faithfully
            A = right["A"].copy()
            A[0, 0] += 0.5
            N = np.exp(np.round(A, 3)) / np.exp(np.round(A, 3)).sum(axis=1, keepdims=True)
            named = answered(answered(named, "A", A), "N", N)
        elif student == "changed":
            X = named.experiment.tokens.embeddings.array().copy()
            named = answered(named, "A", right["A"])
            e = named.experiment
            changed = replace(e, tokens=replace(e.tokens, embeddings=Table.of(X + 1)))
            named = replace(named, experiment=changed)
        elif student == "unscaled":
            named = answered(named, "A", right["A"] * np.sqrt(2))
        elif student == "shown":
            view = {"exercise": Tally(4, "x", True).plain()}
        session.save(Session((named,), view=view), path)
    (answers / "damaged.attn").write_bytes((answers / "right.attn").read_bytes()[:-100])
    session.save(Session((examples.load("karina"),)), answers / "foreign.attn")
    return answers


def test_a_folder_of_answers(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "marks.csv"
    assert cli.main(["mark", str(folder), "--csv", str(out)]) == 1  # two files are none
    assert f"7 of 9 files marked, written to {out}" in capsys.readouterr().out
    with out.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert tuple(lines[0]) == COLUMNS
    by = {(line["student"], line["stage"]): line for line in lines}
    assert len(lines) == 7 * 3 + 2 == len(by) + 1  # the two that are none have neither

    def counts(student: str, stage: str) -> list[int]:
        return [int(by[student, stage][name]) for name in COLUMNS[2:7]]

    for student in ("right", "Åsa/1"):
        for stage, cells in (("A", 25), ("N", 25), ("output", 10)):
            found = by[student, stage]
            assert int(found["right"]) + int(found["carried forward"]) == int(found["cells"]) == cells
            assert found["likely cause"] == found["remark"] == ""
    assert counts("right", "A") == [25, 25, 0, 0, 0]
    assert counts("blank", "N") == [25, 0, 0, 0, 25]
    assert counts("'=SUM(1)", "A") == [25, 24, 0, 1, 0]
    right, carried, wrong = counts("'=SUM(1)", "N")[1:4]
    assert right + carried == 25 and carried >= 5 and wrong == 0  # the row of the slip, and what rounding A moved
    assert counts("changed", "A") == [25, 25, 0, 0, 0]
    assert "changed: marked by those handed out" in by["changed", "A"]["remark"]
    assert "scale" in by["unscaled", "A"]["likely cause"] and counts("unscaled", "A")[3] > 20
    assert by["shown", "N"]["remark"] == "answers shown after 4 checks"
    none = {Path(line["file"]).name: line["remark"] for line in lines if not line["stage"]}
    assert none["foreign.attn"] == "not an exercise"
    assert "damaged" in none["damaged.attn"]


def test_all_marked_is_0_and_standard_output_has_the_table(folder: Path, capsys: Captured) -> None:
    assert cli.main(["mark", str(folder / "right.attn"), str(folder / "right.attn")]) == 0
    lines = told(capsys.readouterr().out)
    assert [line["stage"] for line in lines] == ["A", "N", "output"]


def test_two_files_of_one_student_are_told(folder: Path, capsys: Captured) -> None:
    (folder / "copy.attn").write_bytes((folder / "blank.attn").read_bytes())
    assert cli.main(["mark", str(folder / "blank.attn"), str(folder / "copy.attn"), str(folder / "right.attn")]) == 0
    remarks = {Path(line["file"]).name: line["remark"] for line in told(capsys.readouterr().out)}
    assert remarks["copy.attn"] == remarks["blank.attn"] == "another file is of the same student"
    assert remarks["right.attn"] == ""


def test_other_changes_than_of_drawn_numbers_cannot_be_taken_back(folder: Path, capsys: Captured) -> None:
    path = folder / "right.attn"
    named = session.load(path).named
    e = named.experiment
    session.save(Session((replace(named, experiment=replace(e, scoring=replace(e.scoring, scale=1.0))),)), path)
    assert cli.main(["mark", str(path)]) == 0
    line = told(capsys.readouterr().out)[0]
    assert "cannot be had again" in line["remark"] and int(line["wrong"]) > 0


def test_names_that_no_shell_has_expanded(folder: Path, capsys: Captured) -> None:
    assert cli.main(["mark", str(folder / "*ht.attn")]) == 0
    assert {line["student"] for line in told(capsys.readouterr().out)} == {"right"}


def test_what_was_changed_in_the_file_by_hand_is_told(folder: Path, capsys: Captured) -> None:
    named = session.load(folder / "right.attn").named
    assert named.exercise is not None
    for name, change in {
        "foreign": {"student": "somebody else"},
        "fewer": {"asked": ("A",), "answers": named.exercise.answers[:1]},
        "opened": {"opened": ("A", "N"), "answers": ()},
    }.items():
        changed = replace(named, exercise=replace(named.exercise, **change))
        session.save(Session((changed,)), folder / f"{name}.attn")
    cli.main(["mark", str(folder)])
    remarks = {Path(line["file"]).stem: line["remark"] for line in told(capsys.readouterr().out)}
    for name in ("foreign", "fewer"):
        assert "what was given or asked was changed" in remarks[name]
    assert "shown although not right: A, N" in remarks["opened"]
    assert "shown" not in remarks["right"]


def test_a_folder_is_marked_whole(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    (folder / "right.attn").rename(folder / "RIGHT.ATTN")
    cli.main(["mark", str(folder)])
    assert "right" in {line["student"] for line in told(capsys.readouterr().out)}
    (tmp_path / "empty").mkdir()
    assert cli.main(["mark", str(folder), str(tmp_path / "empty")]) == 1
    assert "there is no .attn file in" in capsys.readouterr().err


def test_marks_never_replace_answers(folder: Path, capsys: Captured) -> None:
    first, *others = sorted(map(str, folder.glob("*.attn")))  # as a shell expands --csv answers/*.attn
    before = Path(first).read_bytes()
    assert cli.main(["mark", "--csv", first, *others]) == 1
    assert "received one of answers" in capsys.readouterr().err and Path(first).read_bytes() == before


def test_nothing_to_mark(tmp_path: Path, capsys: Captured) -> None:
    assert cli.main(["mark", str(tmp_path)]) == 1
    assert "there is no .attn file" in capsys.readouterr().err
    assert cli.main(["mark", str(tmp_path / "gone.attn")]) == 1
    assert "does not exist" in capsys.readouterr().err


def test_marks_that_cannot_be_written_leave_what_was_there(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    assert cli.main(["mark", str(folder / "right.attn"), "--csv", str(tmp_path / "no" / "marks.csv")]) == 1
    assert "a folder that exists" in capsys.readouterr().err


@pytest.mark.parametrize("more", [["--stage", "N"], ["--top", "2"], []])
def test_no_export_of_what_an_exercise_hides(folder: Path, tmp_path: Path, more: list[str], capsys: Captured) -> None:
    code = cli.main(["export", str(folder / "right.attn"), "--out", str(tmp_path / "out"), *more])
    if more:
        assert code == 1 and "the exercise hides" in capsys.readouterr().err
        return
    assert code == 0
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        *("X.csv", "Q_head1.csv", "K_head1.csv", "V_head1.csv", "experiment.json", "export.json")
    }
    assert '"row_sums": {}' in (tmp_path / "out" / "export.json").read_text()


def test_info_says_what_is_asked(folder: Path, capsys: Captured) -> None:
    assert cli.main(["info", str(folder / "blank.attn")]) == 0
    assert "A, N, output, to be filled in by blank" in capsys.readouterr().out


def test_marking_needs_no_qt(folder: Path) -> None:
    code = "import sys; sys.modules['PySide6'] = None; from attn_gui import cli; sys.exit(cli.main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", code, "mark", str(folder / "blank.attn")], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0 and "blank,A,25,0,0,0,25" in done.stdout, done.stderr
