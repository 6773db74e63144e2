"""The real window on scores and weights that were given: each drawer, each menu entry, and what is said instead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QLabel, QMenu, QMessageBox
from pytestqt.qtbot import QtBot

from attn_gui.compute.trace import trace
from attn_gui.model.asks import CellAsk
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal
from attn_gui.model.origin import Origin
from attn_gui.model.scoring import Scoring
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.views.compare.compare_drawer import CompareDrawer
from attn_gui.views.drawers.heads_drawer import HeadsDrawer
from attn_gui.views.drawers.scoring_drawer import ScoringDrawer
from attn_gui.views.drawers.stages_drawer import StagesDrawer
from attn_gui.views.main_window import MainWindow
from attn_gui.views.why_line import derivation
from tests.views.window_helpers import karina_window, settle

LEAVING = ("Quit", "New window", " words")
NOBODY = "The weights were given: what scores they come from, nobody knows."
NO_VALUES = "The weights were given without values: there is nothing for them to gather."


def weights(heads: int = 4, n: int = 5) -> NDArray[Any]:
    powers = np.exp(np.random.RandomState(2).normal(0, 1, (heads, n, n)))
    return powers / powers.sum(axis=-1, keepdims=True)


def given(kind: str) -> Experiment:
    random = np.random.RandomState(4)
    V = random.normal(0, 1, (2, 5, 3)).astype(np.float32)
    made = {
        "weights": lambda: Experiment.from_weights(weights().astype(np.float16)),
        "weights and values": lambda: Experiment.from_weights(weights(), V),
        "scores": lambda: Experiment.from_scores(random.normal(0, 2, (4, 5, 5)).astype(np.float32)),
        "scores and values": lambda: Experiment.from_scores(random.normal(0, 2, (2, 5, 5)), V, rule=Causal()),
        "one head": lambda: Experiment.from_weights(weights(1)[0]),
    }
    return made[kind]()


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    with karina_window(qtbot, tmp_path) as made:
        made.context.settings.reduced_motion = True
        yield made


def show(qtbot: QtBot, window: MainWindow, named: NamedExperiment) -> None:
    window.context.document.open(Session((named,)), None)
    settle(qtbot, window)


def drawer(qtbot: QtBot, window: MainWindow, title: str) -> Any:
    dock = next(dock for dock in window.docks if dock.windowTitle() == title)
    dock.show()
    settle(qtbot, window)
    return dock.widget()


def test_weights_alone_are_shown_and_the_rest_is_said(qtbot: QtBot, window: MainWindow) -> None:
    e = given("weights")
    show(qtbot, window, NamedExperiment("weights", e))
    formula = window.formula
    assert (formula.scores.absent, formula.weights.absent, formula.output.absent) == (NOBODY, "", NO_VALUES)
    assert not formula.scores.heatmap.isVisible() and formula.weights.heatmap.isVisible()
    assert formula.weights.isAncestorOf(formula.heads) and formula.heads.isVisible()
    # the weights have the room that the scores would take
    assert formula.weights.width() > formula.scores.width() + formula.output.width()
    picture = formula.weights.heatmap.pictures.latest
    assert picture is not None and np.array_equal(picture.values, e.source.parts()["N"][0])
    assert "weight given, not computed" in window.why.line.text()
    assert not window.top_bar.masking.kind.isEnabled()
    # and all of it is back with an experiment that has it
    show(qtbot, window, NamedExperiment("scores", given("scores and values")))
    assert (formula.scores.absent, formula.output.absent) == ("", "")
    assert formula.scores.isAncestorOf(formula.heads) and formula.scores.heatmap.isVisible()
    assert window.top_bar.masking.kind.isEnabled()
    assert formula.output.table.isVisible()


def test_a_row_lies_at_one_height_in_every_panel(qtbot: QtBot, window: MainWindow) -> None:
    show(qtbot, window, NamedExperiment("weights", given("weights and values")))
    plot, table = window.formula.weights.heatmap.plot, window.formula.output.table
    pitch = window.context.bands.pitch
    assert window.context.bands.height == plot.height() - window.context.bands.header
    for row in range(5):
        band = plot.mapToGlobal(plot.area.topLeft()).y() + row * pitch
        index = table.model().index(row, 0)
        assert abs(table.viewport().mapToGlobal(table.visualRect(index).topLeft()).y() - band) <= 1


@pytest.mark.parametrize(
    "kind",
    ["weights", "scores and values", *(pytest.param(k, marks=pytest.mark.slow) for k in ("one head", "scores"))],
)
def test_every_drawer_opens(qtbot: QtBot, window: MainWindow, kind: str) -> None:
    e = given(kind)
    show(qtbot, window, NamedExperiment(kind, e))
    for dock in window.docks:
        dock.show()
        settle(qtbot, window)
        found = dock.widget()
        if isinstance(found, StagesDrawer):
            assert found.stage.currentText() and found.told.text()
            assert found.model.rowCount() > 0
        if isinstance(found, HeadsDrawer) and e.heads > 1:
            assert found.stage.button("A").isEnabled() is e.has_scores
        if isinstance(found, ScoringDrawer):
            assert not found.temperature.isEnabled() and "were given" in found.temperature.reason.text()
            assert found.normaliser.isEnabled() is e.has_scores
        dock.hide()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["weights", "scores and values"])
def test_every_menu_entry_can_be_tried(
    qtbot: QtBot, window: MainWindow, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("getOpenFileName", "getSaveFileName"):
        monkeypatch.setattr(QFileDialog, name, staticmethod(lambda *a, **k: ("", "")))
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", staticmethod(lambda *a, **k: ([], "")))
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", staticmethod(lambda *a, **k: ""))
    monkeypatch.setattr(QDialog, "exec", lambda self: 0)
    monkeypatch.setattr(QMessageBox, "exec", lambda self: QMessageBox.StandardButton.Cancel)
    show(qtbot, window, NamedExperiment(kind, given(kind)))
    first, tried = window.context.document.session, 0
    for top in window.menuBar().actions():
        menu = top.menu()
        assert isinstance(menu, QMenu)
        for text in [text for text, _ in entries(menu)]:
            action = dict(entries(menu)).get(text)
            if action is None or not action.isEnabled() or any(word in text for word in LEAVING):
                continue
            action.trigger()
            QApplication.processEvents()
            for other in QApplication.topLevelWidgets():
                if other is not window and other.isVisible():
                    other.hide()
            tried += 1
            if window.context.document.session.experiments is not first.experiments:
                window.context.document.open(first, None)
                settle(qtbot, window)
    assert tried > 60


def entries(menu: QMenu) -> list[tuple[str, QAction]]:
    """The entries of a menu and its submenus, filled as when they are opened."""
    menu.aboutToShow.emit()
    found: list[tuple[str, QAction]] = []
    for action in menu.actions():
        below = action.menu()
        if isinstance(below, QMenu):
            found += [(f"{action.text()} > {text}", each) for text, each in entries(below)]
        elif not action.isSeparator():
            found.append((action.text().replace("&", ""), action))
    return found


def test_painting_is_refused_where_no_mask_acts(qtbot: QtBot, window: MainWindow) -> None:
    show(qtbot, window, NamedExperiment("weights", given("weights")))
    window.setFocus()
    qtbot.keyClick(window, Qt.Key.Key_P)
    assert not window.context.selection.painting
    said = [label.text() for label in window.statusBar().findChildren(QLabel)]
    assert "The weights were given: it would act before them." in said


def test_the_present_is_compared_with_the_original(qtbot: QtBot, window: MainWindow) -> None:
    random = np.random.RandomState(5)
    Q, K, V = (random.normal(0, 1, (2, 5, 4)) for _ in range(3))
    original = Experiment.from_qkv(Q, K, V)
    cooled = replace(original, scoring=Scoring(temperature=0.5))
    show(qtbot, window, NamedExperiment("layer 1", cooled, original=original))
    compare = drawer(qtbot, window, "Compare")
    assert isinstance(compare, CompareDrawer)
    qtbot.waitUntil(lambda: compare.comparing.pair is not None, timeout=20_000)
    assert compare.against.currentText() == "Original"
    pair = compare.comparing.pair
    assert pair is not None
    rows = slice(0, 5)
    expected = trace(cooled).stage("N", 0) - trace(original).stage("N", 0)
    np.testing.assert_allclose(pair.matrices[2].block(rows, rows), expected, atol=1e-6)
    # another experiment has another original, or none
    show(qtbot, window, NamedExperiment("alone", cooled))
    assert compare.against.findText("Original") < 0 or compare.comparing.pair is None


def test_what_is_computed_is_compared_with_the_weights_that_the_file_stores(qtbot: QtBot, window: MainWindow) -> None:
    random = np.random.RandomState(6)
    Q, K, V = (random.normal(0, 1, (2, 5, 4)) for _ in range(3))
    computed = Experiment.from_qkv(Q, K, V)
    stored = trace(computed).stage("N").copy()
    stored[1, 2, 3] += 0.5
    show(qtbot, window, NamedExperiment("layer 1", computed, original=Experiment.from_weights(stored)))
    window.context.selection.set_head(1)
    compare = drawer(qtbot, window, "Compare")
    qtbot.waitUntil(lambda: compare.comparing.figures is not None and compare.comparing.figures.done, timeout=20_000)
    largest = compare.comparing.figures.largest
    assert (largest.i, largest.j) == (2, 3) and largest.difference == pytest.approx(-0.5, abs=1e-6)
    assert [compare.stage.itemText(k)[0] for k in range(compare.stage.count())] == ["N"]


def test_the_line_of_why_names_the_file(qtbot: QtBot, window: MainWindow) -> None:
    origin = Origin("/data/attn.npy", "sha256:0", {}, {})
    show(qtbot, window, NamedExperiment("layer 1", given("scores"), origin=origin))
    assert "given in attn.npy" in window.why.line.text()


def test_the_steps_of_given_scores_begin_with_the_score() -> None:
    from attn_gui.compute.answers import answer

    t = trace(given("scores"))
    steps = answer(t, CellAsk(1, 2, 3))
    with pytest.raises(StopIteration) as done:
        next(steps)
    told = derivation(t.experiment, done.value.value, 4)
    assert told[2].startswith("score ") and told[2].endswith(" given")
    assert told[-1].endswith(f"= {float(t.stage('N', 1)[2, 3]):.4f}")


@pytest.mark.parametrize(
    ("kind", "stops"),
    [
        ("weights", ["N"]),
        ("weights and values", ["V", "N", "head_output", "concat"]),
        ("scores and values", ["V", "A", "A_masked", "N", "head_output", "concat"]),
    ],
)
def test_the_walk_stops_at_what_there_is(qtbot: QtBot, window: MainWindow, kind: str, stops: list[str]) -> None:
    show(qtbot, window, NamedExperiment(kind, given(kind)))
    window.walk_through()
    assert window.walk is not None
    walking = window.walk.walking
    walking.go_to(0)
    seen = []
    for _ in range(len(stops) + 2):
        settle(qtbot, window)
        if walking.stop not in seen:
            seen.append(walking.stop)
        walking.step(1)
    assert seen == stops
    assert any("as given" in label.text() for label in window.walk.findChildren(QLabel)) or kind != "weights"
    walking.leave()
