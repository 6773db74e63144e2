from __future__ import annotations

import json
import re
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attn_gui.compute.trace import trace
from attn_gui.files import examples, session
from attn_gui.files.errors import FileError
from attn_gui.files.exercise_files import (
    LONGEST_NAME,
    Handout,
    file_names,
    fingerprint,
    given_again,
    read_students,
    safe_name,
    students_in,
    write_all,
    write_one,
)
from attn_gui.model.check import GivenTable
from attn_gui.model.exercise import ASKABLE, Exercise, hidden_by
from attn_gui.model.experiment import Experiment
from attn_gui.model.recipe import Recipe
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.model.table import Table
from attn_gui.model.weights import Weights

RECIPE = Recipe("1", ("embeddings",), -2000, 2000, 3)
ANSWERED = GivenTable("A", 0, (("0.5", "", "1e-3"),) * 3)


def general(tokens: int = 3, width: int = 4) -> Experiment:
    """An experiment none of whose numbers is round."""
    random = np.random.RandomState(7)
    X = random.standard_normal((tokens, width))
    W = [random.standard_normal((width, width)) / width for _ in range(4)]
    return Experiment.from_tokens([f"t{i}" for i in range(tokens)], X, Weights.of(*W), heads=2)


def text_and_arrays(path: Path) -> tuple[str, list[np.ndarray]]:
    """All that a file holds."""
    with ZipFile(path) as zipped:
        members = {name: zipped.read(name) for name in zipped.namelist()}
    arrays = [np.load(BytesIO(data)) for name, data in members.items() if name.endswith(".npy")]
    assert len(arrays) == len(members) - 1
    return members["session.json"].decode(), arrays


@pytest.mark.parametrize("size", [(3, 4), (34, 32)], ids=["in JSON", "in members"])
@pytest.mark.parametrize("stage", ASKABLE)
def test_an_exercise_file_holds_no_answer_in_any_form(tmp_path: Path, stage: str, size: tuple[int, int]) -> None:
    e = general(*size)
    write_one(Handout(e, Exercise((stage,), recipe=RECIPE), "x"), "ann", tmp_path / "x.attn")
    handed_out = session.load(tmp_path / "x.attn").experiment
    solution = trace(replace(handed_out, hidden=frozenset()))
    names = sorted(hidden_by([stage]) - {"Q_projected", "K_projected"})  # those are there with rotary positions only
    hidden = np.concatenate([solution.stage(name).ravel() for name in names])
    hidden = hidden[np.isfinite(hidden)].astype(np.float64)
    text, arrays = text_and_arrays(tmp_path / "x.attn")
    assert bool(arrays) == (size[0] > 3)
    for array in arrays:
        # of a thousand numbers of seven digits and some ten thousand others, two may agree by chance
        assert np.isin(array.astype(np.float32), hidden.astype(np.float32)).sum() <= array.size // 200
    printed = set(re.findall(r"-?\d+\.\d+(?:e-?\d+)?", text))
    assert printed or arrays, "the file shows what is given"
    # of fewer decimals than the given numbers have, those may agree by chance
    rounded = {f"{value:.{places}f}" for value in hidden for places in range(4, 9)} | set(map(repr, hidden.tolist()))
    assert not printed & rounded


def test_nothing_of_the_original_is_left(tmp_path: Path) -> None:
    shipped = examples.load("animal")
    recipe = Recipe("1", ("embeddings", "weights"), 101, 9999, 3)
    write_one(Handout(shipped.experiment, Exercise(("A",), recipe=recipe), "name", "task"), "ann", tmp_path / "x.attn")
    handed_out = session.load(tmp_path / "x.attn")
    (named,) = handed_out.experiments
    assert (named.name, named.note, named.focus, handed_out.view) == ("name", "task", None, {})
    drawn = np.concatenate([array.ravel() for array in named.experiment.arrays()])
    assert drawn.min() >= 0.101
    with ZipFile(tmp_path / "x.attn") as zipped:
        assert shipped.note not in zipped.read("session.json").decode()


def test_an_exercise_comes_back_as_it_was(tmp_path: Path) -> None:
    exercise = Exercise(("A", "output"), 4, 2, "ann ✓ \ud800", RECIPE, "f" * 64, ("A",), (ANSWERED,))
    session.save(Session((NamedExperiment("x", general(), exercise=exercise),)), tmp_path / "x.attn")
    loaded = session.load(tmp_path / "x.attn").named
    assert loaded.exercise == exercise
    assert loaded.experiment.hidden == hidden_by(["output"])


@pytest.mark.parametrize(
    ("part", "where"),
    [
        ({"asked": ["X"]}, "asked"),
        ({"asked": []}, "asked"),
        ({"decimals": "3"}, "decimals"),
        ({"answers": [{"stage": "A", "head": 0, "cells": [["1"], ["1", "2"]]}]}, "cells[1]"),
        ({"answers": [{"stage": "A", "head": 0, "cells": [["1" * 41]]}]}, "cells[0]"),
        ({"answers": [{"stage": "A", "head": 0, "cells": [["1"] * 2001]}]}, "cells[0]"),
        ({"answers": [{"stage": "A", "head": 0, "cells": []}] * 1001}, "answers"),
        ({"recipe": {"seed": "", "drawn": ["noise"], "least": 0, "most": 1, "decimals": 0}}, "drawn"),
        ({"recipe": {"seed": "", "drawn": ["weights"], "least": 1, "most": 1, "decimals": 0}}, "range"),
        ({"solution": [1]}, "exercise"),
    ],
)
def test_damaged_exercises_are_refused_at_their_place(tmp_path: Path, part: dict[str, object], where: str) -> None:
    path = tmp_path / "x.attn"
    session.save(Session((NamedExperiment("x", general(), exercise=Exercise(("A",))),)), path)
    with ZipFile(path) as zipped:
        plain = json.loads(zipped.read("session.json"))
    plain["experiments"][0]["exercise"] |= part
    with ZipFile(path, "w") as zipped:
        zipped.writestr("session.json", json.dumps(plain))
    with pytest.raises(FileError) as refused:
        session.load(path)
    assert "exercise" in refused.value.where and where in refused.value.where


