"""A model is captured anew while changes are tried in it: one after the other, and neither spoils the other."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

os.environ["HF_HUB_OFFLINE"] = "1"
pytest.importorskip("transformers")

from attn_gui.compute.capture.capturing import capture
from attn_gui.compute.capture.opening import open_model
from attn_gui.control.document import Document
from attn_gui.control.feed import Feed
from attn_gui.control.intervening import Intervening
from attn_gui.control.modelling import EDITED, Modelling
from attn_gui.control.worker import Worker
from attn_gui.model.experiment import Experiment
from attn_gui.model.intervention import Action, Outcome, SwitchOff, site_of
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.model.sources import GivenQKV
from tests.views.models.tiny import TEXT, save

LONG = 60_000
OTHER = " ".join([TEXT] * 4)
Parts = tuple[Document, Modelling, Intervening]


@pytest.fixture
def parts(qtbot: QtBot, tmp_path: Path) -> Iterator[Parts]:
    """With the model open, captured on TEXT, and somebody who looks at what comes out."""
    worker = Worker()
    document = Document(Session((NamedExperiment("One", Experiment.from_tokens("a", [[1.0]])),)), Feed(worker))
    modelling = Modelling(worker, document)
    intervening = Intervening(worker, document, modelling)
    with qtbot.waitSignal(modelling.opened, timeout=LONG):
        modelling.open(save("gpt2", tmp_path / "model"))
    with qtbot.waitSignal(modelling.captured, timeout=LONG):
        modelling.capture([TEXT])
    with qtbot.waitSignal(intervening.answered, timeout=LONG):
        intervening.look(True)
    yield document, modelling, intervening
    worker.close()


def switched_off(session: Session) -> Action:
    site = site_of(session, 1)
    assert site is not None
    return Action((site,), SwitchOff(), (2,))


def queries(session: Session) -> list[np.ndarray]:  # type: ignore[type-arg]
    sources = [named.experiment.source for named in session.experiments]
    return [source.Q for source in sources if isinstance(source, GivenQKV)]


def as_captured_alone(document: Document, tmp_path: Path) -> None:
    opened = open_model(tmp_path / "model")
    expected = capture(opened.model, opened.tokenizer, OTHER)
    found = queries(document.session)
    assert len(found) == len(expected.experiments)
    for here, there in zip(found, queries(expected), strict=True):
        np.testing.assert_array_equal(here, there)


def test_a_change_that_is_tried_during_a_capture_is_not_lost_to_it(parts: Parts, tmp_path: Path, qtbot: QtBot) -> None:
    document, modelling, intervening = parts
    failed: list[str] = []
    intervening.failed.connect(failed.append)
    change, before = switched_off(document.session), document.session.experiments
    with qtbot.waitSignal(modelling.not_captured, timeout=LONG) as told:
        modelling.capture([OTHER])
        intervening.add(change)
        assert modelling.working and intervening.running
    assert told.args == [EDITED]
    assert document.session.experiments is before and intervening.actions == (change,)
    qtbot.waitUntil(lambda: intervening.outcome is not None, timeout=LONG)
    assert failed == [] and intervening.outcome is not None and not intervening.outcome.same
    with qtbot.waitSignal(modelling.captured, timeout=LONG):
        modelling.capture([OTHER])
    as_captured_alone(document, tmp_path)
    assert intervening.actions == ()


def test_a_capture_that_begins_while_a_change_is_tried_is_whole(parts: Parts, tmp_path: Path, qtbot: QtBot) -> None:
    document, modelling, intervening = parts
    failed: list[str] = []
    modelling.not_captured.connect(failed.append)
    with qtbot.waitSignal(modelling.captured, timeout=LONG):
        intervening.add(switched_off(document.session))
        modelling.capture([OTHER])
        assert modelling.working and intervening.running
    assert failed == []
    as_captured_alone(document, tmp_path)
    with qtbot.waitSignal(intervening.answered, timeout=LONG) as answered:
        intervening.add(switched_off(document.session))
    outcome = answered.args[0]
    assert isinstance(outcome, Outcome) and not outcome.same
