"""Feed with an experiment too large to be held whole: pictures that get better, answers that wait, edits in between."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from attn_gui.compute import budget
from attn_gui.compute.trace import DenseTrace, trace
from attn_gui.control.feed import PASS
from attn_gui.model.answers import NotYet, Reading, Row, RowSums, StageValues
from attn_gui.model.asks import CellAsk, PictureAsk, RowAsk, RowSumsAsk, StageAsk, StatisticsAsk
from attn_gui.model.edits import set_cells
from attn_gui.model.experiment import Experiment
from attn_gui.model.initialise import initial_weights
from attn_gui.model.picture import Picture
from attn_gui.model.statistics import HeadStatistics
from tests.control.lingering import Lingering
from tests.control.test_feed import Watched
from tests.control.waiting import until

n = 3000
LARGE = Experiment.from_tokens(
    [f"t{k}" for k in range(n)],
    np.random.default_rng(0).normal(size=(n, 16)),
    initial_weights("linear", 16, 16, 2, multi_head=True),
    heads=2,
)


@pytest.fixture
def streaming(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    monkeypatch.setattr(budget, "TRIFLE", 0)
    monkeypatch.setattr("attn_gui.control.feed.LOOK_S", 0.0)
    made = Watched()
    made.feed.memory = 0
    yield made
    made.worker.close()


@pytest.fixture
def lingering(monkeypatch: pytest.MonkeyPatch) -> Lingering:
    return Lingering(monkeypatch)


@pytest.fixture(scope="module")
def right() -> DenseTrace:
    found = trace(LARGE, memory=1 << 40)
    assert isinstance(found, DenseTrace)
    return found


def at_rest(watched: Watched, qtbot: QtBot) -> None:
    until(qtbot, lambda: not watched.worker.busy)


def test_pictures_get_better_and_answers_wait_for_the_pass(
    streaming: Watched, qtbot: QtBot, right: DenseTrace, lingering: Lingering
) -> None:
    feed = streaming.feed
    parts: list[float] = []
    feed.passed.connect(parts.append)
    feed.ask("N", PictureAsk("N", size=(300, 300)))
    feed.ask("output", StageAsk("output"))
    feed.ask("sums", RowSumsAsk(0))
    feed.ask("cell", CellAsk(1, 2500, 7))
    feed.ask("row", RowAsk(0, 11))
    feed.compute(LARGE, "cpu")
    until(qtbot, lambda: len(streaming.of("N")) > 1)
    assert all(isinstance(each, Picture) and each.sampled for each in streaming.of("N"))
    assert feed.trace is not None
    assert 0 < feed.trace.part() < 1
    lingering.let_go()
    at_rest(streaming, qtbot)
    assert not streaming.of("N")[-1].sampled
    for slot, kind in (("output", StageValues), ("sums", RowSums)):
        first, *_, last = streaming.of(slot)
        assert isinstance(first, NotYet)
        assert isinstance(last, kind)
    assert np.allclose(streaming.of("output")[-1].values, right.stage("output"), atol=1e-6)
    (reading,), (row,) = streaming.of("cell"), streaming.of("row")
    assert isinstance(reading, Reading)
    expected = float(right.matrix("N", 1).block(slice(2500, 2501), slice(7, 8))[0, 0])
    assert abs(reading.N - expected) < 1e-6
    assert isinstance(row, Row)
    assert parts == sorted(parts)
    assert parts[-1] == 1.0
    assert streaming.order.index("cell") < len(streaming.order) - streaming.order[::-1].index("output")
    assert not streaming.failures


def test_an_edit_is_answered_while_a_pass_is_running(streaming: Watched, qtbot: QtBot, lingering: Lingering) -> None:
    feed = streaming.feed
    feed.ask("N", PictureAsk("N", size=(300, 300)))
    feed.compute(LARGE, "cpu")
    until(qtbot, lambda: streaming.worker.running(PASS))
    edited = set_cells(LARGE, "tokens", 0, 0, 5.0)
    feed.compute(edited, "cpu")
    until(qtbot, lambda: streaming.traced[-1] is edited)
    assert feed.trace is not None
    assert feed.trace.part() < 1
    lingering.let_go()
    at_rest(streaming, qtbot)
    assert feed.trace.experiment is edited
    assert feed.trace.part() == 1
    assert not streaming.of("N")[-1].sampled


def test_the_head_that_is_looked_at_comes_first(streaming: Watched, qtbot: QtBot, lingering: Lingering) -> None:
    feed = streaming.feed
    feed.ask("N", PictureAsk("N", head=0, size=(300, 300)))
    feed.compute(LARGE, "cpu")
    until(qtbot, lambda: streaming.worker.running(PASS))
    feed.ask("N", PictureAsk("N", head=1, size=(300, 300)))
    lingering.here = lambda trace: trace.part(1) == 1
    until(qtbot, lambda: feed.trace is not None and feed.trace.part(1) == 1)
    assert feed.trace is not None
    assert feed.trace.part(0) < 1
    lingering.let_go()
    at_rest(streaming, qtbot)
    assert feed.trace.part() == 1


def test_a_window_in_between_is_refined_by_tiles(streaming: Watched, qtbot: QtBot, right: DenseTrace) -> None:
    feed = streaming.feed
    feed.compute(LARGE, "cpu")
    at_rest(streaming, qtbot)
    feed.ask(
        "A", PictureAsk("A_masked", window=(100, 2900, 0, 2800), size=(2800, 2800), pooling="mean", diverging=True)
    )
    at_rest(streaming, qtbot)
    assert not streaming.of("A")[-1].finer
    last = streaming.of("A")[-1]
    assert last.exact
    expected = right.matrix("A_masked", 0).block(slice(100, 2900), slice(0, 2800))
    assert np.allclose(last.values, expected, atol=1e-5)


def test_cancelling_and_editing_at_random_moments_leaves_a_usable_state(streaming: Watched, qtbot: QtBot) -> None:
    chance = random.Random(4)
    feed, last = streaming.feed, LARGE
    feed.ask("N", PictureAsk("N", size=(300, 300)))
    for k in range(25):
        if chance.random() < 0.5:
            last = set_cells(LARGE, "tokens", k, 1, float(k))
            feed.compute(last, "cpu")
        elif chance.random() < 0.5:
            feed.cancel()
        else:
            streaming.worker.cancel(PASS)
            feed.ask("N", PictureAsk("N", head=k % 2, window=(k, 2000 + k, 0, 1500), size=(500, 500)))
        qtbot.wait(chance.choice([0, 5, 30, 120]))
    feed.compute(last, "cpu")
    at_rest(streaming, qtbot)
    assert feed.trace is not None
    assert feed.trace.experiment is last
    assert feed.trace.part() == 1
    assert not streaming.of("N")[-1].finer
    assert not streaming.failures


def test_what_goes_over_every_cell_waits_for_an_edit(
    streaming: Watched, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attn_gui.compute.matrix.SCAN_CELLS", 3000)  # thousands of steps
    feed = streaming.feed
    feed.compute(LARGE, "cpu")
    at_rest(streaming, qtbot)
    feed.ask("statistics", StatisticsAsk())
    until(qtbot, lambda: streaming.worker.running("statistics"))
    edited = set_cells(LARGE, "tokens", 0, 0, 2.0)
    feed.compute(edited, "cpu")
    until(qtbot, lambda: streaming.traced[-1] is edited)
    assert not any(isinstance(answer, HeadStatistics) for answer in streaming.of("statistics"))
    at_rest(streaming, qtbot)
    assert isinstance(streaming.of("statistics")[-1], HeadStatistics)


def test_a_pass_can_be_stopped_and_gone_on_with(streaming: Watched, qtbot: QtBot, lingering: Lingering) -> None:
    feed = streaming.feed
    feed.ask("sums", RowSumsAsk(0))
    feed.compute(LARGE, "cpu")
    until(qtbot, lambda: feed.trace is not None and feed.passing)
    feed.stop_pass()
    assert not feed.passing
    at_rest(streaming, qtbot)
    assert feed.trace is not None
    assert feed.trace.part() < 1
    assert isinstance(streaming.of("sums")[-1], NotYet)
    lingering.let_go()
    feed.resume_pass()
    assert feed.passing
    at_rest(streaming, qtbot)
    assert feed.trace.part() == 1
    assert isinstance(streaming.of("sums")[-1], RowSums)


def test_other_heads_wait_for_what_is_said_of_the_head_in_view(streaming: Watched, qtbot: QtBot) -> None:
    feed, order = streaming.feed, []
    feed.answered.connect(lambda slot, answer: order.append(slot))
    feed.ask("thumbnail 0", PictureAsk("N", head=0, size=(64, 64)))
    feed.ask("thumbnail 1", PictureAsk("N", head=1, size=(64, 64)))
    feed.ask("N", PictureAsk("N", head=0, size=(300, 300)))
    feed.ask("cell", CellAsk(0, 2500, 7))
    feed.compute(LARGE, "cpu")
    at_rest(streaming, qtbot)
    assert order.index("N") < order.index("cell") < order.index("thumbnail 1")
    assert order.index("thumbnail 0") < order.index("cell")
