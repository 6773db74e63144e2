"""Finding a convention in the worker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from attn_gui.compute.trace import trace
from attn_gui.control.diagnosing import Asked, Diagnosing, Finding
from attn_gui.control.worker import Worker
from attn_gui.files import tensor_file
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal
from attn_gui.model.precision import Precision
from attn_gui.model.question import Numbers
from attn_gui.model.scoring import Scoring

LONG = 60_000


@pytest.fixture
def diagnosing(qtbot: QtBot) -> Iterator[Diagnosing]:
    worker = Worker()
    yield Diagnosing(worker)
    worker.close()


@pytest.fixture
def experiment() -> Experiment:
    X = np.random.RandomState(5).standard_normal((4, 6))
    return Experiment.from_tokens("abcd", X, heads=2, precision=Precision.FLOAT64)


def weights(e: Experiment) -> Numbers:
    return Numbers.of(trace(e).stage("N"))


def test_a_finding_holds_the_experiments_to_go_on_with(
    diagnosing: Diagnosing, experiment: Experiment, qtbot: QtBot
) -> None:
    theirs = Experiment(
        experiment.tokens,
        experiment.source,
        experiment.variant,
        2,
        2,
        scoring=Scoring(scale=1.0),
        precision=Precision.FLOAT64,
    )
    running: list[bool] = []
    diagnosing.running_changed.connect(running.append)
    with qtbot.waitSignal(diagnosing.found, timeout=LONG) as found:
        diagnosing.start(Asked(experiment, None, {"weights": weights(theirs)}), "cpu")
    finding: Finding = found.args[0]
    assert running == [True, False]
    (match,) = finding.diagnosis.matches
    assert match.title == "no scale"
    setting = finding.settings[match]
    assert isinstance(setting, Experiment)
    assert setting.scoring.scale == 1.0
    np.testing.assert_array_equal(trace(setting).stage("N"), trace(theirs).stage("N"))


def test_why_a_convention_cannot_be_set(diagnosing: Diagnosing, experiment: Experiment, qtbot: QtBot) -> None:
    A = trace(experiment).stage("A")
    over_queries = np.exp(A) / np.exp(A).sum(axis=1, keepdims=True)
    with qtbot.waitSignal(diagnosing.found, timeout=LONG) as found:
        diagnosing.start(Asked(experiment, None, {"weights": Numbers.of(over_queries)}), "cpu")
    finding: Finding = found.args[0]
    assert list(finding.settings.values()) == ["Softmax over queries cannot be set: there is no setting for it."]


def test_cancelling(diagnosing: Diagnosing, experiment: Experiment, qtbot: QtBot) -> None:
    made_up = Numbers.of(np.random.RandomState(1).random((2, 4, 4)))
    told: list[str] = []
    diagnosing.found.connect(lambda finding: told.append("found"))
    with qtbot.waitSignal(diagnosing.progressed, timeout=LONG):
        diagnosing.start(Asked(experiment, None, {"weights": made_up}), "cpu")
    with qtbot.waitSignal(diagnosing.cancelled):
        diagnosing.cancel()
    assert not diagnosing.running
    # the worker is free for what comes next
    with qtbot.waitSignal(diagnosing.found, timeout=LONG):
        diagnosing.start(Asked(experiment, None, {"weights": weights(experiment)}), "cpu")
    assert told == ["found"]


def test_what_does_not_fit_is_said(diagnosing: Diagnosing, experiment: Experiment, qtbot: QtBot) -> None:
    with qtbot.waitSignal(diagnosing.failed, timeout=LONG) as failed:
        diagnosing.start(Asked(experiment, None, {"weights": Numbers.of(np.ones((3, 3)))}), "cpu")
    assert failed.args == ["Weights: expected shape (2, 4, 4) or (4, 4), received (3, 3)"]
    assert not diagnosing.running


def test_texts_are_read(diagnosing: Diagnosing, qtbot: QtBot) -> None:
    with qtbot.waitSignal(diagnosing.numbers_read, timeout=LONG) as read:
        diagnosing.read("scores", "0.5\t0.25\n1\t2")
    stage, numbers, file = read.args
    assert (stage, file) == ("scores", "")
    np.testing.assert_array_equal(numbers.values, [[0.5, 0.25], [1, 2]])
    with qtbot.waitSignal(diagnosing.not_read, timeout=LONG) as refused:
        diagnosing.read("output", "a b")
    assert refused.args == ["output", "Line 1, column 2: ‘b’ is not a number"]


@pytest.fixture
def arrays(experiment: Experiment) -> dict[str, Any]:
    found = trace(experiment)
    return {name: found.stage(name) for name in "QKV"} | {"mask": np.tri(4, dtype=bool)}


def test_files_are_opened(diagnosing: Diagnosing, arrays: dict[str, Any], tmp_path: Path, qtbot: QtBot) -> None:
    np.savez(tmp_path / "all.npz", **arrays, output=arrays["V"])
    with qtbot.waitSignal(diagnosing.opened, timeout=LONG) as opened:
        diagnosing.open("scores", tmp_path / "all.npz")
    assert set(opened.args[0].arrays) == {"Q", "K", "V", "mask", "output"}
    np.savez(tmp_path / "some.npz", attn_weights=arrays["Q"])
    np.save(tmp_path / "one.npy", arrays["Q"])
    (tmp_path / "one.csv").write_text("0.5,0.5\n0.25,0.75\n")
    for name, stage in (("some.npz", "weights"), ("one.npy", "scores"), ("one.csv", "scores")):
        with qtbot.waitSignal(diagnosing.numbers_read, timeout=LONG) as read:
            diagnosing.open("scores", tmp_path / name)
        assert (read.args[0], read.args[2]) == (stage, name)
    np.savez(tmp_path / "none.npz", loss=np.ones(1))
    for name, words in (
        ("none.npz", "none.npz: expected scores, weights or output, received loss"),
        ("nowhere.csv", "nowhere.csv: expected a file, received a name that does not exist"),
    ):
        with qtbot.waitSignal(diagnosing.not_read, timeout=LONG) as refused:
            diagnosing.open("scores", tmp_path / name)
        assert refused.args == ["scores", words]


def test_a_file_is_asked_about_in_place_of_the_window(
    diagnosing: Diagnosing, experiment: Experiment, arrays: dict[str, Any], tmp_path: Path, qtbot: QtBot
) -> None:
    causal = Experiment.from_qkv(*(arrays[name] for name in "QKV"), rule=Causal(), precision=Precision.FLOAT64)
    np.savez(tmp_path / "all.npz", **arrays)
    file = tensor_file.read(tmp_path / "all.npz")
    with qtbot.waitSignal(diagnosing.found, timeout=LONG) as found:
        diagnosing.start(Asked(experiment, file, {"weights": weights(causal)}), "cpu")
    (match,) = found.args[0].diagnosis.matches
    assert match.choices == ()
    setting = found.args[0].settings[match]
    assert setting.rule == Causal()
