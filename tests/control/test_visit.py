"""A visit leaves what is open as it was: session, file, history, and what is unsaved."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from attn_gui.control.document import Document
from attn_gui.control.feed import Feed
from attn_gui.control.notices import Notices
from attn_gui.control.recovery import Recovery
from attn_gui.control.settings import Settings
from attn_gui.control.storage import Storage
from attn_gui.control.worker import Worker
from attn_gui.files import examples, session
from attn_gui.model.edits import set_cells
from attn_gui.model.experiment import Experiment
from attn_gui.model.session import Session


@pytest.fixture
def document(qtbot: QtBot) -> Iterator[Document]:
    worker = Worker()
    yield Document(Session((examples.load("karina"),)), Feed(worker))
    worker.close()


def edited(document: Document, value: float) -> Experiment:
    return set_cells(document.experiment, "tokens", 0, 0, value)


def edit(document: Document, *values: float) -> None:
    for value in values:
        document.apply(f"to {value}", edited(document, value))


def texts(document: Document) -> tuple[int, list[str]]:
    stack = document.undo_stack
    return stack.index(), [stack.text(k) for k in range(stack.count())]


def cell(document: Document) -> float:
    return float(document.experiment.tokens.embeddings[0, 0])


def test_everything_is_as_it_was_undone_steps_included(document: Document) -> None:
    edit(document, 2, 3, 4)
    document.undo_stack.undo()
    document.keep_view(mapping="log")
    before, history = document.session, texts(document)
    document.visit(examples.load("cat"))
    assert document.visiting and document.session.named.name.startswith("The cat")
    assert not document.undo_stack.canUndo() and not document.undo_stack.canRedo()
    edit(document, 7, 8)
    document.keep_view(mapping="linear")
    document.depart("Example", examples.load("karina"))
    document.come_back()
    assert document.session is before and not document.visiting
    assert texts(document) == history and [left.session for left in document.unsaved] == [before]
    document.undo_stack.redo()
    assert cell(document) == 4
    for _ in range(3):
        document.undo_stack.undo()
    assert cell(document) == 1 and not document.modified


def test_the_menus_actions_follow_the_history_in_force(document: Document) -> None:
    undo = document.undo_group.createUndoAction(document)
    edit(document, 2)
    assert undo.isEnabled()
    document.visit(examples.load("cat"))
    assert not undo.isEnabled()
    edit(document, 7)
    document.undo_group.undo()
    assert cell(document) == 1  # of the cat
    document.come_back()
    assert undo.isEnabled()
    undo.trigger()
    assert cell(document) == 1 and document.session.named.name == "Karina"


def test_a_visit_is_never_modified_and_what_is_unsaved_at_home_stays_so(document: Document) -> None:
    told: list[bool] = []
    document.visit(examples.load("cat"))
    edit(document, 7)
    assert not document.modified and not document.dirty
    document.come_back()
    assert not document.dirty
    edit(document, 2)
    work = document.session
    document.unsaved_changed.connect(lambda: told.append(document.modified))
    document.visit(examples.load("cat"))
    edit(document, 7)
    assert not document.modified
    assert [left.session for left in document.unsaved] == [work]
    document.come_back()
    assert document.modified and [left.session for left in document.unsaved] == [work]
    assert told == [False, True]


def test_what_is_saved_during_a_visit_is_saved(document: Document, tmp_path: Path) -> None:
    edit(document, 2)
    work = document.session
    document.visit(examples.load("cat"))
    document.written(tmp_path / "work.attn", work)
    assert not document.unsaved
    document.saved(tmp_path / "cat.attn", document.session)
    assert document.path == tmp_path / "cat.attn"
    document.come_back()
    assert document.path is None and not document.dirty


def test_a_file_that_a_visit_was_saved_over_no_longer_holds_the_work(document: Document, tmp_path: Path) -> None:
    path = tmp_path / "work.attn"
    edit(document, 2)
    document.saved(path, document.session)
    assert not document.dirty
    document.visit(examples.load("cat"))
    document.saved(path, document.session)
    document.come_back()
    assert document.path == path and document.modified


def test_opening_something_ends_the_visit(document: Document, tmp_path: Path) -> None:
    ended: list[tuple[bool, Session]] = []
    document.visit_ended.connect(lambda back: ended.append((back, document.session)))
    edit(document, 2)
    document.visit(examples.load("cat"))
    edit(document, 7)
    opened = Session((examples.load("translation"),))
    document.open(opened, tmp_path / "t.attn")
    assert not document.visiting and document.session.experiments == opened.experiments
    assert ended == [(False, document.session)]
    assert not document.undo_stack.canUndo() and not document.dirty
    edit(document, 3)
    document.undo_stack.undo()
    assert document.session.named.name == opened.named.name


def test_unsaved_work_is_kept_on_disk_all_the_while(qtbot: QtBot, tmp_path: Path, document: Document) -> None:
    worker = Worker()
    recovery = Recovery(worker, document, tmp_path)
    try:
        edit(document, 2)
        qtbot.waitUntil(lambda: kept(tmp_path) == [2.0], timeout=10_000)
        document.visit(examples.load("cat"))
        edit(document, 7)
        with qtbot.waitSignal(worker.ended, timeout=10_000):
            pass
        assert kept(tmp_path) == [2.0]
        document.come_back()
        qtbot.waitUntil(lambda: not recovery._timer.isActive() and not worker.busy, timeout=10_000)
        assert kept(tmp_path) == [2.0]
        document.undo_stack.undo()
        qtbot.waitUntil(lambda: kept(tmp_path) == [], timeout=10_000)
    finally:
        recovery.close()
        worker.close()


def kept(folder: Path) -> list[Any]:
    """The first number of each work that recovery files hold."""
    files = sorted((folder / "recovery").glob("*/unsaved.attn"))
    return [float(session.load(path).experiment.tokens.embeddings[0, 0]) for path in files]


def test_a_save_that_ends_in_a_visit_is_of_what_was_open(qtbot: QtBot, tmp_path: Path, document: Document) -> None:
    worker = Worker()
    storage = Storage(worker, document, Notices(), Settings(tmp_path))
    try:
        edit(document, 2)
        with qtbot.waitSignal(storage.saved, timeout=10_000):
            storage.save(tmp_path / "work.attn")
            document.visit(examples.load("cat"))
        assert document.path is None and not document.dirty
        document.come_back()
        assert not document.dirty
    finally:
        worker.close()
