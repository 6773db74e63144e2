"""The drawer Layers on real widgets, and in the window."""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from attn_gui.compute.head_scores import head_scores
from attn_gui.compute.trace import trace
from attn_gui.model.arranging import Arrangement
from attn_gui.model.experiment import Experiment
from attn_gui.model.head_scores import HEAD_SCORES
from attn_gui.model.layer_place import LayerPlace
from attn_gui.model.layers import HeadAt
from attn_gui.model.origin import Origin
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.model.tensors.proposals import propose
from attn_gui.views.context import Context
from attn_gui.views.layers.layers_drawer import LayersDrawer
from attn_gui.views.layers.layers_model import LayersModel
from attn_gui.views.layers.sieve import Sieve
from attn_gui.views.layers.source_action import SourceAction
from attn_gui.views.main_window import MainWindow
from tests import reference_scores
from tests.files.tensors.writing import looked, opened
from tests.views.window_helpers import karina_window, settle

Traced = Callable[[], None]
PREVIOUS = [score.name for score in HEAD_SCORES].index("previous_token")


def layers(count: int = 3, heads: int = 4, n: int = 6, seed: int = 0) -> Session:
    """Given weights; head (layer + 1) of each layer looks at the token before, the less the higher the layer."""
    random = np.random.default_rng(seed)
    named = []
    for k in range(count):
        N = random.random((heads, n, n)) * 0.1
        N[(k + 1) % heads, np.arange(1, n), np.arange(n - 1)] += 4.0 - k
        N /= N.sum(axis=-1, keepdims=True)
        e = Experiment.from_weights(N.astype(np.float32), tokens=[f"t{j}" for j in range(n)])
        named.append(NamedExperiment(f"Layer {k + 1}", e, place=LayerPlace(k, f"layer.{k}.attention")))
    return Session(tuple(named))


@pytest.fixture
def drawer(context: Context, qtbot: QtBot, wait_traced: Traced) -> LayersDrawer:
    context.document.open(layers(), None)
    made = LayersDrawer(context)
    qtbot.addWidget(made)
    made.resize(760, 420)
    context.document.start()
    made.show()
    qtbot.waitExposed(made)
    wait_traced()
    wait(made, qtbot)
    return made


def wait(drawer: LayersDrawer, qtbot: QtBot) -> None:
    """Until nothing that is wanted is missing."""
    timers = (drawer._ask_soon, drawer._look_soon, drawer._tell_soon)

    def at_rest() -> bool:
        return not drawer.context.worker.busy and not any(timer.isActive() for timer in timers)

    qtbot.waitUntil(at_rest, timeout=20_000)


def places(drawer: LayersDrawer) -> list[HeadAt]:
    model = drawer.model
    cells = ((row, column) for row in range(model.rowCount()) for column in range(model.columnCount()))
    return [at for cell in cells if (at := model.place(*cell)) is not None]


def click(drawer: LayersDrawer, at: HeadAt, qtbot: QtBot) -> None:
    index = drawer.model.index_of(at)
    drawer.grid.scrollTo(index)
    qtbot.mouseClick(drawer.grid.viewport(), Qt.MouseButton.LeftButton, pos=drawer.grid.visualRect(index).center())


def expected_scores(session: Session, layer: int) -> np.ndarray:
    steps = head_scores(trace(session.experiments[layer].experiment))
    while True:
        try:
            next(steps)
        except StopIteration as finished:
            return finished.value.values  # type: ignore[no-any-return]


def test_every_head_of_every_layer_shows_what_was_given(drawer: LayersDrawer, context: Context) -> None:
    session, model = context.document.session, drawer.model
    assert (model.rowCount(), model.columnCount()) == (3, 5)
    assert [model.headerData(row, Qt.Orientation.Vertical) for row in range(3)] == ["Layer 1", "Layer 2", "Layer 3"]
    assert [model.headerData(c, Qt.Orientation.Horizontal) for c in range(3)] == ["Mean", "1", "2"]
    for layer, named in enumerate(session.experiments):
        N = named.experiment.source.N  # type: ignore[union-attr]
        scores = expected_scores(session, layer)
        for head in range(4):
            at = HeadAt(layer, head)
            thumbnail = model.known.thumbnail(at)
            assert thumbnail is not None
            assert np.array_equal(thumbnail.picture.values, N[head])
            assert np.array_equal(model.known.scores(at), scores[head], equal_nan=True)
            assert model.caption(at) == f"{scores[head][0]:.2f}"
        mean = model.known.thumbnail(HeadAt(layer, "mean"))
        assert mean is not None
        np.testing.assert_allclose(mean.picture.values, N.mean(axis=0), rtol=1e-6)


