"""The player of a walk: stepping, playing, resting, edits in between, and leaving."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from attn_gui.control.document import Document
from attn_gui.control.feed import Feed
from attn_gui.control.highlight import Highlight
from attn_gui.control.selection import Selection
from attn_gui.control.walking import Walking
from attn_gui.control.worker import Worker
from attn_gui.model.experiment import Experiment
from attn_gui.model.lit import Lit
from attn_gui.model.masks import Causal
from attn_gui.model.scoring import Scoring
from attn_gui.model.session import NamedExperiment, Session

KARINA = ("karina", "is", "to", "the", "store"), [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 1.0], [0.5, 1.0]]
HEADS = Experiment.from_tokens(*KARINA, heads=2)


class Made:
    """A player on the Karina example, with what it shares with others."""

    def __init__(self, experiment: Experiment) -> None:
        self.worker = Worker()
        self.document = Document(Session((NamedExperiment("Karina", experiment),)), Feed(self.worker))
        self.selection, self.highlight = Selection(), Highlight()
        self.walking = Walking(self.document, self.selection, self.highlight)

    def settle(self, qtbot: QtBot) -> None:
        feed = self.document.feed

        def at_rest() -> bool:
            return feed.trace is not None and feed.trace.experiment is self.document.experiment

        qtbot.waitUntil(at_rest, timeout=30_000)


@pytest.fixture
def made(qtbot: QtBot) -> Iterator[Made]:
    made = Made(HEADS)
    made.document.start()
    made.settle(qtbot)
    yield made
    made.walking.leave()
    made.worker.close()


def test_it_goes_from_stage_to_stage_and_stays_within_its_ends(made: Made) -> None:
    walking = made.walking
    walking.step(1)
    assert not walking.active and not made.highlight.parts, "nothing before it is started"
    walking.start()
    assert walking.stop == "X" and not walking.playing
    seen = [walking.stop]
    for _ in walking.stops:
        walking.step(1)
        seen.append(walking.stop)
    assert tuple(seen[:-1]) == walking.stops and seen[-1] == "output"
    walking.go_to(-5)
    assert walking.stop == "X"
    walking.go_to(99)
    assert walking.stop == "output"


def test_what_is_lit_is_the_number_at_the_selected_cell(made: Made) -> None:
    walking = made.walking
    walking.start()
    walking.go_to(walking.stops.index("raw"))
    made.selection.set_cell(4, 2)
    assert made.highlight.parts == (Lit("Q", 4), Lit("K", 2), Lit("raw", 4, 2, result=True))
    made.selection.set_head(1)
    walking.go_to(walking.stops.index("concat"))
    assert made.highlight.parts == (Lit("head_output", 4, 0), Lit("concat", 4, 1, result=True))
    walking.leave()
    assert made.highlight.parts == ()
    made.selection.set_cell(0, 0)
    assert made.highlight.parts == (), "nothing is lit once one has left"


def test_another_cell_is_the_next_in_the_same_stage_and_is_selected(made: Made) -> None:
    walking, selection = made.walking, made.selection
    walking.start()
    walking.go_to(walking.stops.index("N"))
    selection.set_cell(1, 4)
    told: list[tuple[str, ...]] = []
    walking.changed.connect(lambda: told.append(made.highlight.parts))
    walking.another_cell(1)
    assert (selection.query, selection.key) == (2, 0)
    assert len(told) == 1 and told[0][-1] == Lit("N", 2, 0, result=True), "told once, after all of it has changed"
    walking.another_cell(-1)
    assert (selection.query, selection.key) == (1, 4)
    walking.go_to(walking.stops.index("concat"))
    walking.another_cell(1)  # each of the two heads is one number wide
    assert (selection.head, walking.cell) == (1, (1, 1))
    walking.another_cell(1)
    assert (selection.head, selection.query, walking.cell) == (0, 2, (2, 0))


def test_it_plays_to_the_end_and_rests_there(made: Made, qtbot: QtBot) -> None:
    walking = made.walking
    playing: list[bool] = []
    walking.playing_changed.connect(playing.append)
    walking.play()
    assert not walking.playing, "there is nothing to play before it is started"
    walking.start()
    walking._timer.setInterval(15)
    walking.play()
    assert walking.playing
    qtbot.waitUntil(lambda: walking.stop == "output", timeout=10_000)
    assert not walking.playing and playing == [True, False]
    walking.toggle()
    assert walking.stop == "X" and walking.playing, "from the beginning once more"
    walking.toggle()
    stop = walking.stop
    qtbot.wait(60)
    assert walking.stop == stop and not walking.playing


def test_a_pace_is_so_many_seconds_and_a_step_by_hand_begins_it_anew(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    walking = made.walking
    walking.start()
    walking.pace = 8
    walking.play()
    assert (walking.pace, walking._timer.interval()) == (8, 8000)
    begun: list[str] = []
    monkeypatch.setattr(walking._timer, "start", lambda: begun.append(walking.stop))
    walking.step(1)
    walking.another_cell(1)
    assert walking.playing and begun == ["Q", "Q"], "what one went to stays in full"
    walking.pace = 1
    assert walking.playing and walking._timer.interval() == 1000


def test_it_follows_edits_and_goes_on_playing(made: Made, qtbot: QtBot) -> None:
    walking, document = made.walking, made.document
    walking.start()
    walking.go_to(walking.stops.index("N"))
    walking.play()
    document.apply("Mask", replace(document.experiment, rule=Causal("top-left"), scoring=Scoring(softcap=3.0)))
    qtbot.waitUntil(lambda: "A_masked" in walking.stops, timeout=30_000)
    assert walking.stop == "N" and walking.playing and walking.stops.index("N") == walking.index
    walking.go_to(walking.stops.index("capped"))
    document.apply("No softcap", replace(document.experiment, scoring=Scoring()))
    qtbot.waitUntil(lambda: "capped" not in walking.stops, timeout=30_000)
    assert walking.stop == "A_masked", "what stands in the place of the stage that is gone"
    document.apply("One head", Experiment.from_tokens(["a"], [[2.0]]))
    qtbot.waitUntil(lambda: walking.experiment.n_q == 1, timeout=30_000)
    assert walking.cell == (0, 0) and walking.stop in walking.stops


def test_it_changes_neither_document_nor_history(made: Made) -> None:
    document, walking = made.document, made.walking
    session, count = document.session, document.undo_stack.count()
    walking.start()
    for _ in walking.stops:
        walking.another_cell(3)
        walking.step(1)
    walking.leave()
    assert document.session is session and document.undo_stack.count() == count and not document.modified


def test_a_mean_gives_way_to_a_head_and_comes_back(made: Made) -> None:
    walking, selection = made.walking, made.selection
    selection.set_head("mean")
    walking.start()
    assert selection.head == 0
    walking.go_to(walking.stops.index("N"))
    selection.set_head("mean")
    assert walking.head == "mean", "of weights there is a mean"
    walking.go_to(walking.stops.index("Q"))
    assert walking.head == 0, "of queries there is none"
    walking.leave()
    assert selection.head == "mean"


def test_a_mean_comes_back_only_where_it_is_still_wanted(made: Made) -> None:
    walking, selection = made.walking, made.selection
    selection.set_head("mean")
    walking.start()
    selection.set_head(1)
    walking.leave()
    assert selection.head == 1, "another head was chosen meanwhile"
    selection.set_head("mean")
    walking.start()
    made.document.apply("One head", replace(made.document.experiment, heads=1, kv_heads=1))
    walking.leave()
    assert selection.head == 0, "of one head there is no mean"


def test_leaving_stops_what_runs(made: Made) -> None:
    walking = made.walking
    walking.start()
    walking.play()
    walking.leave()
    assert not walking.playing and not walking._timer.isActive() and not walking.active


def test_it_begins_before_anything_is_computed(qtbot: QtBot) -> None:
    fresh = Made(HEADS)
    fresh.walking.start()
    assert fresh.walking.stop == "X" and fresh.highlight.parts == (Lit("X", 1, 0, result=True),)
    fresh.walking.leave()
    fresh.worker.close()