def test_a_change_of_what_is_given_is_seen_and_taken_back() -> None:
    named = Handout(general(), Exercise(("A",), recipe=RECIPE), "x").to("ann")
    e = named.experiment
    assert given_again(named) is e
    X = e.tokens.embeddings.array().copy()
    X[0, 0] += 1
    changed = replace(e, tokens=replace(e.tokens, embeddings=Table.of(X)))
    back = given_again(replace(named, experiment=changed))
    assert back is not None and np.array_equal(back.tokens.embeddings.array(), e.tokens.embeddings.array())
    assert given_again(replace(named, experiment=replace(e, scoring=replace(e.scoring, scale=1.0)))) is None


def test_typing_and_hiding_leave_the_fingerprint_alone() -> None:
    named = Handout(general(), Exercise(("A",)), "x").to("")
    assert named.exercise is not None
    answered = replace(named, exercise=named.exercise.with_answer(ANSWERED).opening(["A"]), note="n", name="m")
    assert answered.exercise is not None
    assert fingerprint(answered.experiment, answered.exercise) == named.exercise.fingerprint


@pytest.mark.parametrize(
    "change", [{"student": "bob"}, {"asked": ("N",)}, {"decimals": 1}, {"tries": 1}, {"recipe": None}], ids=repr
)
def test_what_is_asked_and_of_whom_is_part_of_what_was_handed_out(change: dict[str, Any]) -> None:
    named = Handout(general(), Exercise(("A", "N"), recipe=RECIPE), "x").to("ann")
    assert named.exercise is not None and given_again(named) is named.experiment
    other = replace(named.exercise, **change)
    assert given_again(replace(named, exercise=other)) is None
    if other.recipe is not None and "student" in change:  # even where the hash was made to fit
        forged = replace(other, fingerprint=fingerprint(named.experiment, other))
        assert given_again(replace(named, exercise=forged)) is None


def test_drawn_numbers_that_were_never_drawn_are_not_as_given() -> None:
    named = Handout(general(), Exercise(("A",), recipe=RECIPE), "x").to("ann")
    e, exercise = named.experiment, named.exercise
    assert exercise is not None
    easy = replace(e, tokens=replace(e.tokens, embeddings=Table.of(np.zeros((3, 4)))))
    assert given_again(replace(named, experiment=easy)) is not easy
    assert (
        given_again(
            replace(named, experiment=easy, exercise=replace(exercise, fingerprint=fingerprint(easy, exercise)))
        )
        is None
    )


STUDENTS = [
    "Åsa/../../etc",
    "a:b",
    "A:B",
    "con",
    "",
    "...",
    "x" * 300,
    "学生",
    "a\x00b\n",
    "\ud800",
    "-rf",
    "a/b",
    "a?b",
]


def test_odd_students_get_safe_names_of_their_own(tmp_path: Path) -> None:
    names = file_names(STUDENTS)
    assert len({name.casefold() for name in names}) == len(names)
    for name in names:
        assert Path(name).name == name and len(name.encode()) <= LONGEST_NAME + 10
        assert not set(name) & set('<>:"/\\|?*\x00\n')
        (tmp_path / name).write_text("")
    assert len(list(tmp_path.iterdir())) == len(STUDENTS)
    assert "学生.attn" in names and safe_name("nul.txt") == "_nul.txt"
    assert safe_name("ann\u202ecba") == "ann_cba"


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(max_size=30), max_size=8))
def test_names_of_any_students(students: list[str]) -> None:
    names = file_names(students)
    assert len(set(map(str.casefold, names))) == len(students)
    assert all(name == Path(name).name and not name.startswith((".", " ")) and name.encode() for name in names)


def test_a_folder_of_exercises(tmp_path: Path) -> None:
    handout = Handout(general(), Exercise(("A",), recipe=RECIPE), "x")
    assert list(write_all(handout, ["ann", "b/c"], tmp_path / "new" / "class")) == [0.5, 1.0]
    loaded = [session.load(path).named for path in sorted((tmp_path / "new" / "class").iterdir())]
    assert [named.exercise.student for named in loaded if named.exercise] == ["ann", "b/c"]
    X = [named.experiment.tokens.embeddings.array() for named in loaded]
    assert not np.array_equal(*X)


def test_answers_that_are_there_are_not_replaced(tmp_path: Path) -> None:
    handout = Handout(general(), Exercise(("A",)), "x")
    (tmp_path / "bob.attn").write_text("answers")
    with pytest.raises(FileError, match=r"bob\.attn"):
        list(write_all(handout, ["ann", "bob"], tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["bob.attn"]
    assert (tmp_path / "bob.attn").read_text() == "answers"


def test_lists_of_students(tmp_path: Path) -> None:
    assert students_in("\ufeffann \n\n bob\r\nann\n  \n") == ["ann", "bob"]
    path = tmp_path / "list.txt"
    path.write_bytes("\ufeffÅsa\nbob".encode())
    assert read_students(path) == ["Åsa", "bob"]
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(FileError, match="UTF-8"):
        read_students(path)
    path.write_text("x" * 201)
    with pytest.raises(FileError, match="student 1"):
        read_students(path)
