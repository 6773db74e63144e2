"""What is handed to heatmaps in the place of feed, selection and highlight."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytestqt.qtbot import QtBot

from attn_gui.control.arranging import ArrangedSelection, Arranging
from attn_gui.control.document import Document
from attn_gui.control.feed import Feed
from attn_gui.control.highlight import Highlight
from attn_gui.control.selection import Selection
from attn_gui.control.worker import Worker
from attn_gui.model.answers import Block
from attn_gui.model.arranging import HIDE, Arrangement, arranged
from attn_gui.model.asks import BlockAsk, CellAsk, StageAsk
from attn_gui.model.experiment import Experiment
from attn_gui.model.lit import Lit
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.model.tokens import TokenSequence

BERT = ("[CLS]", "un", "##believ", "##able", "play", "##ers", "won", "[SEP]")
BOTH = Arrangement(True, True)


def session(**view: object) -> Session:
    e = Experiment.from_weights(np.full((2, 8, 8), 0.125), tokens=BERT)
    return Session((NamedExperiment("x", e),), view=view)


class Parts:
    def __init__(self, view: dict[str, object]) -> None:
        self.worker = Worker()
        self.feed = Feed(self.worker)
        self.document = Document(session(**view), self.feed)
        self.selection, self.highlight = Selection(), Highlight()
        self.arranging = Arranging(self.document, self.feed, self.worker, self.selection, self.highlight)


@pytest.fixture
def parts(qtbot: QtBot) -> Iterator[Parts]:
    made = Parts({})
    yield made
    made.worker.close()


def test_it_begins_as_the_session_says(qtbot: QtBot) -> None:
    made = Parts({HIDE: True})
    assert made.arranging.arrangement == Arrangement(hide_special=True)
    assert made.arranging.feed.framed(made.document.experiment).n_q == 6
    made.worker.close()


def test_only_what_was_asked_here_is_told_here_and_as_it_is_drawn(qtbot: QtBot, parts: Parts) -> None:
    here: list[tuple[str, object]] = []
    parts.arranging.feed.answered.connect(lambda slot, answer: here.append((slot, answer)))
    ask = BlockAsk("N", 0, (0, 8), (0, 8))
    parts.arranging.feed.ask("mine", ask)
    parts.feed.ask("other", ask)
    parts.document.start()
    qtbot.waitUntil(lambda: parts.feed.trace is not None and not parts.worker.busy, timeout=30_000)
    assert [slot for slot, _ in here] == ["mine"]
    parts.arranging.choose(BOTH)
    qtbot.waitUntil(lambda: len(here) == 2, timeout=30_000)
    answer = here[1][1]
    assert isinstance(answer, Block)
    # three, two and one of the keys in each place, and the mean over queries that are all alike
    np.testing.assert_allclose(answer.values, [[3 / 8, 2 / 8, 1 / 8]] * 3)
    assert answer.ask == ask
    parts.arranging.choose(BOTH)  # again: nothing is asked anew
    qtbot.wait(20)
    assert len(here) == 2
    parts.arranging.feed.ask("mine", None)
    parts.arranging.choose(Arrangement())
    qtbot.wait(20)
    assert len(here) == 2


def test_asks_that_know_of_no_places_are_passed_on(parts: Parts) -> None:
    parts.arranging.choose(BOTH)
    for ask in (CellAsk(0, 1, 1), StageAsk("V")):
        parts.arranging.feed.ask("mine", ask)
        assert parts.feed._asks["mine"] == ask


def test_what_is_lit_is_lit_where_it_is_drawn(parts: Parts) -> None:
    said: list[int] = []
    parts.arranging.highlight.changed.connect(lambda: said.append(1))
    parts.highlight.show([Lit("N", 5, None), Lit("N", None, 7, True), Lit("A", 1, 1)])
    assert said == [1]
    assert parts.arranging.highlight.of("N") == (Lit("N", 5, None), Lit("N", None, 7, True))
    parts.arranging.choose(BOTH)
    assert parts.arranging.highlight.of("N") == (Lit("N", 1, None), Lit("N", None, 2, True))


cells = st.tuples(st.integers(0, 9), st.integers(0, 9))


@given(
    st.lists(st.tuples(st.booleans(), st.integers(-1, 2)), min_size=2, max_size=10),
    st.sampled_from([Arrangement(), Arrangement(True), Arrangement(False, True), BOTH]),
    st.lists(st.tuples(st.sampled_from(["here", "main", "pick", "hover"]), cells), max_size=8),
)
def test_both_selections_always_agree(
    columns: list[tuple[bool, int]], arrangement: Arrangement, steps: list[tuple[str, tuple[int, int]]]
) -> None:

    n = len(columns)
    special, of_words = [c[0] for c in columns], [c[1] for c in columns]
    sequence = TokenSequence.of([f"t{i}" for i in range(n)], np.zeros((n, 1)), special=special, word=of_words)
    e = replace(Experiment.from_tokens(sequence.tokens, np.zeros((n, 1))), tokens=sequence)
    found = arranged(e, arrangement)
    main = Selection()
    here = ArrangedSelection(main)
    main.fit(e)
    here.arrange(found)
    places = n if found is None else len(found.queries.names)
    for kind, (i, j) in steps:
        if kind == "here":
            here.set_cell(i % places, j % places)
            assert (here.query, here.key) == (i % places, j % places)
        elif kind == "main":
            main.set_cell(i % n, j % n)
            assert (main.query, main.key) == (i % n, j % n)
        elif kind == "hover":
            here.set_hover((i % places, j % places))
            assert here.hover == (i % places, j % places)
        else:
            here.pick(frozenset({i % places}), frozenset({j % places}))
            assert (here.queries, here.keys) == (frozenset({i % places}), frozenset({j % places}))
        assert here.place((main.query, main.key)) == (here.query, here.key)
        assert main.hover is None if here.hover is None else here.place(main.hover or (-1, -1)) == here.hover
        if found is not None:
            drawn = {
                t for place in here.queries for t in range(found.queries.starts[place], found.queries.stops[place])
            }
            assert main.queries == drawn