def test_hidden_tokens_are_hidden_in_the_grid_as_well(drawer: LayersDrawer, context: Context, qtbot: QtBot) -> None:
    N = np.random.default_rng(1).dirichlet(np.ones(4), (2, 4)).astype(np.float32)  # [heads, n_q, n_k]
    e = Experiment.from_weights(N, tokens=["[CLS]", "a", "b", "[SEP]"])
    context.document.open(Session((NamedExperiment("Layer 1", e, place=LayerPlace(0, "layer.0")),)), None)
    wait(drawer, qtbot)
    shown = drawer.model.known.thumbnail(HeadAt(0, 1))
    assert shown is not None and np.array_equal(shown.picture.values, N[1])
    context.arranging.choose(Arrangement(hide_special=True))
    wait(drawer, qtbot)
    shown = drawer.model.known.thumbnail(HeadAt(0, 1))
    assert shown is not None and np.array_equal(shown.picture.values, N[1, 1:3, 1:3])


def test_a_click_opens_a_head_of_another_layer(drawer: LayersDrawer, context: Context, qtbot: QtBot) -> None:
    click(drawer, HeadAt(2, 1), qtbot)
    assert (context.document.session.current, context.selection.head) == (2, 1)
    assert context.document.undo_stack.count() == 0
    assert drawer.model.tile(HeadAt(2, 1)).opened and not drawer.model.tile(HeadAt(0, 0)).opened
    click(drawer, HeadAt(1, "mean"), qtbot)
    assert (context.document.session.current, context.selection.head) == (1, "mean")
    header = drawer.grid.verticalHeader()
    place = QPoint(10, header.sectionViewportPosition(0) + 20)
    qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert (context.document.session.current, context.selection.head) == (0, "mean")


def test_the_arrow_keys_move_and_enter_opens(drawer: LayersDrawer, context: Context, qtbot: QtBot) -> None:
    grid = drawer.grid
    grid.setFocus()
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Right, Qt.Key.Key_Right):
        qtbot.keyClick(grid, key)
    assert context.document.session.current == 0
    qtbot.keyClick(grid, Qt.Key.Key_Return)
    assert (context.document.session.current, context.selection.head) == (1, 2)


def test_ranked_the_planted_heads_come_first(drawer: LayersDrawer, context: Context, qtbot: QtBot) -> None:
    drawer.score.chosen.emit("previous_token")
    drawer.order.button("largest").click()
    wait(drawer, qtbot)
    assert places(drawer)[:3] == [HeadAt(0, 1), HeadAt(1, 2), HeadAt(2, 3)]
    assert len(places(drawer)) == 12
    assert drawer.model.tile(HeadAt(1, 2)).name == "L2 H3"
    assert drawer.grid.horizontalHeader().isHidden() and drawer.grid.verticalHeader().isHidden()
    drawer.order.button("smallest").click()
    wait(drawer, qtbot)
    assert places(drawer)[-3:] == [HeadAt(2, 3), HeadAt(1, 2), HeadAt(0, 1)]
    assert context.document.session.view["layers_order"] == "smallest"
    click(drawer, HeadAt(1, 2), qtbot)
    assert (context.document.session.current, context.selection.head) == (1, 2)


