"""Rotary positions from a file: chosen in the Scoring drawer, read in the worker, one undo step, refused in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot

from attn_gui.compute.trace import trace
from attn_gui.model.experiment import Experiment
from attn_gui.model.precision import Precision
from attn_gui.model.rotary.frequencies import Frequencies
from attn_gui.model.rotary.imported import ImportedRotary
from attn_gui.model.session import NamedExperiment
from attn_gui.views.context import Context
from attn_gui.views.drawers.scoring_drawer import ScoringDrawer
from attn_gui.views.scoring.rotary_group import FROM_FILE, RotaryGroup
from tests.views.drawer_helpers import open_experiment, several_heads

# heads of 4 numbers
COS, SIN = Frequencies().tables(np.arange(6), 4)
Choose = Callable[..., None]


@pytest.fixture
def drawer(context: Context, qtbot: QtBot) -> ScoringDrawer:
    """Open on 5 tokens and 3 heads of 4 numbers."""
    open_experiment(context, several_heads(3))
    drawer = ScoringDrawer(context)
    qtbot.addWidget(drawer)
    drawer.resize(1200, 400)
    with qtbot.waitActive(drawer):
        drawer.show()
    return drawer


@pytest.fixture
def group(drawer: ScoringDrawer) -> RotaryGroup:
    return drawer.rotary


@pytest.fixture
def choose(group: RotaryGroup, context: Context, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Choose:
    """Choose the entry in the list, then the files of these names in the dialog."""

    def pick(*paths: Path) -> None:
        answer = ([str(path) for path in paths], "")
        monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *given: answer)
        box = group.kind
        box.setCurrentIndex(next(k for k in range(box.count()) if box.itemText(k).startswith("Cos and sin")))
        box.activated.emit(box.currentIndex())
        qtbot.waitUntil(lambda: not context.worker.busy)

    return pick


def written(path: Path, cos: Any = COS, sin: Any = SIN) -> Path:
    np.savez(path, cos=cos, sin=sin)
    return path


def e(context: Context) -> Experiment:
    return context.document.experiment


def test_tables_from_a_file_are_one_undo_step(
    group: RotaryGroup, context: Context, choose: Choose, tmp_path: Path
) -> None:
    before = e(context)
    choose(written(tmp_path / "tables.npz"))
    rotary = e(context).scoring.rotary
    assert isinstance(rotary, ImportedRotary)
    np.testing.assert_array_equal(rotary.cos, COS)
    assert group.kind.currentText() == ImportedRotary.title
    assert group.formula.text() == "6 positions × 2 pairs"
    assert group.fields is not None and group.fields.fields["width"].isHidden()
    np.testing.assert_array_equal(
        trace(e(context)).stage("N"), trace(with_frequencies(before)).stage("N"), "as what the tables came from"
    )
    assert context.document.undo_stack.undoText() == "Rotary positions: tables.npz"
    context.document.undo_stack.undo()
    assert e(context) is before
    assert group.kind.currentText() == "None"
    assert context.document.undo_stack.count() == 1


def with_frequencies(experiment: Experiment) -> Experiment:
    return replace(experiment, scoring=replace(experiment.scoring, rotary=Frequencies()))


def test_two_files_and_pairs_side_by_side(group: RotaryGroup, context: Context, choose: Choose, tmp_path: Path) -> None:
    paths = [tmp_path / "cos.npy", tmp_path / "sin.npy"]
    for path, table in zip(paths, (COS, SIN), strict=True):
        np.save(path, np.repeat(table, 2, axis=1)[None])
    choose(*paths)
    rotary = e(context).scoring.rotary
    assert isinstance(rotary, ImportedRotary)
    assert rotary.layout == "interleaved"
    np.testing.assert_array_equal(rotary.sin, SIN)
    assert context.document.undo_stack.undoText() == "Rotary positions: cos.npy and sin.npy"


def test_the_pairs_are_as_they_were_where_the_file_does_not_say(
    group: RotaryGroup, context: Context, choose: Choose, tmp_path: Path
) -> None:
    group.kind.chosen.emit("frequencies")
    assert group.fields is not None
    group._take(Frequencies("interleaved"), "Pairs", None)
    choose(written(tmp_path / "tables.npz"))
    assert e(context).scoring.rotary.layout == "interleaved"


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"cos": COS[:3], "sin": SIN[:3]}, "⚠ Expected a row for position 4, received rows for 0 to 2"),
        (
            {"cos": np.hstack([COS, -COS]), "sin": np.hstack([SIN, SIN])},
            "⚠ bad.npz: cos and sin: expected a column for each pair of a head's 4 dimensions, at most 2, or each of "
            "them twice, received 4 of which neither halves nor neighbours are equal",
        ),
        (
            {"cos": np.tile(np.hstack([COS, -COS]), 2), "sin": np.tile(np.hstack([SIN, SIN + 1]), 2)},
            "⚠ Expected a column for each pair of a head's 4 dimensions, at most 2, received 4",
        ),
        ({"cos": COS}, "⚠ bad.npz: expected one array called sin, received cos"),
        ({"cos": COS, "sin": SIN[1:]}, "⚠ bad.npz: sin: expected the shape of cos, (6, 2), received shape (5, 2)"),
    ],
)
def test_what_does_not_fit_is_said_there_and_loses_nothing(
    group: RotaryGroup,
    context: Context,
    choose: Choose,
    tmp_path: Path,
    arrays: dict[str, Any],
    words: str,
) -> None:
    choose(written(tmp_path / "good.npz"))
    before = e(context)
    np.savez(tmp_path / "bad.npz", **arrays)
    choose(tmp_path / "bad.npz")
    assert group.reason.text() == words
    assert group.reason.isVisible()
    assert e(context) is before
    assert group.kind.currentText() == ImportedRotary.title
    assert group.formula.text() == "6 positions × 2 pairs"
    assert context.document.undo_stack.count() == 1
    choose(tmp_path / "good.npz")
    assert not group.reason.isVisible()


def test_a_file_that_is_not_there_and_no_file(
    group: RotaryGroup, context: Context, choose: Choose, tmp_path: Path
) -> None:
    before = e(context)
    choose(tmp_path / "none.npz")
    assert group.reason.text() == "⚠ none.npz: expected a file, received a name that does not exist"
    choose()
    assert e(context) is before
    assert group.kind.currentText() == "None"


def test_keys_and_the_wheel_do_not_open_the_dialog(
    group: RotaryGroup, context: Context, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(group, "open", asked.append)
    box = group.kind
    box.setFocus()
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_End, Qt.Key.Key_PageDown):
        qtbot.keyClick(box, key)
        assert e(context).scoring.rotary == Frequencies()
    down = QPoint(0, -120)
    middle = QPointF(box.rect().center())
    for _ in range(2):
        event = QWheelEvent(
            middle,
            box.mapToGlobal(middle),
            QPoint(),
            down,
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(box, event)
    assert e(context).scoring.rotary == Frequencies()
    qtbot.keyClick(box, Qt.Key.Key_Home)
    assert e(context).scoring.rotary is None
    assert asked == []


def test_by_keyboard_in_the_open_list(group: RotaryGroup, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(group, "open", asked.append)
    group.kind.setFocus()
    group.kind.showPopup()
    view = group.kind.view()
    qtbot.keyClick(view, Qt.Key.Key_End)
    qtbot.keyClick(view, Qt.Key.Key_Return)
    assert asked == [FROM_FILE]
    assert group.kind.currentText() == "None"


def test_tables_that_were_read_for_another_experiment_are_not_used(
    group: RotaryGroup, context: Context, tmp_path: Path, qtbot: QtBot
) -> None:
    group.load([written(tmp_path / "tables.npz")])
    context.document.depart("Example", NamedExperiment("Another", several_heads(3)))
    qtbot.waitUntil(lambda: not context.worker.busy)
    assert e(context).scoring.rotary is None
    assert context.document.session.named.name == "Another"
    assert "not used" in group.reason.text()
    group.load([written(tmp_path / "tables.npz")])
    context.document.apply("Precision", replace(e(context), precision=Precision.FLOAT64))
    qtbot.waitUntil(lambda: not context.worker.busy)
    assert isinstance(e(context).scoring.rotary, ImportedRotary)
    assert e(context).precision is Precision.FLOAT64
