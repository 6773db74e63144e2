"""Pinning: what is kept, and for how long."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from attn_gui.control.document import Document
from attn_gui.control.feed import Feed
from attn_gui.control.pinned import Pinned
from attn_gui.control.worker import Worker
from attn_gui.files import examples
from attn_gui.model.masks import Causal
from attn_gui.model.session import Session
from tests.control.waiting import until


@pytest.fixture
def document(qtbot: QtBot) -> Iterator[Document]:
    worker = Worker()
    made = Document(Session((examples.load("karina"),)), Feed(worker))
    yield made
    worker.close()


def traced(qtbot: QtBot, document: Document) -> None:
    until(qtbot, lambda: document.feed.trace is not None and document.feed.trace.experiment is document.experiment)


def test_what_is_pinned_stays_over_edits_undo_examples_and_files(qtbot: QtBot, document: Document) -> None:
    pinned = Pinned(document.feed, document)
    document.start()
    traced(qtbot, document)
    pinned.pin()
    kept = pinned.trace
    assert kept is document.feed.trace and pinned.name == "Karina"
    document.apply("mask", replace(document.experiment, rule=Causal()))
    traced(qtbot, document)
    document.undo_stack.undo()
    traced(qtbot, document)
    document.depart("example", examples.load(examples.names()[1]))
    traced(qtbot, document)
    document.open(Session((examples.load(examples.names()[2]),)), None)
    traced(qtbot, document)
    assert pinned.trace is kept and pinned.name == "Karina"
    pinned.unpin()
    assert pinned.trace is None


def test_an_edit_that_is_being_computed_is_pinned_when_it_is_there(qtbot: QtBot, document: Document) -> None:
    pinned = Pinned(document.feed, document)
    changes: list[None] = []
    pinned.changed.connect(lambda: changes.append(None))
    pinned.pin()
    assert pinned.trace is None
    document.start()
    traced(qtbot, document)
    first = pinned.trace
    assert first is not None and len(changes) == 1
    edited = replace(document.experiment, rule=Causal())
    document.apply("mask", edited)
    pinned.pin()
    assert pinned.trace is first
    traced(qtbot, document)
    assert pinned.trace is not None and pinned.trace.experiment is edited
    document.undo_stack.undo()
    traced(qtbot, document)
    assert pinned.trace.experiment is edited


def test_letting_go_before_it_is_there(qtbot: QtBot, document: Document) -> None:
    pinned = Pinned(document.feed, document)
    pinned.pin()
    pinned.unpin()
    document.start()
    traced(qtbot, document)
    assert pinned.trace is None