def test_heads_below_the_limit_are_faint_by_layer_and_gone_when_ranked(drawer: LayersDrawer, qtbot: QtBot) -> None:
    drawer.score.chosen.emit("previous_token")
    drawer.keep.chosen.emit("least")
    drawer.limit.setFocus()
    drawer.limit.selectAll()
    qtbot.keyClicks(drawer.limit, "50")
    qtbot.keyClick(drawer.limit, Qt.Key.Key_Return)
    wait(drawer, qtbot)
    planted = {HeadAt(0, 1), HeadAt(1, 2), HeadAt(2, 3)}
    assert drawer.unit.text() == "%" and drawer.model.sieve.limit == 0.5
    assert {at for at in places(drawer) if not drawer.model.tile(at).faint and at.head != "mean"} == planted
    assert drawer.told.text() == "3 of 12 heads"
    drawer.order.button("largest").click()
    wait(drawer, qtbot)
    assert set(places(drawer)) == planted
    drawer.keep.chosen.emit("most")
    wait(drawer, qtbot)
    assert len(places(drawer)) == 9 and not planted & set(places(drawer))


def test_another_score_lets_all_heads_in_again(drawer: LayersDrawer, qtbot: QtBot) -> None:
    drawer.keep.chosen.emit("least")
    drawer.score.chosen.emit("separator")
    wait(drawer, qtbot)
    assert drawer.model.sieve.keep == "all" and not drawer.limit.isVisible()
    # no token is a separator: every head is without that score, which is said and sorts last
    assert {drawer.model.caption(at) for at in places(drawer) if at.head != "mean"} == {"–"}


def test_an_edit_of_one_layer_leaves_the_others(
    drawer: LayersDrawer, context: Context, qtbot: QtBot, wait_traced: Traced
) -> None:
    kept = drawer.model.known.thumbnail(HeadAt(1, 0))
    context.document.show(2)
    e = context.document.experiment
    N = np.roll(e.source.N, 1, axis=0)  # type: ignore[union-attr]
    context.document.apply("roll", Experiment.from_weights(N, tokens=e.tokens.tokens))
    wait_traced()
    wait(drawer, qtbot)
    assert drawer.model.known.thumbnail(HeadAt(1, 0)) is kept
    changed = drawer.model.known.thumbnail(HeadAt(2, 0))
    assert changed is not None and np.array_equal(changed.picture.values, N[0])
    context.document.show(0)
    context.document.undo_stack.undo()
    assert context.document.session.current == 2
    wait_traced()
    wait(drawer, qtbot)
    again = drawer.model.known.thumbnail(HeadAt(2, 1))
    assert again is not None and np.array_equal(again.picture.values, N[2])


def test_scores_shown_instead_where_there_are_none(drawer: LayersDrawer, qtbot: QtBot) -> None:
    drawer.stage.button("A").click()
    wait(drawer, qtbot)
    # weights were given: what scores they come from nobody knows
    assert all(drawer.model.known.thumbnail(at) is None for at in places(drawer))
    drawer.stage.button("N").click()
    wait(drawer, qtbot)
    assert drawer.model.known.thumbnail(HeadAt(0, 0)) is not None


def test_the_table_and_its_file(drawer: LayersDrawer, context: Context, qtbot: QtBot, tmp_path: Path) -> None:
    drawer.stage.button("table").click()
    wait(drawer, qtbot)
    table = drawer.page.table
    assert table.model().rowCount() == 12
    assert table.model().index(5, 0).data() == "Layer 2" and table.model().index(5, 1).data() == "2"
    drawer.page.write(tmp_path / "scores.csv")
    qtbot.waitUntil(lambda: not context.worker.owing)
    rows = list(csv.DictReader((tmp_path / "scores.csv").read_text(encoding="utf-8").splitlines()))
    found = [float(row["previous_token"]) for row in rows]
    assert found == [
        value for layer in range(3) for value in expected_scores(context.document.session, layer)[:, PREVIOUS]
    ]
    table.sortByColumn(2 + PREVIOUS, Qt.SortOrder.DescendingOrder)
    table.setCurrentIndex(table.model().index(1, 0))
    qtbot.keyClick(table, Qt.Key.Key_Return)
    assert (context.document.session.current, context.selection.head) == (1, 2)


