"""The Compare drawer in the real window: pinned, present and their difference, through edits, undo and heads."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QGuiApplication, QHelpEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QToolTip
from pytestqt.qtbot import QtBot

from attn_gui.compute.trace import trace
from attn_gui.model.edits import insert_tokens, set_cells
from attn_gui.model.exercise import Exercise
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal
from attn_gui.model.picture import MASKED
from attn_gui.model.scoring import Scoring
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.views.compare.compare_drawer import CompareDrawer
from attn_gui.views.compare.words import signed
from attn_gui.views.figures import figure
from attn_gui.views.main_window import MainWindow
from tests.views.drawer_helpers import several_heads
from tests.views.window_helpers import karina_window, settle, type_in


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    with karina_window(qtbot, tmp_path) as made:
        made.context.settings.reduced_motion = True
        yield made


def opened(window: MainWindow, qtbot: QtBot) -> CompareDrawer:
    """The drawer, in sight."""
    dock = next(dock for dock in window.docks if dock.windowTitle() == "Compare")
    dock.toggleViewAction().trigger()
    settle(qtbot, window)
    drawer = dock.widget()
    assert isinstance(drawer, CompareDrawer) and drawer.isVisible()
    return drawer


def settle_all(qtbot: QtBot, window: MainWindow) -> None:
    """What a layout asks for comes with the next turn of the event loop."""
    for _ in range(2):
        settle(qtbot, window)
        qtbot.wait(1)
    settle(qtbot, window)


def apply(qtbot: QtBot, window: MainWindow, experiment: Experiment) -> None:
    window.context.document.apply("edit", experiment)
    settle_all(qtbot, window)


def open_and_pin(qtbot: QtBot, window: MainWindow, experiment: Experiment) -> None:
    window.context.document.open(Session((NamedExperiment("test", experiment),)), None)
    settle_all(qtbot, window)
    window.pins.pin.trigger()
    settle_all(qtbot, window)


def shown(drawer: CompareDrawer) -> list[np.ndarray]:
    """What the three heatmaps hold."""
    pictures = [view.heatmap.pictures.latest for view in drawer.body.views]
    assert all(picture is not None and picture.exact for picture in pictures)
    return [picture.values for picture in pictures if picture is not None]


def choose(qtbot: QtBot, window: MainWindow, drawer: CompareDrawer, stage: str) -> None:
    drawer.stage.chosen.emit(stage)
    settle_all(qtbot, window)


def test_from_the_first_pin_over_an_edit_to_undo_and_unpin(window: MainWindow, qtbot: QtBot) -> None:
    drawer = opened(window, qtbot)
    assert drawer.empty.isVisible() and "pinned" in drawer.empty.accessibleName()
    qtbot.keyClick(window, Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    settle_all(qtbot, window)
    assert not drawer.empty.isVisible()
    assert "No difference yet" in drawer.body.figures.text()
    before = trace(window.context.document.experiment).stage("N", 0)
    type_in(qtbot, window.formula.tokens.table, 1, 1, "2")
    settle_all(qtbot, window)
    after = trace(window.context.document.experiment).stage("N", 0)
    assert after[1, 1] > before[1, 1] + 0.1
    left, right, difference = shown(drawer)
    np.testing.assert_array_equal(left, before)
    np.testing.assert_array_equal(right, after)
    np.testing.assert_array_equal(difference, after.astype(float) - before)
    window.context.selection.set_cell(1, 3)
    words = f"is → the: {before[1, 3]:.4f} → {after[1, 3]:.4f} (−{before[1, 3] - after[1, 3]:.4f})"
    assert drawer.body.readout.text() == words
    assert drawer.body.difference.heatmap.plot.accessibleDescription() == words
    largest = np.abs(after - before).max()
    text = drawer.body.figures.text()
    assert f"<b>{largest:.4f}</b>" in text and '<a href="cell 1 1">is → is</a>' in text
    # the colours of the difference are centred on 0 and end at the largest
    latest = drawer.body.difference.heatmap.pictures.latest
    assert latest is not None and latest.high == -latest.low == pytest.approx(largest, rel=1e-6)
    window.context.document.undo_stack.undo()
    settle_all(qtbot, window)
    np.testing.assert_array_equal(shown(drawer)[2], np.zeros((5, 5)))
    assert "No difference" in drawer.body.figures.text()
    window.pins.unpin.trigger()
    settle_all(qtbot, window)
    assert drawer.empty.isVisible() and not window.pins.unpin.isEnabled()
    assert drawer.comparing.pair is None


def test_the_cursor_is_one_in_all_heatmaps(window: MainWindow, qtbot: QtBot) -> None:
    drawer = opened(window, qtbot)
    window.pins.pin.trigger()
    apply(qtbot, window, replace(window.context.document.experiment, rule=Causal()))
    selection = window.context.selection
    plot = drawer.body.difference.heatmap.plot
    at = plot.grid.cell(3, 1).center().toPoint() + plot.area.topLeft()
    qtbot.mouseMove(plot, at)
    qtbot.waitUntil(lambda: selection.hover == (3, 1))
    plots = [view.heatmap.plot for view in drawer.body.views] + [window.formula.weights.heatmap.plot]
    assert all(each._hovered == (3, 1) for each in plots)
    assert drawer.body.readout.text().startswith("the → is: ")
    qtbot.mouseClick(plot, Qt.MouseButton.LeftButton, pos=at)
    assert (selection.query, selection.key) == (3, 1)
    plot.setFocus()
    qtbot.keyClick(plot, Qt.Key.Key_Right)
    assert (selection.query, selection.key) == (3, 2)
    assert all(each._selected == (3, 2) for each in plots)
    selection.set_hover(None)
    selection.set_cell(0, 4)
    assert drawer.body.readout.text() == "karina → store: 0.1674 → masked (−0.1674)"
    # Space paints a mask in the main heatmap, and nothing here
    before = window.context.document.experiment
    qtbot.keyClick(plot, Qt.Key.Key_Space)
    assert window.context.document.experiment is before
    drawer.body.figures.linkActivated.emit("cell 2 2")
    assert (selection.query, selection.key) == (2, 2)
    # of a stage with dimensions for columns, only the row is a token
    choose(qtbot, window, drawer, "output")
    drawer.body.selection.set_cell(4, 1)
    assert (selection.query, selection.key) == (4, 2)
    choose(qtbot, window, drawer, "V")
    drawer.body.selection.set_cell(1, 0)
    assert (selection.query, selection.key) == (4, 1)


def test_stages_masks_and_what_is_taken_out(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawer = opened(window, qtbot)
    before = window.context.document.experiment
    window.pins.pin.trigger()
    after = set_cells(replace(before, rule=Causal()), "tokens", [2], [1], [-1.0])
    apply(qtbot, window, after)
    choose(qtbot, window, drawer, "A_masked")
    index = drawer.body.difference.heatmap.pictures.latest
    assert index is not None
    np.testing.assert_array_equal(index.index == MASKED, np.triu(np.ones((5, 5), bool), 1))
    assert "10 cells masked on one side only" in drawer.body.figures.text()
    choose(qtbot, window, drawer, "output")
    expected = trace(after).stage("output").astype(float) - trace(before).stage("output")
    np.testing.assert_array_equal(shown(drawer)[2], expected)
    assert not drawer.body.left.heatmap.plot.corner.isVisible()
    place = tmp_path / "difference.csv"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *args: (str(place), ""))
    drawer.save_csv.trigger()
    qtbot.waitUntil(place.exists, timeout=10_000)
    settle_all(qtbot, window)
    rows = list(csv.reader(place.read_text("utf-8").splitlines()))
    assert rows[0] == ["query", "o1", "o2"]
    assert [row[0] for row in rows[1:]] == list(after.tokens.tokens)
    np.testing.assert_array_equal([[float(x) for x in row[1:]] for row in rows[1:]], expected)
    drawer.body.difference.heatmap.menu.copy_matrix.trigger()
    lines = "\n".join("\t".join(row[1:]) for row in rows[1:])
    qtbot.waitUntil(lambda: QGuiApplication.clipboard().text() == lines, timeout=10_000)
    drawer.body.difference.heatmap.show_table(True)
    settle_all(qtbot, window)
    model = drawer.body.difference.heatmap.twin.values
    assert model.value(1, 1) == expected[1, 1]
    change = signed(float(expected[1, 1]), window.context.settings.decimals)
    spoken = model.index(1, 1).data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == f"Difference, query is, o2, difference of values of output {change}"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *args: (str(tmp_path / "no" / "x.csv"), ""))
    with qtbot.waitSignal(window.context.notices.said, timeout=10_000) as said:
        drawer.save_csv.trigger()
    assert "x.csv" in said.args[0].text


def test_tokens_added_and_names_changed(window: MainWindow, qtbot: QtBot) -> None:
    drawer = opened(window, qtbot)
    before = window.context.document.experiment
    window.pins.pin.trigger()
    after = insert_tokens(before, "tokens", 0, ["<now>"], [[1.0, -1.0]])
    apply(qtbot, window, after)
    a, b = (trace(e).stage("N", 0)[:5, :5].astype(float) for e in (before, after))
    np.testing.assert_array_equal(shown(drawer)[2], b - a)
    assert "5 queries pinned, 6 present" in drawer.told.text() and drawer.told.isVisible()
    assert "of 5 and of 6 keys" in drawer.body.figures.text()
    window.context.selection.set_cell(0, 1)
    assert drawer.body.readout.text().startswith("karina / <now> → is / karina: ")
    # a token may look like markup
    assert "<now>" not in drawer.body.figures.text()
    window.context.document.undo_stack.undo()
    settle_all(qtbot, window)
    assert not drawer.told.isVisible()
    # another width: what has dimensions for columns cannot be compared, and says why
    apply(qtbot, window, Experiment.from_tokens("ab", np.eye(2, 3)))
    texts = [drawer.stage.itemText(k) for k in range(drawer.stage.count())]
    assert any("d_k is 2 on one side, 3 on the other" in text for text in texts)
    assert drawer.body.difference.heatmap.pictures.latest is not None
    assert shown(drawer)[2].shape == (2, 2)


def test_heads(window: MainWindow, qtbot: QtBot) -> None:
    drawer = opened(window, qtbot)
    e = several_heads(4)
    window.context.document.open(Session((NamedExperiment("test", e),)), None)
    settle_all(qtbot, window)
    assert drawer.compare_heads.isVisible()
    drawer.compare_heads.click()
    settle_all(qtbot, window)
    N = trace(e).stage("N").astype(float)
    np.testing.assert_array_equal(shown(drawer)[2], N[0] - N[1])
    window.context.selection.set_head(3)
    settle_all(qtbot, window)
    np.testing.assert_array_equal(shown(drawer)[2], N[3] - N[1])
    assert [view.title.text() for view in drawer.body.views[:2]] == ["Head 2", "Head 4 (selected)"]
    assert "KL(head 4 ‖ head 2)" in drawer.body.figures.text()
    # what is pinned has fewer heads: its last
    open_and_pin(qtbot, window, several_heads(2))
    first = trace(several_heads(2)).stage("N", 1).astype(float)
    apply(qtbot, window, e)
    window.context.selection.set_head(3)
    settle_all(qtbot, window)
    np.testing.assert_array_equal(shown(drawer)[2], N[3] - first)
    assert "Pinned head 2, present head 4" in drawer.told.text()


def test_out_of_sight_nothing_is_compared(window: MainWindow, qtbot: QtBot) -> None:
    drawer = opened(window, qtbot)
    window.pins.pin.trigger()
    settle_all(qtbot, window)
    assert drawer.comparing.pair is not None
    dock = next(dock for dock in window.docks if dock.windowTitle() == "Compare")
    dock.toggleViewAction().trigger()
    apply(qtbot, window, replace(window.context.document.experiment, rule=Causal()))
    assert drawer.comparing.pair is None and drawer.comparing.left.trace is None
    dock.toggleViewAction().trigger()
    settle_all(qtbot, window)
    assert "cells masked on one side only" in drawer.body.figures.text()
    # nothing tells of what an exercise hides
    exercise = NamedExperiment("test", window.context.document.experiment, exercise=Exercise(("N",)))
    window.context.document.open(Session((exercise,)), None)
    settle_all(qtbot, window)
    assert drawer.comparing.pair is None and drawer.comparing.left.trace is None
    drawer.refresh()
    assert drawer.comparing.pair is None and drawer.comparing.left.trace is None
    assert drawer.empty.accessibleName() == "Stages are hidden"


def test_what_is_computed_row_by_row_fills_in(window: MainWindow, qtbot: QtBot) -> None:
    """Neither side is held whole: outputs come once every row of both has been gone over."""
    window.context.feed.memory = 1
    drawer = opened(window, qtbot)
    random = np.random.default_rng(1)
    e = Experiment.from_tokens([f"t{i}" for i in range(600)], random.standard_normal((600, 3)))
    open_and_pin(qtbot, window, e)
    after = replace(e, scoring=Scoring(scale=1.0))
    apply(qtbot, window, after)
    drawer.stage.chosen.emit("output")
    qtbot.waitUntil(lambda: drawer.comparing.pair is not None, timeout=60_000)
    settle_all(qtbot, window)
    found = drawer.comparing.figures
    assert found is not None and found.done and not isinstance(found.cosine, str)
    a, b = trace(e).stage("output").astype(float), trace(after).stage("output").astype(float)
    cosines = (a * b).sum(axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    assert found.cosine.extreme == pytest.approx(cosines.min(), abs=1e-5)
    assert found.cosine.mean == pytest.approx(cosines.mean(), abs=1e-5)
    assert found.largest is not None
    assert abs(found.largest.difference) == pytest.approx(np.abs(b - a).max(), abs=1e-5)
    choose(qtbot, window, drawer, "N")
    # cells that no pixel shows alone are asked for
    window.context.selection.set_cell(500, 400)
    N = [trace(x).matrix("N", 0).block(slice(500, 501), slice(400, 401))[0, 0] for x in (e, after)]
    words = f"t500 → t400: {figure(N[0], 4)} → {figure(N[1], 4)}"
    qtbot.waitUntil(lambda: drawer.body.readout.text().startswith(words), timeout=10_000)
    assert "largest difference" in drawer.body.note.text()


def test_colours_and_tool_tips_are_those_of_both_sides(window: MainWindow, qtbot: QtBot) -> None:
    drawer = opened(window, qtbot)
    window.pins.pin.trigger()
    apply(qtbot, window, replace(window.context.document.experiment, rule=Causal()))
    left, right = drawer.body.left.heatmap, drawer.body.right.heatmap
    left.choices.set_mapping("log")
    settle_all(qtbot, window)
    assert right.pictures.mapping == left.pictures.mapping == "log"
    assert right.pictures.latest is not None and right.pictures.latest.request.mapping == "log"
    cell = left.plot.grid.cell(1, 3).center().toPoint() + left.plot.area.topLeft()
    event = QHelpEvent(QEvent.Type.ToolTip, cell, left.plot.mapToGlobal(cell))
    QApplication.sendEvent(left.plot, event)
    assert QToolTip.text() == "<span>is → the: 0.2226 → masked (−0.2226)</span>"
    QToolTip.hideText()
