"""``attn-gui scores``: a line for each head of every layer."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest

from attn_gui import cli
from attn_gui.files.session import save
from attn_gui.model.exercise import Exercise
from attn_gui.model.experiment import Experiment
from attn_gui.model.head_scores import HEAD_SCORES
from attn_gui.model.layer_place import LayerPlace
from attn_gui.model.session import NamedExperiment, Session
from tests import reference_scores

Captured = pytest.CaptureFixture[str]
TOKENS = ["[CLS]", "a", "b", ",", "a", "b", "[SEP]"]


@pytest.fixture
def layers() -> list[np.ndarray]:
    random = np.random.default_rng(3)
    return [random.random((heads, 7, 7)) for heads in (2, 3)]


@pytest.fixture
def stored(tmp_path: Path, layers: list[np.ndarray]) -> Path:
    named = [
        NamedExperiment(
            f"Layer {k + 1}, “first” half",
            Experiment.from_weights(N, tokens=TOKENS),
            place=LayerPlace(k, f"encoder.layer.{k}.self", batch=0),
        )
        for k, N in enumerate(layers)
    ]
    save(Session((*named, NamedExperiment("alone", Experiment.from_tokens("ab", np.eye(2))))), tmp_path / "s.attn")
    return tmp_path / "s.attn"


def test_every_head_of_every_layer(stored: Path, layers: list[np.ndarray], capsys: Captured) -> None:
    assert cli.main(["scores", str(stored)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["layer"], row["head"]) for row in rows] == [
        ("1", "1"), ("1", "2"), ("2", "1"), ("2", "2"), ("2", "3"), ("", "1"),
    ]  # fmt: skip
    assert rows[2]["experiment"] == "Layer 2, “first” half"
    assert (rows[2]["module"], rows[2]["kind"], rows[2]["batch"]) == ("encoder.layer.1.self", "self", "1")
    assert rows[-1]["module"] == "" and rows[-1]["batch"] == ""
    e = Experiment.from_weights(layers[1], tokens=TOKENS)
    expected = reference_scores.statistics(e, layers[1][2], 2) | reference_scores.patterns(e, layers[1][2])
    found = [float(rows[4][score.name]) for score in HEAD_SCORES]
    np.testing.assert_allclose(found, [expected[score.name] for score in HEAD_SCORES], rtol=1e-9)


def test_into_a_file(stored: Path, tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "scores.csv"
    assert cli.main(["scores", str(stored), "--csv", str(out)]) == 0
    assert capsys.readouterr().out == f"6 heads in 3 layers scored, written to {out}\n"
    assert cli.main(["scores", str(stored)]) == 0
    assert capsys.readouterr().out.splitlines() == out.read_text(encoding="utf-8").splitlines()


def test_of_an_example_and_of_what_cannot_be(tmp_path: Path, capsys: Captured) -> None:
    assert cli.main(["scores", "--example", "karina"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert cli.main(["scores", str(tmp_path / "none.attn")]) == 1
    assert "none.attn" in capsys.readouterr().err
    assert cli.main(["scores"]) == 2


def test_what_an_exercise_hides_is_not_given_away(tmp_path: Path, capsys: Captured) -> None:
    e = Experiment.from_tokens("ab", np.eye(2))
    named = NamedExperiment("asked", e, exercise=Exercise(("N",)))
    save(Session((named,)), tmp_path / "x.attn")
    assert cli.main(["scores", str(tmp_path / "x.attn")]) == 1
    out, err = capsys.readouterr()
    assert out == "" and "hid" in err