def test_rollout_comes_as_one_more_experiment(
    drawer: LayersDrawer, context: Context, qtbot: QtBot, wait_traced: Traced
) -> None:
    before = context.document.session
    drawer.rollout.click()
    qtbot.waitUntil(lambda: len(context.document.session.experiments) == 4, timeout=10_000)
    wait_traced()
    wait(drawer, qtbot)
    named = context.document.session.named
    weights = [n.experiment.source.N.astype(np.float64) for n in before.experiments]  # type: ignore[union-attr]
    np.testing.assert_allclose(named.experiment.source.N[0], reference_scores.rollout(weights), rtol=1e-6)  # type: ignore[union-attr]
    assert named.experiment.tokens.tokens == before.experiment.tokens.tokens
    assert "Abnar" in named.note
    assert not drawer.rollout.isEnabled() and "no layer" in drawer.rollout.toolTip()
    context.document.undo_stack.undo()
    assert context.document.session.experiments == before.experiments
    assert drawer.rollout.isEnabled()


def test_the_row_of_a_rollout_comes_into_sight(drawer: LayersDrawer, context: Context, qtbot: QtBot) -> None:
    context.document.open(layers(12, 4, 6), None)
    wait(drawer, qtbot)
    drawer.rollout.setFocus()
    qtbot.keyClick(drawer.rollout, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: len(context.document.session.experiments) == 13, timeout=10_000)
    wait(drawer, qtbot)
    grid = drawer.grid
    shown = grid.visualRect(drawer.model.index_of(HeadAt(12, context.selection.head)))
    assert grid.viewport().rect().contains(shown), (shown, grid.viewport().rect())


def test_cancel_leaves_what_is_not_scored(drawer: LayersDrawer, context: Context, qtbot: QtBot) -> None:
    context.document.open(layers(2, 4, 300, seed=1), None)
    drawer.order.button("largest").click()
    qtbot.waitUntil(lambda: context.worker.running("layers.scores"), timeout=5_000)
    drawer.cancel.click()
    wait(drawer, qtbot)
    assert not context.worker.running("layers.scores")
    drawer.order.button("smallest").click()
    wait(drawer, qtbot)
    assert len(places(drawer)) == 8


def test_out_of_sight_nothing_is_computed(context: Context, qtbot: QtBot, wait_traced: Traced) -> None:
    context.document.open(layers(), None)
    made = LayersDrawer(context)
    qtbot.addWidget(made)
    context.document.start()
    wait_traced()
    assert made.model.known.thumbnail(HeadAt(0, 0)) is None
    made.show()
    qtbot.waitExposed(made)
    made.hide()
    assert not context.worker.running("layers.pictures") and not context.worker.running("layers.scores")


def test_of_many_layers_only_those_in_sight(drawer: LayersDrawer, context: Context, qtbot: QtBot) -> None:
    context.document.open(layers(40, 30, 4), None)
    wait(drawer, qtbot)
    there = [at for at in places(drawer) if drawer.model.known.thumbnail(at) is not None]
    scored = [at for at in places(drawer) if drawer.model.known.scores(at) is not None]
    assert set(there) == set(drawer.grid.in_sight()) and 10 < len(there) < 120
    assert set(scored) == {at for at in there if at.head != "mean"}
    drawer.grid.verticalScrollBar().setValue(drawer.grid.verticalScrollBar().maximum())
    drawer.grid.horizontalScrollBar().setValue(drawer.grid.horizontalScrollBar().maximum())
    wait(drawer, qtbot)
    assert drawer.model.known.thumbnail(HeadAt(39, 29)) is not None
    assert drawer.model.known.thumbnail(HeadAt(20, 29)) is None


@pytest.mark.parametrize("order", ["layer", "largest"])
def test_the_model_is_a_sound_one(qtmodeltester: ModelTester, order: str) -> None:
    model = LayersModel(layers())
    model.set_sieve(Sieve(order=order))
    model.set_across(3)
    qtmodeltester.check(model)


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    with karina_window(qtbot, tmp_path) as made:
        made.context.document.open(layers(), None)
        settle(qtbot, made)
        yield made


