"""Opening and saving: through the worker, and never at the cost of what the document holds."""

from __future__ import annotations

import errno
import os
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from attn_gui.control.document import Document
from attn_gui.control.feed import Feed
from attn_gui.control.notices import Kind, Notice, Notices
from attn_gui.control.settings import Settings
from attn_gui.control.storage import Storage
from attn_gui.control.worker import Priority, Worker
from attn_gui.files import session as session_file
from attn_gui.files.errors import FileError
from attn_gui.files.experiment_json import to_plain
from attn_gui.files.json_text import dumps
from attn_gui.model.edits import rename_tokens, set_cells
from attn_gui.model.embedding import embedded
from attn_gui.model.experiment import Experiment
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.model.tensors.proposals import propose
from tests.files.tensors.writing import looked, opened


def session_of(name: str, tokens: int = 3) -> Session:
    X = np.arange(tokens * 2.0).reshape(tokens, 2)
    return Session((NamedExperiment(name, Experiment.from_tokens([f"t{i}" for i in range(tokens)], X)),))


@dataclass
class Desk:
    """A document with its storage, and everything that was said."""

    worker: Worker
    document: Document
    settings: Settings
    storage: Storage
    said: list[Notice] = field(default_factory=list)

    def edit(self, name: str) -> None:
        self.document.apply("Rename", rename_tokens(self.document.experiment, "tokens", [0], [name]))

    @property
    def first_token(self) -> str:
        return self.document.experiment.tokens.tokens[0]

    @property
    def error(self) -> str:
        """The last thing said, which is an error on the file."""
        notice = self.said[-1]
        assert (notice.kind, notice.topic) == (Kind.ERROR, "file")
        return notice.text


@pytest.fixture
def desk(qtbot: QtBot, tmp_path: Path) -> Iterator[Desk]:
    worker = Worker()
    document = Document(session_of("first"), Feed(worker))
    notices, settings = Notices(), Settings(tmp_path / "profile")
    made = Desk(worker, document, settings, Storage(worker, document, notices, settings))
    notices.said.connect(made.said.append)
    yield made
    worker.close()


@pytest.fixture
def hold(desk: Desk) -> Iterator[Callable[[], threading.Event]]:
    """Keeps the worker at a job until the event that is returned is set."""
    events = []

    def start() -> threading.Event:
        event = threading.Event()
        events.append(event)

        def wait() -> Iterator[float]:
            event.wait(10)
            yield 1.0

        desk.worker.submit("held", wait, Priority.ASK)
        return event

    yield start
    for event in events:
        event.set()


