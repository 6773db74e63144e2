"""Changes tried in the model of a session that comes from a file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

os.environ["HF_HUB_OFFLINE"] = "1"
pytest.importorskip("transformers")

from attn_gui.compute.capture.capturing import capture
from attn_gui.compute.capture.opening import open_model
from attn_gui.control.document import Document
from attn_gui.control.feed import Feed
from attn_gui.control.intervening import Intervening
from attn_gui.control.modelling import Modelling
from attn_gui.control.worker import Worker
from attn_gui.files import session as session_file
from attn_gui.model.experiment import Experiment
from attn_gui.model.intervention import Action, ChangeTemperature, Forbid, Guesses, Outcome, Site, SwitchOff, site_of
from attn_gui.model.session import NamedExperiment, Session
from tests.views.models.tiny import TEXT, WORDS, probabilities, save

LONG = 60_000
Parts = tuple[Document, Modelling, Intervening]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save("gpt2", tmp_path_factory.mktemp("gpt2"))


@pytest.fixture(scope="module")
def captured(folder: Path) -> Session:
    opened = open_model(folder)
    return capture(opened.model, opened.tokenizer, TEXT)


@pytest.fixture
def parts(qtbot: QtBot) -> Iterator[Parts]:
    worker = Worker()
    document = Document(Session((NamedExperiment("One", Experiment.from_tokens("a", [[1.0]])),)), Feed(worker))
    modelling = Modelling(worker, document)
    yield document, modelling, Intervening(worker, document, modelling)
    worker.close()


def test_a_session_from_a_file_opens_its_model_again(
    parts: Parts, captured: Session, folder: Path, qtbot: QtBot, tmp_path: Path
) -> None:
    document, modelling, intervening = parts
    assert "File > Open model" in intervening.reason()
    document.open(captured, None)
    site = site_of(captured, 1)
    assert intervening.reason() == "" and site is not None
    intervening.add(Action((site,), SwitchOff(), (2,)))
    assert intervening.outcome is None and not intervening.running, "nobody looks"
    path = tmp_path / "kept.attn"
    session_file.save(document.session, path)
    document.open(Session((NamedExperiment("One", Experiment.from_tokens("a", [[1.0]])),)), None)
    assert intervening.actions == ()
    document.open(session_file.load(path), path)
    assert intervening.actions == (Action((site,), SwitchOff(), (2,)),)
    with qtbot.waitSignal(intervening.answered, timeout=LONG) as answered:
        intervening.look(True)
    outcome = answered.args[0]
    assert isinstance(outcome, Outcome) and isinstance(outcome.result, Guesses) and modelling.model is None
    odds = outcome.result.texts[0][-1]
    runs = (odds.before, probabilities(folder, TEXT)), (odds.after, probabilities(folder, TEXT, 1, 2))
    for run, expected in runs:
        assert run == pytest.approx([float(expected[-1, WORDS.index(token)]) for token in odds.tokens], abs=1e-7)


def test_one_mask_temperature_or_replacement_at_a_place_and_any_number_of_pairs(
    parts: Parts, captured: Session
) -> None:
    document, _, intervening = parts
    document.open(captured, None)
    site = Site("transformer.h.0.attn")
    for temperature in (2.0, 3.0):
        intervening.add(Action((site,), ChangeTemperature(temperature), (0,)))
    intervening.add(Action((site,), ChangeTemperature(4.0), (1,)))
    for key in (0, 1, 1):
        intervening.add(Action((site,), Forbid(2, key), (0,), 0))
    changes = [action.change for action in intervening.actions]
    assert changes == [ChangeTemperature(3.0), ChangeTemperature(4.0), Forbid(2, 0), Forbid(2, 1)]
    intervening.remove(0)
    assert [action.change for action in intervening.actions] == changes[1:]
    intervening.clear()
    assert intervening.actions == ()


def test_a_model_that_is_gone_is_named_and_any_like_it_will_do(
    parts: Parts, captured: Session, folder: Path, qtbot: QtBot, tmp_path: Path
) -> None:
    document, modelling, intervening = parts
    assert captured.model is not None
    gone = str(tmp_path / "moved away")
    document.open(replace(captured, model=replace(captured.model, path=gone)), None)
    assert gone in intervening.reason() and "GPT2LMHeadModel" in intervening.reason()
    intervening.look(True)
    assert not intervening.running
    with qtbot.waitSignal(modelling.opened, timeout=LONG):
        modelling.open(folder)
    assert intervening.reason() == ""
    qtbot.waitUntil(lambda: intervening.outcome is not None, timeout=LONG)
    assert intervening.outcome is not None and intervening.outcome.same
    failed: list[str] = []
    intervening.failed.connect(failed.append)
    intervening.add(Action((Site("transformer.h.0.attn"),), Forbid(0, 99)))
    qtbot.waitUntil(lambda: bool(failed), timeout=LONG)
    assert failed == ["Key: expected 1 to 6, received 100"] and not intervening.running
    intervening.clear()
    intervening.cancel()
    assert not intervening.running and intervening.outcome is None


def test_another_model_of_the_same_class_is_refused(
    parts: Parts, captured: Session, qtbot: QtBot, tmp_path: Path
) -> None:
    document, modelling, intervening = parts
    assert captured.model is not None
    gone = replace(captured, model=replace(captured.model, path=""))
    document.open(gone, None)
    with qtbot.waitSignal(modelling.opened, timeout=LONG):
        modelling.open(save("gpt2", tmp_path / "another", seed=4))
    with qtbot.waitSignal(intervening.failed, timeout=LONG) as failed:
        intervening.look(True)
    assert "is another GPT2LMHeadModel than the one that was captured" in failed.args[0]


@pytest.mark.parametrize("path", ["n" * 5000, "a\0b"])
def test_a_model_at_a_path_that_no_file_can_have_is_not_at_hand(parts: Parts, captured: Session, path: str) -> None:
    document, _, intervening = parts
    assert captured.model is not None
    document.open(replace(captured, model=replace(captured.model, path=path)), None)
    assert "is not at hand" in intervening.reason()