def test_keys_go_from_layer_to_layer(window: MainWindow, qtbot: QtBot) -> None:
    document, switch = window.context.document, window.layers
    assert switch.isVisible() and switch.label.text() == "Layer"
    qtbot.keyClick(window, Qt.Key.Key_PageDown, Qt.KeyboardModifier.ControlModifier)
    settle(qtbot, window)
    assert document.session.current == 1 and switch.choice.currentText() == "Layer 2"
    feed = window.context.feed
    assert feed.trace is not None and feed.trace.experiment is document.session.experiments[1].experiment
    qtbot.keyClick(window, Qt.Key.Key_PageDown, Qt.KeyboardModifier.ControlModifier)
    assert document.session.current == 2 and not switch.next.isEnabled()
    qtbot.keyClick(window, Qt.Key.Key_PageUp, Qt.KeyboardModifier.ControlModifier)
    switch.choice.activated.emit(0)
    assert document.session.current == 0 and not switch.previous.isEnabled()
    assert not document.modified
    settle(qtbot, window)


def test_one_experiment_needs_no_switch(window: MainWindow, qtbot: QtBot) -> None:
    named = window.context.document.session.named
    window.context.document.open(Session((named,)), None)
    assert not window.layers.isVisible()
    two = NamedExperiment("another", named.experiment)
    window.context.document.open(Session((NamedExperiment("one", named.experiment), two)), None)
    assert window.layers.isVisible() and window.layers.label.text() == "Experiment"
    settle(qtbot, window)


def test_an_example_takes_the_place_of_the_layers_and_undo_brings_them_back(window: MainWindow, qtbot: QtBot) -> None:
    document = window.context.document
    layers_before = document.session.experiments
    window.open_example("karina")
    settle(qtbot, window)
    assert document.session.named.name == "Karina" and not window.layers.isVisible()
    document.undo_stack.undo()
    settle(qtbot, window)
    assert document.session.experiments == layers_before and window.layers.isVisible()


def test_the_drawer_in_the_window_opens_a_head_in_the_heatmap(window: MainWindow, qtbot: QtBot) -> None:
    drawer = window._show_drawer("layers")
    assert isinstance(drawer, LayersDrawer)
    settle(qtbot, window)
    wait(drawer, qtbot)
    click(drawer, HeadAt(1, 3), qtbot)
    settle(qtbot, window)
    N = window.context.document.session.experiments[1].experiment.source.N[3]  # type: ignore[union-attr]
    assert window.context.feed.trace is not None
    shown = window.formula.weights.heatmap.plot._written
    assert shown is not None and np.array_equal(shown.values, N)


def test_the_selection_is_copied_as_its_source(window: MainWindow, qtbot: QtBot) -> None:
    session = window.context.document.session
    action = next(action for action in window.findChildren(SourceAction))
    assert not action.isEnabled()
    named = [
        NamedExperiment(
            n.name,
            n.experiment,
            place=n.place,
            origin=Origin("/a.npy", "sha256:0", {}, {"N": f"np.load('a.npy')[{k}]"}),
        )
        for k, n in enumerate(session.experiments)
    ]
    window.context.document.open(Session(tuple(named), current=1), None)
    settle(qtbot, window)
    window.context.selection.set_head(2)
    window.context.selection.set_cell(4, 3)
    assert action.isEnabled()
    action.trigger()
    assert QApplication.clipboard().text() == "np.load('a.npy')[1, 2, 4, 3]"
    window.context.selection.pick(frozenset({1, 2, 3}), frozenset())
    action.trigger()
    assert QApplication.clipboard().text() == "np.load('a.npy')[1, 2, 1:4]"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows lets nobody write to a mapped file")
def test_a_file_that_was_changed_is_told_of(
    context: Context, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attn_gui.files.tensors.layer_arrays.IN_MEMORY", 0)
    np.save(tmp_path / "attn.npy", np.full((3, 2, 40, 40), 1 / 40, np.float32))
    contents = looked(tmp_path / "attn.npy")
    session = opened(contents, propose(contents))
    os.truncate(tmp_path / "attn.npy", 256)
    context.document.open(session, None)
    texts: list[str] = []
    context.notices.said.connect(lambda notice: texts.append(notice.text))
    made = LayersDrawer(context)
    qtbot.addWidget(made)
    made.resize(760, 420)
    made.show()
    qtbot.waitExposed(made)
    wait(made, qtbot)
    assert any("attn.npy was changed since it was opened" in text for text in texts)
    assert not made.overview.busy
    assert all(made.model.known.thumbnail(at) is None for at in places(made))
