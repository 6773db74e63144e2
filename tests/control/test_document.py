"""Document: changes as undo steps, clean and dirty, merging, and a history that stays within its bytes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytestqt.qtbot import QtBot

from attn_gui.control import document as document_module
from attn_gui.control.document import Document
from attn_gui.control.feed import Feed
from attn_gui.control.worker import Worker
from attn_gui.files import examples
from attn_gui.model.edits import set_cells
from attn_gui.model.errors import ExperimentError
from attn_gui.model.experiment import Experiment
from attn_gui.model.session import NamedExperiment, Session
from tests.control.waiting import until

ROW_BYTES = 8 * 4


def session(value: float = 0.0, **fields: Any) -> Session:
    one, two = (Experiment.from_tokens("ab", np.full((2, 4), value)) for _ in range(2))
    return Session((NamedExperiment("one", one), NamedExperiment("two", two)), **fields)


@pytest.fixture
def worker(qtbot: QtBot) -> Iterator[Worker]:
    made = Worker()
    yield made
    made.close()


@pytest.fixture
def document(worker: Worker) -> Document:
    return Document(session(), Feed(worker))


def put(document: Document, value: float, merge: str | None = None) -> Experiment:
    """Edit one cell as one step."""
    after = set_cells(document.experiment, "tokens", 0, 0, value)
    document.apply(f"set {value}", after, merge)
    return after


def shown(document: Document) -> float:
    return document.experiment.tokens.embeddings[0, 0]


def test_a_change_is_shown_and_can_be_undone_and_redone(document: Document) -> None:
    heard: list[tuple[Session, Session]] = []
    document.changed.connect(lambda before, after: heard.append((before, after)))
    first, after = document.experiment, put(document, 1)
    assert document.experiment is after
    assert document.undo_stack.undoText() == "set 1"
    document.undo_stack.undo()
    assert document.experiment is first
    document.undo_stack.redo()
    assert document.experiment is after
    assert [b.experiment is first for b, _ in heard] == [True, False, True]
    assert [a.experiment is after for _, a in heard] == [True, False, True]


def test_steps_with_one_merge_key_become_one(document: Document) -> None:
    for value in (1, 2, 3):
        put(document, value, "drag")
    put(document, 4, "another drag")
    put(document, 5, "another drag")
    put(document, 6)
    put(document, 7)
    assert document.undo_stack.count() == 4
    values = []
    while document.undo_stack.canUndo():
        document.undo_stack.undo()
        values.append(shown(document))
    assert values == [6, 5, 3, 0]
    while document.undo_stack.canRedo():
        document.undo_stack.redo()
    assert shown(document) == 7


def test_a_saved_state_is_not_merged_away(document: Document, tmp_path: Path) -> None:
    put(document, 1, "drag")
    document.saved(tmp_path / "a.attn", document.session)
    assert not document.dirty
    put(document, 2, "drag")
    assert document.dirty
    assert document.undo_stack.count() == 2
    document.undo_stack.undo()
    assert not document.dirty
    assert shown(document) == 1


def test_clean_and_dirty(document: Document, tmp_path: Path) -> None:
    told: list[bool] = []
    document.unsaved_changed.connect(lambda: told.append(not document.modified))
    assert not document.dirty
    put(document, 1)
    assert document.dirty
    document.undo_stack.undo()
    assert not document.dirty
    document.undo_stack.redo()
    document.saved(tmp_path / "a.attn", document.session)
    assert document.path == tmp_path / "a.attn"
    assert told == [False, True, False, True]
    document.undo_stack.undo()
    assert document.dirty


def test_opening_starts_a_history_of_its_own(document: Document, tmp_path: Path) -> None:
    put(document, 1)
    heard: list[Session] = []
    document.changed.connect(lambda before, after: heard.append(after))
    other = session(5.0, view={"decimals": 2})
    document.open(other, tmp_path / "b.attn")
    assert shown(document) == 5
    assert document.session.view == {"decimals": 2}
    assert document.undo_stack.count() == 0
    assert not document.dirty
    assert len(heard) == 1
    document.open(session(6.0), None, clean=False)  # recovered, and in no file
    assert document.dirty
    assert document.path is None
    put(document, 7)
    document.undo_stack.undo()
    assert document.dirty


def test_named_experiments_and_sessions(document: Document) -> None:
    document.apply_named("Example", NamedExperiment("other", session(3.0).experiment, "note"))
    assert document.session.named.name == "other"
    document.apply_session("Switch", session(4.0, current=1))
    assert document.session.named.name == "two"
    document.undo_stack.undo()
    document.undo_stack.undo()
    assert document.session.named.name == "one"


def test_view_choices_are_no_steps_and_survive_undo(document: Document) -> None:
    put(document, 1)
    document.keep_view(decimals=2)
    put(document, 2)
    document.keep_view(theme="dark")
    assert document.undo_stack.count() == 2
    document.undo_stack.undo()
    document.undo_stack.undo()
    assert document.session.view == {"decimals": 2, "theme": "dark"}


def test_nothing_is_computed_before_the_start(document: Document, qtbot: QtBot) -> None:
    put(document, 1)
    assert not document.feed.busy
    document.start()
    assert document.feed.busy
    until(qtbot, lambda: not document.feed.busy)
    assert document.feed.trace is not None
    assert document.feed.trace.experiment is document.experiment
    for step in (lambda: put(document, 2), document.undo_stack.undo, document.undo_stack.redo):
        step()
        until(qtbot, lambda: not document.feed.busy)
        assert document.feed.trace.experiment is document.experiment


def test_what_changes_no_numbers_computes_nothing(document: Document, qtbot: QtBot) -> None:
    document.start()
    until(qtbot, lambda: not document.feed.busy)
    document.apply_named("Rename", NamedExperiment("renamed", document.experiment))
    document.keep_view(decimals=1)
    assert not document.feed.busy
    document.recompute()
    assert document.feed.busy
    until(qtbot, lambda: not document.feed.busy)


def test_another_device_computes_again(document: Document, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Experiment, str]] = []
    monkeypatch.setattr(document.feed, "compute", lambda experiment, device: asked.append((experiment, device)))
    told: list[str] = []
    document.device_changed.connect(told.append)
    document.start()
    document.set_device("cuda:0")
    document.set_device("cuda:0")
    assert asked == [(document.experiment, "cpu"), (document.experiment, "cuda:0")]
    assert told == ["cuda:0"]


def test_a_step_costs_what_it_alone_keeps_alive(worker: Worker) -> None:
    e = Experiment.from_tokens([f"t{i}" for i in range(20_000)], np.zeros((20_000, 8)))
    document = Document(Session((NamedExperiment("large", e),)), Feed(worker))
    put(document, 1.0)
    command = document.undo_stack.command(0)
    assert command is not None
    assert command.cost() == e.tokens.embeddings.chunks[0].nbytes  # type: ignore[attr-defined]
    document.keep_view(decimals=1)
    document.apply_named("Rename", NamedExperiment("renamed", document.experiment))
    assert document.undo_stack.command(1).cost() == 0  # type: ignore[attr-defined]


# 4 numbers of 8 bytes in each of 2 rows: what one edit of the small table costs
STEP = 2 * ROW_BYTES


def test_the_history_is_shortened_and_everything_else_stays(
    document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document_module, "UNDO_BYTES", 10 * STEP)
    told: list[Any] = []
    document.changed.connect(lambda before, after: told.append(after))
    for value in range(1, 12):
        put(document, value)
    assert shown(document) == 11
    assert len(told) == 11  # shortening shows nothing
    assert document.undo_stack.count() == 5
    assert document.undo_stack.index() == 5
    assert document.dirty
    assert document.undo_stack.undoText() == "set 11"
    values = []
    while document.undo_stack.canUndo():
        document.undo_stack.undo()
        values.append(shown(document))
    assert values == [10, 9, 8, 7, 6]
    assert document.dirty  # the state that the file holds is out of reach
    while document.undo_stack.canRedo():
        document.undo_stack.redo()
    assert shown(document) == 11


def test_a_file_within_reach_stays_the_clean_state(
    document: Document, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(document_module, "UNDO_BYTES", 10 * STEP)
    for value in range(1, 9):
        put(document, value)
    document.saved(tmp_path / "a.attn", document.session)
    told: list[bool] = []
    document.unsaved_changed.connect(lambda: told.append(not document.modified))
    for value in range(9, 12):
        put(document, value)
    assert document.undo_stack.count() == 5
    assert told == [False]
    for _ in range(3):
        document.undo_stack.undo()
    assert shown(document) == 8
    assert not document.dirty
    document.undo_stack.undo()
    assert document.dirty


def test_a_step_larger_than_all_the_bytes_can_still_be_undone(
    document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document_module, "UNDO_BYTES", STEP // 2)
    for value in range(1, 5):
        put(document, value)
    assert document.undo_stack.count() == 1
    document.undo_stack.undo()
    assert shown(document) == 3


def test_a_long_drag_does_not_shorten_the_history(document: Document, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_module, "UNDO_BYTES", 10 * STEP)
    for value in (1, 2, 3):
        put(document, value)
    for value in range(4, 100):
        put(document, value, "drag")
    assert document.undo_stack.count() == 4
    assert document._undo_bytes <= 10 * STEP
    document.undo_stack.undo()
    assert shown(document) == 3


def test_a_drag_goes_on_as_one_step_across_a_shortening(document: Document, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_module, "UNDO_BYTES", 10 * STEP)
    for value in range(1, 11):
        put(document, value)
    for value in range(11, 20):
        put(document, value, "drag")
    assert document.undo_stack.undoText() == "set 11"
    document.undo_stack.undo()
    assert shown(document) == 10


def test_shortening_computes_nothing_twice(document: Document, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_module, "UNDO_BYTES", 3 * STEP)
    asked: list[Experiment] = []
    monkeypatch.setattr(document.feed, "compute", lambda experiment, device: asked.append(experiment))
    document.start()
    made = [document.experiment, *(put(document, value) for value in range(1, 8))]
    assert asked == made


moves = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.sampled_from([None, "drag"])),
        st.tuples(st.sampled_from(["undo", "redo", "save"]), st.none()),
    ),
    max_size=40,
)


@given(moves, st.sampled_from([3 * STEP, 6 * STEP, 1 << 20]))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_order_of_steps_is_undone_to_where_it_was(
    worker: Worker, made: list[tuple[str, str | None]], limit: int
) -> None:
    """Against a plain list of steps that is never shortened."""
    document = Document(session(), Feed(worker))
    steps: list[tuple[float, str | None]] = []  # the value after each step, and its merge key
    index = clean = 0

    def value() -> float:
        return steps[index - 1][0] if index else 0.0

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(document_module, "UNDO_BYTES", limit)
        for number, (what, merge) in enumerate(made, start=1):
            if what == "put":
                # a step that was forgotten is there no longer to become one with
                reachable = document.undo_stack.canUndo()
                put(document, number, merge)
                del steps[index:]
                clean = -1 if clean > index else clean
                if merge and reachable and steps[-1][1] == merge and clean != index:
                    steps[-1] = (number, merge)
                else:
                    steps.append((number, merge))
                    index += 1
            elif what == "undo" and document.undo_stack.canUndo():
                document.undo_stack.undo()
                index -= 1
            elif what == "redo" and document.undo_stack.canRedo():
                document.undo_stack.redo()
                index += 1
            elif what == "save":
                document.saved(Path("a.attn"), document.session)
                clean = index
            assert shown(document) == value()
            assert document.dirty == (index != clean)
    before, reach = index, 0
    while document.undo_stack.canUndo():
        document.undo_stack.undo()
        index, reach = index - 1, reach + 1
        assert shown(document) == value()
        assert document.dirty == (index != clean)
    assert reach == before or limit < 1 << 20


def left(document: Document) -> list[tuple[str, Path | None]]:
    return [(work.name, work.path) for work in document.unsaved]


def example(value: float = 9.0) -> NamedExperiment:
    return NamedExperiment("Example", session(value).experiment)


def test_what_a_departure_leaves_unsaved_stays_so_under_its_own_name(document: Document, tmp_path: Path) -> None:
    told: list[bool] = []
    mine = tmp_path / "mine.attn"
    document.open(session(1.0), mine)
    document.unsaved_changed.connect(lambda: told.append(document.modified))
    put(document, 2)
    edited = document.session
    document.depart("Example", example())
    assert (document.modified, document.dirty, document.path) == (False, True, None)
    assert left(document) == [("mine.attn", mine)]
    assert document.unsaved[0].session.same_work(edited)
    assert told == [True, False]
    put(document, 3)
    assert left(document) == [("mine.attn", mine), ("Example", None)]
    document.undo_stack.undo()
    document.undo_stack.undo()
    assert left(document) == [("mine.attn", mine)]
    assert document.modified
    document.undo_stack.undo()
    assert not document.dirty
    for _ in range(2):
        document.undo_stack.redo()
    document.written(mine, edited)
    assert not document.dirty
    document.undo_stack.undo()
    assert (document.modified, document.path) == (False, mine)
    document.undo_stack.undo()
    assert document.modified


def test_a_departure_from_what_is_saved_or_untouched_leaves_nothing(document: Document, tmp_path: Path) -> None:
    for _ in range(2):
        document.depart("Example", example())
        assert not document.dirty
    document.undo_stack.undo()
    document.undo_stack.undo()
    assert not document.dirty
    put(document, 1)
    document.saved(tmp_path / "a.attn", document.session)
    document.depart("Example", example())
    assert not document.dirty


def test_redoing_a_departure_comes_back_to_the_file_made_of_it(document: Document, tmp_path: Path) -> None:
    mine, other = tmp_path / "mine.attn", tmp_path / "other.attn"
    document.open(session(1.0), mine)
    document.depart("Example", example())
    document.saved(other, document.session)
    document.undo_stack.undo()
    assert document.path == mine
    document.undo_stack.redo()
    assert (document.path, document.dirty) == (other, False)


def test_a_file_that_something_else_went_into_is_no_longer_its_own(document: Document, tmp_path: Path) -> None:
    mine = tmp_path / "mine.attn"
    document.open(session(1.0), mine)
    put(document, 2)
    document.depart("Example", example())
    document.saved(mine, document.session)
    assert left(document) == [("one", None)]


def test_what_was_left_outlives_the_history(
    document: Document, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(document_module, "UNDO_BYTES", 10 * STEP)
    mine = tmp_path / "mine.attn"
    document.open(session(1.0), mine)
    put(document, 2)
    document.depart("Example", example())
    for value in range(3, 20):
        put(document, value)
    while document.undo_stack.canUndo():
        document.undo_stack.undo()
    assert document.path is None
    assert left(document) == [("mine.attn", mine), ("Example", None)]
    document.open(session(), None)
    assert not document.dirty


def test_only_undo_and_redo_revisit(document: Document) -> None:
    seen: list[tuple[float, float]] = []
    document.revisited.connect(
        lambda before, after: seen.append(tuple(s.experiment.tokens.embeddings[0, 0] for s in (before, after)))
    )
    put(document, 1)
    put(document, 2, "drag")
    put(document, 3, "drag")
    assert seen == []
    document.undo_stack.undo()
    document.undo_stack.redo()
    assert seen == [(3, 1), (1, 3)]


def test_the_note_of_an_example_is_marked_once_its_numbers_change(document: Document) -> None:
    karina = examples.load("karina")
    document.open(Session((karina,)), None)
    put(document, 5)
    put(document, 6)
    assert document.session.named.note == f"Of the example as shipped: {karina.note}"
    document.undo_stack.undo()
    document.undo_stack.undo()
    assert document.session.named.note == karina.note
    own = NamedExperiment("mine", document.experiment, "My own note")
    document.apply_named("Name", own)
    put(document, 7)
    assert document.session.named.note == "My own note"


def test_files_made_of_it_are_called_as_its_own(document: Document, tmp_path: Path) -> None:
    assert document.title == "one"
    document.saved(tmp_path / "mine.attn", document.session)
    assert document.title == "mine"


def test_showing_another_experiment_is_no_step_and_nothing_to_save(document: Document, tmp_path: Path) -> None:
    document.saved(tmp_path / "two.attn", document.session)
    heard: list[str] = []
    document.changed.connect(lambda before, after: heard.append(after.named.name))
    document.show(1)
    document.show(1)
    assert heard == ["two"]
    assert document.session.named.name == "two"
    assert (document.undo_stack.count(), document.modified, document.dirty) == (0, False, False)
    document.show(0)
    assert document.session.named.name == "one" and not document.modified
    with pytest.raises(ExperimentError, match="0 to 1"):
        document.show(2)
    assert document.session.named.name == "one"


def test_a_step_of_another_experiment_brings_it_back_to_sight(document: Document) -> None:
    put(document, 1.0)
    document.show(1)
    put(document, 2.0)
    document.show(0)
    stack = document.undo_stack
    stack.undo()
    assert (document.session.current, shown(document)) == (1, 0.0)
    stack.undo()
    assert (document.session.current, shown(document)) == (0, 0.0)
    document.show(1)
    stack.redo()
    assert (document.session.current, shown(document)) == (0, 1.0)
    stack.redo()
    assert (document.session.current, shown(document)) == (1, 2.0)


def test_one_gesture_on_two_experiments_makes_two_steps(document: Document) -> None:
    put(document, 1.0, merge="scale")
    document.show(1)
    put(document, 2.0, merge="scale")
    assert document.undo_stack.count() == 2
    document.undo_stack.undo()
    assert [named.experiment.tokens.embeddings[0, 0] for named in document.session.experiments] == [1.0, 0.0]


def test_the_experiment_shown_is_computed(document: Document, qtbot: QtBot) -> None:
    document.start()
    until(qtbot, lambda: document.feed.trace is not None)
    document.show(1)
    until(qtbot, lambda: document.feed.trace is not None and document.feed.trace.experiment is document.experiment)
    assert document.experiment is document.session.experiments[1].experiment