def test_saves_and_opens_again(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "work.attn"
    desk.edit("changed")
    with qtbot.waitSignal(desk.storage.saved) as saved:
        desk.storage.save(path)
    assert saved.args == [path]
    assert (desk.document.dirty, desk.document.path) == (False, path)
    assert desk.settings.recent == [path]
    assert desk.said[-1].kind is Kind.INFO

    desk.document.open(session_of("other"), None)
    with qtbot.waitSignal(desk.storage.opened):
        desk.storage.open(path)
    assert desk.first_token == "changed"
    assert (desk.document.dirty, desk.document.path) == (False, path)
    assert desk.document.session.named.name == "first"


@pytest.mark.parametrize("is_mapped", [False, True])
@pytest.mark.parametrize("how", ["other", "gone", "same"])
def test_a_file_of_tensors_that_was_changed_before_the_session_is_saved(
    desk: Desk, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str, is_mapped: bool
) -> None:
    if is_mapped and sys.platform == "win32":
        pytest.skip("Windows lets nobody replace a mapped file")
    monkeypatch.setattr("attn_gui.files.tensors.layer_arrays.IN_MEMORY", 0 if is_mapped else 1 << 20)
    source, path = tmp_path / "attn.npy", tmp_path / "work.attn"
    N = np.random.default_rng(0).dirichlet(np.ones(40), (2, 40)).astype(np.float32)
    np.save(source, N)
    contents = looked(source)
    desk.document.open(opened(contents, propose(contents)), None)
    if how == "other":
        np.save(tmp_path / "new.npy", N[:, ::-1])
        (tmp_path / "new.npy").replace(source)
    elif how == "gone":
        source.unlink()
    with qtbot.waitSignal(desk.storage.saved):
        desk.storage.save(path)
    said = desk.said[-1]
    if how == "same":
        assert (said.kind, said.text) == (Kind.INFO, "Saved work.attn")
    else:
        assert said.kind is Kind.WARNING
        assert said.text.startswith("Saved work.attn. attn.npy: changed or moved since it was opened")
        assert ("cannot be opened without the file as it was" in said.text) == is_mapped
    if how != "same" and is_mapped:
        with pytest.raises(FileError, match=r"attn\.npy"):
            session_file.load(path)
        desk.document.apply_session("Embed the tensors", embedded(desk.document.session))
        with qtbot.waitSignal(desk.storage.saved):
            desk.storage.save(path)
        assert desk.said[-1].text == "Saved work.attn"
    assert np.array_equal(session_file.load(path).experiment.source.N, N)


def test_an_edit_during_a_save_stays_unsaved(desk: Desk, qtbot: QtBot, hold: Callable[[], threading.Event]) -> None:
    path = desk.settings.directory.parent / "work.attn"
    desk.edit("saved")
    held = hold()
    with qtbot.waitSignal(desk.storage.saved):
        desk.storage.save(path)
        desk.edit("later")
        held.set()
    assert desk.document.path == path
    assert desk.document.dirty
    assert session_file.load(path).experiment.tokens.tokens[0] == "saved"
    # the history knows which of its states the file holds
    states = []
    for move in (desk.document.undo_stack.undo, desk.document.undo_stack.undo, desk.document.undo_stack.redo):
        move()
        states.append((desk.first_token, desk.document.dirty))
    assert states == [("saved", False), ("t0", True), ("saved", False)]
    desk.document.undo_stack.redo()
    assert (desk.first_token, desk.document.dirty) == ("later", True)


def test_a_state_that_became_one_step_with_a_later_one_is_no_longer_there(
    desk: Desk, qtbot: QtBot, hold: Callable[[], threading.Event], tmp_path: Path
) -> None:
    def drag(value: float) -> None:
        desk.document.apply("Drag", set_cells(desk.document.experiment, "tokens", 0, 0, value), merge="drag")

    drag(1.0)
    held = hold()
    with qtbot.waitSignal(desk.storage.saved):
        desk.storage.save(tmp_path / "work.attn")
        drag(2.0)
        held.set()
    assert desk.document.dirty
    desk.document.undo_stack.undo()
    assert desk.document.dirty and not desk.document.undo_stack.canUndo()


def test_steps_undone_during_a_save_can_still_be_redone(
    desk: Desk, qtbot: QtBot, hold: Callable[[], threading.Event], tmp_path: Path
) -> None:
    desk.edit("one")
    desk.edit("two")
    held = hold()
    with qtbot.waitSignal(desk.storage.saved):
        desk.storage.save(tmp_path / "work.attn")
        desk.document.undo_stack.undo()
        desk.document.undo_stack.undo()
        held.set()
    assert (desk.first_token, desk.document.dirty) == ("t0", True)
    for name, dirty in (("one", True), ("two", False)):
        desk.document.undo_stack.redo()
        assert (desk.first_token, desk.document.dirty) == (name, dirty)


def test_an_edit_that_is_undone_during_a_save_leaves_it_clean(
    desk: Desk, qtbot: QtBot, hold: Callable[[], threading.Event], tmp_path: Path
) -> None:
    desk.edit("saved")
    held = hold()
    with qtbot.waitSignal(desk.storage.saved):
        desk.storage.save(tmp_path / "work.attn")
        desk.edit("later")
        desk.document.keep_view(theme="any")
        desk.document.undo_stack.undo()
        held.set()
    assert not desk.document.dirty


def test_a_save_that_ends_after_another_document_was_opened_does_not_name_it(
    desk: Desk, qtbot: QtBot, hold: Callable[[], threading.Event], tmp_path: Path
) -> None:
    held = hold()
    with qtbot.waitSignal(desk.storage.saved):
        desk.storage.save(tmp_path / "work.attn")
        desk.document.open(session_of("other"), None)
        held.set()
    assert desk.document.path is None
    assert session_file.load(tmp_path / "work.attn").named.name == "first"


def test_two_saves_in_a_row_both_reach_their_files(
    desk: Desk, qtbot: QtBot, hold: Callable[[], threading.Event], tmp_path: Path
) -> None:
    held = hold()
    paths = [tmp_path / "one.attn", tmp_path / "two.attn"]
    with qtbot.waitSignals([desk.storage.saved, desk.storage.saved], order="strict"):
        for path in paths:
            desk.storage.save(path)
        held.set()
    assert [session_file.load(path).named.name for path in paths] == ["first", "first"]
    assert desk.document.path == paths[1]
    assert not desk.document.dirty


def test_going_on_editing_while_a_file_is_read_keeps_the_edit(
    desk: Desk, qtbot: QtBot, hold: Callable[[], threading.Event], tmp_path: Path
) -> None:
    path = tmp_path / "other.attn"
    session_file.save(session_of("other"), path)
    held = hold()
    desk.storage.open(path)
    desk.edit("typed meanwhile")
    held.set()
    qtbot.waitUntil(lambda: bool(desk.said))
    assert "not opened" in desk.said[-1].text
    assert desk.first_token == "typed meanwhile"


def test_a_lone_experiment_opens_without_becoming_the_file_to_save_to(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "experiment.json"
    path.write_bytes(dumps(to_plain(session_of("exported").named)))
    with qtbot.waitSignal(desk.storage.opened):
        desk.storage.open(path)
    assert desk.document.session.named.name == "exported"
    assert (desk.document.path, desk.document.dirty) == (None, False)
    assert desk.settings.recent == [path]


def truncated(path: Path) -> None:
    session_file.save(session_of("whole", tokens=600), path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def of_newer_version(path: Path) -> None:
    session_file.save(session_of("new"), path)
    with ZipFile(path) as zipped:
        text = zipped.read("session.json").replace(b'"version": 1', b'"version": 99', 1)
    with ZipFile(path, "w") as zipped:
        zipped.writestr("session.json", text)


BAD = {
    "missing": (lambda path: None, "does not exist"),
    "a folder": (Path.mkdir, "a folder"),
    "empty": (Path.touch, "cut off"),
    "text": (lambda path: path.write_text("karina,is\n1,0\n"), "cut off"),
    "truncated": (truncated, "cut off"),
    "newer": (of_newer_version, "version 99, which a newer attn_gui wrote"),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_cannot_be_opened_leaves_the_document_as_it_was(
    desk: Desk, qtbot: QtBot, tmp_path: Path, kind: str
) -> None:
    make, words = BAD[kind]
    path = tmp_path / "bad.attn"
    make(path)
    desk.edit("kept")
    before = desk.document.session
    with qtbot.waitSignal(desk.storage.failed) as failed:
        desk.storage.open(path)
    assert failed.args is not None
    assert failed.args[0] == path
    assert desk.document.session is before
    assert (desk.document.dirty, desk.document.path) == (True, None)
    assert desk.error.startswith("bad.attn was not opened: ")
    assert words in desk.error
    assert desk.settings.recent == []


def fail_to_save(desk: Desk, qtbot: QtBot, path: Path) -> None:
    desk.edit("kept")
    before = desk.document.session
    with qtbot.waitSignal(desk.storage.failed):
        desk.storage.save(path)
    assert desk.document.session is before
    assert (desk.document.dirty, desk.document.path) == (True, None)
    assert desk.settings.recent == []


def test_a_full_disk_keeps_the_old_file(
    desk: Desk, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "work.attn"
    session_file.save(session_of("old"), path)
    before = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    fail_to_save(desk, qtbot, path)
    assert "a full disk" in desk.error
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.glob("*.tmp")] == []


@pytest.mark.parametrize(
    ("name", "words"),
    [("missing/work.attn", "a folder that exists"), (".", "the name of a folder"), ("x" * 300 + ".attn", "too long")],
)
def test_where_nothing_can_be_written(desk: Desk, qtbot: QtBot, tmp_path: Path, name: str, words: str) -> None:
    fail_to_save(desk, qtbot, tmp_path / name)
    assert words in desk.error


def test_a_folder_without_permission(desk: Desk, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: object, flags: int, *mode: int) -> int:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    # root, as which tests may run, is refused nothing by the system itself
    monkeypatch.setattr(os, "open", refuse)
    fail_to_save(desk, qtbot, tmp_path / "work.attn")
    assert "no permission" in desk.error


def test_a_fault_of_the_program_is_said_and_not_swallowed(
    desk: Desk, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(saved: Session, path: Path) -> None:
        raise AttributeError("a mistake in the code")

    monkeypatch.setattr(session_file, "save", broken)
    with qtbot.captureExceptions() as caught, qtbot.waitSignal(desk.storage.failed):
        desk.storage.save(tmp_path / "work.attn")
    assert [kind for kind, _, _ in caught] == [AttributeError]
    assert "something unexpected" in desk.error


def test_waits_for_a_save(desk: Desk, tmp_path: Path) -> None:
    desk.edit("saved")
    assert desk.storage.save_and_wait(tmp_path / "work.attn")
    assert not desk.document.dirty
    assert session_file.load(tmp_path / "work.attn").experiment.tokens.tokens[0] == "saved"


def test_waits_for_a_save_that_fails(desk: Desk, tmp_path: Path) -> None:
    desk.edit("kept")
    assert not desk.storage.save_and_wait(tmp_path / "missing" / "work.attn")
    assert desk.document.dirty


def test_a_save_does_not_wait_for_work_in_the_background(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    ended = threading.Event()

    def long() -> Iterator[float]:
        while not ended.wait(0.001):
            yield 0.5

    desk.worker.submit("export", long, Priority.BACKGROUND)
    with qtbot.waitSignal(desk.storage.saved):
        desk.storage.save(tmp_path / "work.attn")
    assert desk.worker.running("export")
    ended.set()


def test_the_view_is_saved_along(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "work.attn"
    desk.document.keep_view(stage="N")
    with qtbot.waitSignal(desk.storage.saved):
        desk.storage.save(path)
    assert session_file.load(path).view == {"stage": "N"}


def test_large_values_come_back_exactly(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    X = rng.standard_normal((200, 16))
    e = Experiment.from_tokens([f"t{i}" for i in range(200)], X)
    e = set_cells(e, "tokens", [3], [4], [0.1 + 0.2])
    desk.document.apply_named("Large", replace(desk.document.session.named, experiment=e))
    with qtbot.waitSignal(desk.storage.saved):
        desk.storage.save(tmp_path / "work.attn")
    with qtbot.waitSignal(desk.storage.opened):
        desk.storage.open(tmp_path / "work.attn")
    X[3, 4] = 0.1 + 0.2
    np.testing.assert_array_equal(desk.document.experiment.tokens.embeddings.array(), X)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
@pytest.mark.parametrize("name", ["pipe", "pipe.attn", "pipe.json"])
def test_a_pipe_does_not_hold_up_the_worker(desk: Desk, qtbot: QtBot, tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with qtbot.waitSignal(desk.storage.failed):
        desk.storage.open(tmp_path / name)
    assert desk.error == f"{name} was not opened: expected a file, received a pipe"
    with qtbot.waitSignal(desk.storage.saved):
        desk.storage.save(tmp_path / "work.attn")


def test_saving_to_the_root_of_the_disk_is_refused_in_words(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    fail_to_save(desk, qtbot, Path(tmp_path.anchor))
    assert "the name of a file" in desk.error


def test_settings_that_cannot_be_kept_are_told(desk: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "profile").write_text("a file where the folder should be")
    desk.settings.theme = "dark"
    (notice,) = desk.said
    assert (notice.kind, notice.topic) == (Kind.WARNING, "settings")
    expected = f"Settings cannot be kept: {tmp_path / 'profile' / 'settings.ini'} cannot be written"
    assert notice.text == expected
    assert expected in capsys.readouterr().err


def test_a_save_is_owed_until_it_has_been_told_of(
    desk: Desk, qtbot: QtBot, hold: Callable[[], threading.Event], tmp_path: Path
) -> None:
    assert not desk.worker.owing
    held = hold()
    desk.storage.save(tmp_path / "work.attn")
    assert desk.worker.owing
    with qtbot.waitSignal(desk.storage.saved):
        held.set()
    assert not desk.worker.owing


def test_saves_what_was_departed_from_and_leaves_the_document(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    mine = tmp_path / "mine.attn"
    assert desk.storage.save_and_wait(mine)
    desk.edit("mine")
    desk.document.depart("Example", session_of("example", 4).named)
    (work,) = desk.document.unsaved
    assert desk.storage.save_and_wait(mine, work.session)
    assert session_file.load(mine).experiment.tokens.tokens[0] == "mine"
    assert (desk.document.path, desk.document.dirty, desk.document.session.named.name) == (None, False, "example")


def test_a_save_that_ends_after_a_departure_has_saved_what_it_left(
    desk: Desk, qtbot: QtBot, hold: Callable[[], threading.Event], tmp_path: Path
) -> None:
    held = hold()
    desk.edit("mine")
    with qtbot.waitSignal(desk.storage.saved):
        desk.storage.save(tmp_path / "mine.attn")
        desk.document.depart("Example", session_of("example").named)
        held.set()
    assert (desk.document.path, desk.document.dirty) == (None, False)


def test_going_on_settles_what_could_not_be_opened(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    settled: list[str] = []
    with qtbot.waitSignal(desk.storage.failed):
        desk.storage.open(tmp_path / "missing.attn")
    desk.storage._notices.withdrawn.connect(settled.append)
    desk.document.open(session_of("restored"), None, clean=False)
    assert settled == ["file"]


def test_what_a_script_hands_over_has_no_file_and_leaves_none(qtbot: QtBot, desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "handed.attn"
    session_file.save(session_of("handed"), path)
    with qtbot.waitSignal(desk.storage.opened, timeout=10_000):
        desk.storage.take(path)
    assert desk.document.session.named.name == "handed"
    assert desk.document.path is None and not desk.document.modified
    assert not path.exists()
    assert desk.settings.recent == []


def test_what_cannot_be_taken_stays_where_it_is(qtbot: QtBot, desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "handed.attn"
    path.write_bytes(b"no session")
    with qtbot.waitSignal(desk.storage.failed, timeout=10_000):
        desk.storage.take(path)
    assert "handed.attn was not opened" in desk.error
    assert path.exists()
    assert desk.document.session.named.name == "first"
