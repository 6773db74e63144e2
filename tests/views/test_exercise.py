"""An exercise in the program's window: what is asked, what is hidden, and what a check tells."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QWidget,
)
from pytestqt.qtbot import QtBot

from attn_gui.compute.trace import trace
from attn_gui.files import examples, session
from attn_gui.files.exercise_files import Handout, write_one
from attn_gui.model.derivation import Cell
from attn_gui.model.exercise import Exercise, hidden_by
from attn_gui.model.masks import Causal
from attn_gui.model.precision import Precision
from attn_gui.model.recipe import Recipe
from attn_gui.model.session import Session
from attn_gui.model.stage_shape import computed_stages_of
from attn_gui.model.table import Table
from attn_gui.views.exercise.make_dialog import MakeDialog
from attn_gui.views.exercise.mode import ExerciseMode
from attn_gui.views.main_window import MainWindow
from tests.views.window_helpers import karina_window, settle

RECIPE = Recipe("1", ("embeddings",), 0, 1999, 3)
ROLES = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole)
DRAWERS_THAT_HIDE = ("heads", "why", "compare", "flow", "check")


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    with karina_window(qtbot, tmp_path) as made:
        yield made


@pytest.fixture
def pose(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> Callable[..., ExerciseMode]:
    """Opens an exercise from its file, as a student does."""

    def posed(asked: tuple[str, ...], tries: int | None = 2, name: str = "karina", **fields: object) -> ExerciseMode:
        experiment = replace(examples.load(name).experiment, **fields)  # type: ignore[arg-type]
        path = tmp_path / "ann.attn"
        write_one(Handout(experiment, Exercise(asked, 3, tries, recipe=RECIPE), "Sheet 1", "Do it."), "ann", path)
        with qtbot.waitSignal(window.services.storage.opened):
            window.services.storage.open(path)
        settle(qtbot, window)
        assert window.exercise is not None
        return window.exercise

    return posed


def solution(window: MainWindow, stage: str, head: int = 0) -> np.ndarray:
    return trace(replace(window.context.document.experiment, hidden=frozenset())).stage(stage, head)


def type_answers(mode: ExerciseMode, stage: str, values: np.ndarray, head: int = 0) -> None:
    """Paste ``values`` into the table of ``stage``."""
    mode.work.stage.button(stage).click()
    table = mode.work.table
    QGuiApplication.clipboard().setText("\n".join("\t".join(f"{v:.3f}" for v in row) for row in values))
    table.setFocus()
    table.go_to(0, 0)
    table.blocks.paste()


def check(qtbot: QtBot, window: MainWindow, mode: ExerciseMode) -> None:
    assert mode.bar.check.isEnabled(), mode.bar.check.toolTip()
    with qtbot.waitSignal(mode.exercising.changed):
        qtbot.mouseClick(mode.bar.check, Qt.MouseButton.LeftButton)
    settle(qtbot, window)


def all_words(window: MainWindow) -> str:
    """Every text in the window's widgets, in sight or not, and every cell of its tables."""
    found = []
    for widget in (window, *window.findChildren(QWidget)):
        found += [widget.toolTip(), widget.accessibleName(), widget.accessibleDescription(), widget.statusTip()]
        if isinstance(widget, QLabel | QAbstractButton | QLineEdit):
            found.append(widget.text())
        if isinstance(widget, QComboBox):
            found += [widget.itemText(index) for index in range(widget.count())]
        if isinstance(widget, QAbstractItemView) and widget.model() is not None:
            model = widget.model()
            for row in range(model.rowCount()):
                for column in range(model.columnCount()):
                    found += [str(model.index(row, column).data(role)) for role in ROLES]
    return "\n".join(found)


def told(window: MainWindow, stages: frozenset[str]) -> set[str]:
    """The numbers of ``stages``, at any number of decimals from 3 on, that stand anywhere in the window."""
    values = np.concatenate([solution(window, stage).ravel() for stage in sorted(stages)])
    given = {f"{x:.{d}f}" for x in window.context.document.experiment.tokens.embeddings.array().flat for d in (3, 4)}
    printed = {f"{value:.{places}f}" for value in values for places in (3, 4, 5, 6, 7)} - given
    return printed & set(re.findall(r"\d+\.\d+", all_words(window)))


def action(window: MainWindow, text: str) -> QAction:
    return next(a for a in window.findChildren(QAction) if a.text().replace("&", "") == text)


def test_while_a_stage_is_blank_nothing_in_the_window_tells_it(
    pose: Callable[..., ExerciseMode], window: MainWindow, qtbot: QtBot
) -> None:
    formula = window.formula
    window.pins.pin.trigger()
    window.walk_through()
    for dock in window.docks:  # opened before, they have shown numbers
        if dock.isHidden():
            dock.toggleViewAction().trigger()
    settle(qtbot, window)
    mode = pose(("A", "N", "output"))
    hidden = hidden_by(["A"]) & set(computed_stages_of(window.context.document.experiment))
    assert not told(window, hidden)
    for panel in (formula.scores, formula.weights, formula.output, window.sentence.sentence, window.why):
        assert not panel.isVisible()
    assert mode.work.isVisible() and mode.bar.isVisible()
    assert window.walk is not None and not window.walk.isVisible()
    assert "anna" not in mode.bar.asked.text() and "ann: fill in A, N and output to 3 decimals" in mode.bar.asked.text()
    # drawers: those that would tell are shut, with the reason, and do not open
    for dock in window.docks:
        if dock.objectName() in DRAWERS_THAT_HIDE:
            assert dock.isHidden() and not dock.toggleViewAction().isEnabled()
            assert "until the exercise is solved" in dock.toggleViewAction().toolTip()
    stages = next(dock.widget() for dock in window.docks if dock.objectName() == "stages")
    assert [stages.stage.itemText(i).split()[0] for i in range(stages.stage.count())] == ["X", "Q", "K", "V"]  # type: ignore[union-attr]
    # whatever is looked at, pointed at, picked or summed
    selection = window.context.selection
    for cell in ((0, 0), (2, 1)):
        selection.set_cell(*cell)
        selection.set_hover(cell)
    selection.pick(frozenset({0, 1}), frozenset({2}))
    selection.ask_why(Cell("N", 0, 1, 1))
    qtbot.wait(120)
    settle(qtbot, window)
    assert not told(window, hidden)
    assert "sum to" not in all_words(window)
    # copying and writing
    for text in (
        "Flow as PNG or SVG…",
        "Find the convention…",
        "Walk through",
        "Save script…",
        "Copy as",
        "Make exercise…",
    ):
        assert not action(window, text).isEnabled(), text
    assert not any(a.isEnabled() for a in formula.weights.picture_actions())
    for panel in (formula.scores, formula.weights):
        QGuiApplication.clipboard().setText("before")
        panel.heatmap.outlet.copy_matrix()
        panel.heatmap.outlet.copy_value()
        panel.heatmap.outlet.copy_picture()
        settle(qtbot, window)
        assert QGuiApplication.clipboard().text() == "before"
    window.files.export.trigger()
    dialog = window.files.dialog
    assert dialog is not None
    offered = [dialog.choices.what.itemText(i) for i in range(dialog.choices.what.count())]
    assert offered and not [text for text in offered if re.match(r"(A|N|output|raw|concat)\b", text)]
    dialog.close()
    with qtbot.waitSignal(window.services.exports.copy_failed):
        window.services.exports.copy("N", 0)
    assert not told(window, hidden)
    # the search can fail: once everything is right it all stands there
    for stage in ("A", "N", "output"):
        type_answers(mode, stage, solution(window, stage))
    check(qtbot, window, mode)
    qtbot.waitUntil(lambda: bool(told(window, hidden)))


def test_a_stage_that_is_right_is_shown_and_the_next_is_asked(
    pose: Callable[..., ExerciseMode], window: MainWindow, qtbot: QtBot
) -> None:
    mode = pose(("A", "N"))
    assert not mode.bar.check.isEnabled() and mode.bar.check.toolTip() == "Type an answer first"
    type_answers(mode, "A", solution(window, "A"))
    check(qtbot, window, mode)
    assert window.formula.scores.isVisible() and not window.formula.weights.isVisible()
    assert mode.work.stage.value == "N" and mode.work.table.isVisible()
    assert window.context.document.experiment.hidden == hidden_by(["N"])
    type_answers(mode, "N", solution(window, "N"))
    check(qtbot, window, mode)
    assert not mode.work.isVisible() and window.formula.weights.isVisible() and window.why.isVisible()
    assert "Solved in 2 checks." in mode.bar.outcome.text()
    assert all(dock.toggleViewAction().isEnabled() for dock in window.docks)
    assert action(window, "Walk through").isEnabled()
    mode.bar.mine.click()
    assert mode.work.isVisible() and not window.formula.weights.isVisible()
    mode.bar.mine.click()
    window.context.document.undo_stack.undo()
    settle(qtbot, window)
    assert mode.work.isVisible() and not window.formula.weights.isVisible()
    assert mode.exercising.tally.checks == 2  # no undo takes that back


def test_right_and_wrong_are_told_by_sign_and_word_and_no_difference(
    pose: Callable[..., ExerciseMode], window: MainWindow, qtbot: QtBot
) -> None:
    mode = pose(("A",))
    A = solution(window, "A").copy()
    A[1, 2] += 0.1
    type_answers(mode, "A", A)
    model = mode.work.model
    model.set_block(3, 3, [[""]], "Clear")
    check(qtbot, window, mode)
    cell, wrong = model.index(0, 0), model.index(1, 2)
    assert cell.data().endswith("✓") and wrong.data().endswith("✗")
    assert wrong.data(Qt.ItemDataRole.ToolTipRole) == "wrong"
    assert model.index(3, 3).data() == ""
    assert "A: 23 of 25 right, 1 wrong, 1 blank" in mode.bar.outcome.text()
    assert not told(window, frozenset({"N"}))
    model.set_block(1, 2, [["0.5"]], "Edit")
    assert wrong.data() == "0.5"  # what was said was said of another answer
    assert mode.exercising.tally.checks == 1


def test_answers_are_shown_after_so_many_checks_and_stay_as_they_are(
    pose: Callable[..., ExerciseMode], window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    mode = pose(("N",), tries=2)
    assert not mode.bar.answers.isEnabled() and mode.bar.answers.toolTip() == "After 2 more checks"
    type_answers(mode, "N", solution(window, "N") + 1)
    check(qtbot, window, mode)
    check(qtbot, window, mode)  # the same answers are no other try
    assert mode.exercising.tally.checks == 1 and not mode.bar.answers.isEnabled()
    mode.work.model.set_block(0, 0, [["0.1"]], "Edit")
    check(qtbot, window, mode)
    qtbot.mouseClick(mode.bar.answers, Qt.MouseButton.LeftButton)
    settle(qtbot, window)
    assert window.formula.weights.isVisible() and "Answers shown after 2 checks" in mode.bar.outcome.text()
    window.context.document.undo_stack.undo()
    assert mode.work.model.set_block(0, 0, [["0.2"]], "Edit") is not None
    window.context.document.undo_stack.redo()
    saved = tmp_path / "handed in.attn"
    assert window.services.storage.save_and_wait(saved)
    kept = session.load(saved)
    assert kept.view["exercise"]["shown"] is True
    assert kept.named.exercise is not None and kept.named.exercise.answers[0].cells[0][0] == "0.1"


def test_never_means_never(pose: Callable[..., ExerciseMode], window: MainWindow, qtbot: QtBot) -> None:
    mode = pose(("N",), tries=None)
    type_answers(mode, "N", solution(window, "N") + 1)
    check(qtbot, window, mode)
    assert not mode.bar.answers.isVisible()
    mode.exercising.show_answers()
    assert window.context.document.experiment.hidden


def test_a_change_of_the_given_numbers_is_told_and_bars_the_check(
    pose: Callable[..., ExerciseMode], window: MainWindow, qtbot: QtBot
) -> None:
    mode = pose(("A",))
    type_answers(mode, "A", solution(window, "A"))
    window.formula.tokens.stack.findChildren(QAbstractItemView)[0].model().set_block(0, 1, [["7"]], "Edit cell")
    settle(qtbot, window)
    assert "What was given has been changed" in mode.bar.outcome.text() and not mode.bar.check.isEnabled()
    assert window.context.document.experiment.hidden == hidden_by(["A"])
    given = window.context.document.experiment.tokens.embeddings
    mode.bar.restore.click()
    settle(qtbot, window)
    assert mode.bar.check.isEnabled() and not mode.bar.restore.isVisible()
    assert not window.context.document.experiment.tokens.embeddings.same_as(given)
    window.context.document.apply(
        "Scale", replace(window.context.document.experiment, heads=1, precision=Precision.FLOAT64)
    )
    assert mode.bar.restore.isVisible() and not mode.bar.check.isEnabled()
    assert mode.bar.outcome.text().endswith("Restore it to go on.") == mode.bar.check.toolTip().endswith(
        "Restore it to go on."
    )
    mode.bar.restore.click()
    settle(qtbot, window)
    assert mode.bar.check.isEnabled()
    window.context.document.undo_stack.undo()
    window.context.document.undo_stack.undo()
    settle(qtbot, window)
    assert mode.bar.check.isEnabled()


def test_what_cannot_be_had_again_is_said_to_be_so(
    pose: Callable[..., ExerciseMode], window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    mode = pose(("A",))
    document = window.context.document
    document.apply("Mask", replace(document.experiment, rule=Causal()))
    assert mode.bar.outcome.text().endswith("Restore it to go on.")
    path = tmp_path / "changed.attn"
    assert window.services.storage.save_and_wait(path)
    document.open(Session((examples.load("karina"),)), None)
    mode.exercising._handed_out = None  # as in another run of the program
    document.open(session.load(path), path)
    assert not mode.bar.restore.isVisible() and not mode.bar.check.isEnabled()
    assert mode.bar.outcome.text().endswith("or go on in the file as it was handed out.")
    document.apply("Precision", replace(document.experiment, precision=Precision.FLOAT64))
    assert mode.bar.outcome.text().endswith("Undo it to go on.")


def test_too_few_decimals_are_told(pose: Callable[..., ExerciseMode], window: MainWindow, qtbot: QtBot) -> None:
    mode = pose(("N",))
    assert mode.exercising.exercise is not None and mode.exercising.exercise.decimals == 3
    N = solution(window, "N")
    for row, numbers in enumerate(N):
        for column, number in enumerate(numbers):
            assert mode.work.model.set_block(row, column, [[f"{number:.2f}"]], "Edit") is None
    check(qtbot, window, mode)
    assert "Likely: rounded to 2 decimals" in mode.bar.outcome.text()


def test_the_export_offers_what_there_is(pose: Callable[..., ExerciseMode], window: MainWindow, qtbot: QtBot) -> None:
    pose(("A", "N", "output"))
    window.files.export.trigger()
    dialog = window.files.dialog
    assert dialog is not None
    assert dialog.choices.what.currentData() == "V"
    dialog.close()


def test_typing_saving_and_opening_again(
    pose: Callable[..., ExerciseMode], window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    mode = pose(("A",), rule=Causal())
    table, model = mode.work.table, mode.work.model
    assert model.index(0, 1).data() == "masked" and model.asked == 15
    table.setFocus()
    table.go_to(1, 0)
    qtbot.keyClicks(table, "0")
    qtbot.keyClicks(table.editing, ",75")
    qtbot.keyClick(table.editing, Qt.Key.Key_Return)
    qtbot.keyClicks(table, "x")
    qtbot.keyClick(table.editing, Qt.Key.Key_Return)
    assert "not a number" in table.reason.text() and table.editing.text() == "x"
    qtbot.keyClick(table.editing, Qt.Key.Key_Escape)
    assert mode.work.told.text() == "A: 1 of 15 filled in" and window.isWindowModified()
    path = tmp_path / "again.attn"
    assert window.services.storage.save_and_wait(path)
    window.open_example("cat")
    settle(qtbot, window)
    assert not mode.bar.isVisible() and not mode.work.isVisible() and window.formula.scores.isVisible()
    with qtbot.waitSignal(window.services.storage.opened):
        window.services.storage.open(path)
    settle(qtbot, window)
    assert mode.work.isVisible() and model.index(1, 0).data() == "0,75"


def test_several_heads_and_queries_keys_and_values(
    pose: Callable[..., ExerciseMode], window: MainWindow, qtbot: QtBot
) -> None:
    mode = pose(("Q", "K", "N"), name="animal")
    e = window.context.document.experiment
    for stage in ("Q", "K"):
        for head in range(e.heads):
            window.context.selection.set_head(head)
            type_answers(mode, stage, solution(window, stage, head))
            assert mode.work.told.text().startswith(f"{stage} of head {head + 1}: 44 of 44")
    check(qtbot, window, mode)
    assert window.context.document.session.named.exercise.opened == ("Q", "K")  # type: ignore[union-attr]
    assert "A" not in window.context.document.experiment.hidden and window.formula.scores.isVisible()


def test_more_numbers_than_anyone_types_are_not_asked(
    pose: Callable[..., ExerciseMode], window: MainWindow, qtbot: QtBot
) -> None:
    mode = pose(("A",))
    type_answers(mode, "A", solution(window, "A"))
    e = window.context.document.experiment
    many = [f"t{i}" for i in range(3_000)]
    tokens = replace(e.tokens, tokens=tuple(many), embeddings=Table.of(np.ones((3_000, 2))))
    window.context.document.apply("Many", replace(e, tokens=tokens))
    assert mode.work.told.text() == "A: 9,000,000 numbers are too many to fill in; at most 2,000"
    assert mode.work.model.rowCount() == 0 and not mode.exercising.may_check
    window.context.document.undo_stack.undo()
    settle(qtbot, window)
    assert mode.work.told.text() == "A: 25 of 25 filled in" and mode.bar.check.isEnabled()


def test_nobody_is_asked_for_a_mean(pose: Callable[..., ExerciseMode], window: MainWindow, qtbot: QtBot) -> None:
    window.open_example("animal")
    window.context.selection.set_head("mean")
    mode = pose(("N",), name="animal")
    assert mode.work.told.text().startswith("N of head 1: 0 of 121")
    window.context.selection.set_head("mean")
    assert mode.work.told.text() == "N: choose a head; the mean is not asked"
    assert mode.work.model.rowCount() == 0
    window.context.selection.set_head(1)
    assert mode.work.told.text().startswith("N of head 2: 0 of 121")


def test_no_panel_stands_alone_beside_an_exercise(
    pose: Callable[..., ExerciseMode], window: MainWindow, qtbot: QtBot
) -> None:
    formula, alone = window.formula, window.formula.alone
    alone.show(formula.weights)
    mode = pose(("N", "output"))
    barred = [entry for entry in alone.actions_for_menu() if entry is not None]
    assert not formula.weights.isVisible() and not formula.output.isVisible()
    assert formula.scores.isVisible() and formula.tokens.isVisible() and mode.work.isVisible()
    assert [entry.isEnabled() for entry in barred] == [False] * 5
    for panel in (formula.weights, formula.scores):
        panel.title_double_clicked.emit()
    assert not formula.weights.isVisible() and mode.work.isVisible() and formula.tokens.isVisible()
    for stage in ("N", "output"):
        type_answers(mode, stage, solution(window, stage))
        check(qtbot, window, mode)
    assert formula.weights.isVisible() and formula.output.isVisible()
    alone.show(formula.weights)
    assert [panel.isVisible() for panel in formula.panels] == [False, False, True, False]
    mode.bar.mine.setChecked(True)
    assert alone.panel is None and mode.work.isVisible() and formula.tokens.isVisible()
    assert not formula.weights.isVisible()


def test_the_look_may_change_while_the_weights_are_hidden(
    pose: Callable[..., ExerciseMode], window: MainWindow, qtbot: QtBot
) -> None:
    e = window.context.document.experiment
    many = replace(e.tokens, tokens=tuple("abcdefgh"), embeddings=Table.of(np.eye(8, 2) + 1))
    window.context.document.apply("More tokens", replace(e, tokens=many))
    settle(qtbot, window)
    pose(("N",))  # five tokens, and no sentence about them
    window.context.settings.theme = "dark"
    window.resize(1000, 700)
    settle(qtbot, window)
    assert not window.sentence.sentence.isVisible()


def test_no_drawer_comes_back_with_the_end_of_a_tour(
    pose: Callable[..., ExerciseMode], window: MainWindow, qtbot: QtBot
) -> None:
    why = next(dock for dock in window.docks if dock.objectName() == "why")
    why.toggleViewAction().trigger()
    window.tours.start(0)
    settle(qtbot, window)
    pose(("N",))  # opened during the tour, which ends with it
    qtbot.waitUntil(why.isHidden)
    window.open_example("cat")
    settle(qtbot, window)
    assert not why.isHidden()


def test_a_walk_beside_ones_answers(pose: Callable[..., ExerciseMode], window: MainWindow, qtbot: QtBot) -> None:
    mode = pose(("A",))
    type_answers(mode, "A", solution(window, "A"))
    check(qtbot, window, mode)
    window.walk_through()
    mode.bar.mine.click()
    assert window.walk is not None and window.walk.isVisible() and not window.why.isVisible()
    window.walk_through()
    assert window.why.isVisible()


@pytest.mark.parametrize("theme", ["light", "dark", "contrast"])
def test_nothing_is_cut_at_1280_by_720(
    pose: Callable[..., ExerciseMode], window: MainWindow, qtbot: QtBot, theme: str
) -> None:
    window.context.settings.theme = theme
    window.resize(1280, 720)
    mode = pose(("Q", "K", "V", "A", "N", "output"), name="animal")
    for button in (mode.bar.check, mode.bar.answers, *(mode.work.stage.button(s) for s in mode.work.stage.values)):
        assert button.width() >= button.sizeHint().width() - 1
        assert window.rect().contains(button.mapTo(window, button.rect().bottomRight()))
    assert not mode.bar.asked.toolTip()
    x, y = (
        table.mapTo(window, QPoint(0, table.rowViewportPosition(3) + table.horizontalHeader().height())).y()
        for table in (window.formula.tokens.stack.findChildren(QAbstractItemView)[0], mode.work.table)
    )
    assert x == y and mode.work.table.rowHeight(3) == window.context.bands.row_height


def test_making_exercises(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    action(window, "Make exercise…").trigger()
    dialog = window.menus.exercises
    assert isinstance(dialog, MakeDialog)
    assert not dialog.stages["Q"].isEnabled() and "identity" in dialog.why_not.text()
    assert dialog.asked == ("A", "N", "output")
    listed = tmp_path / "students.txt"
    listed.write_text("ann\nÅsa\nann\n", encoding="utf-8")
    with qtbot.waitSignal(dialog._making.read):
        dialog._making.open(listed)
    assert dialog.listed == ["ann", "Åsa"] and dialog.make.text() == "&Make 2 files…"
    dialog.stages["output"].setChecked(False)
    dialog.tries.setCurrentText("After 3 checks")
    with qtbot.waitSignal(dialog._making.made):
        dialog.write(tmp_path / "class")
    assert not dialog.isVisible()
    made = [session.load(tmp_path / "class" / f"{student}.attn").named for student in ("ann", "Åsa")]
    for named in made:
        assert named.name == "Exercise: Karina" and named.note == "" and named.exercise is not None
        assert (named.exercise.asked, named.exercise.tries, named.exercise.decimals) == (("A", "N"), 3, 3)
        X = named.experiment.tokens.embeddings.array()
        assert ((X >= 0) & (X <= 2)).all() and not np.array_equal(X * 10 % 10, X * 0)
    assert not np.array_equal(*(named.experiment.tokens.embeddings.array() for named in made))
    dialog.show()
    with qtbot.waitSignal(dialog._making.not_made):
        dialog.write(tmp_path / "class")
    assert dialog.isVisible() and "ann.attn" in dialog.outcome.text()
    dialog.numbers.weights.setChecked(True)  # weights of the student's own are not the identity
    assert dialog.stages["Q"].isEnabled() and dialog.why_not.isHidden()
    for box in dialog.stages.values():
        box.setChecked(False)
    assert not dialog.make.isEnabled()
    dialog.close()
    QApplication.processEvents()


def test_nothing_is_replaced_that_nobody_was_asked_about(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, there = tmp_path / "own.attn", tmp_path / "there.attn"
    assert window.services.storage.save_and_wait(own)
    there.write_text("somebody's answers")
    before = own.read_bytes()
    action(window, "Make exercise…").trigger()
    dialog = window.menus.exercises
    assert dialog is not None
    for chosen, told in ((own, "choose another name"), (tmp_path / "there", "there already")):
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, chosen=chosen: (str(chosen), ""))
        dialog.make.click()
        assert dialog.isVisible() and told in dialog.outcome.text()
    assert (own.read_bytes(), there.read_text()) == (before, "somebody's answers")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(there), ""))  # asked about by the dialog itself
    with qtbot.waitSignal(dialog._making.made):
        dialog.make.click()
    assert session.load(there).named.exercise is not None


def test_the_range_of_the_numbers(window: MainWindow, qtbot: QtBot) -> None:
    action(window, "Make exercise…").trigger()
    dialog = window.menus.exercises
    assert dialog is not None
    box = dialog.numbers
    assert (box.least.text(), box.most.text()) == ("0.0", "2.0")
    box.decimals.setValue(2)
    assert (box.least.text(), box.most.text()) == ("0.00", "2.00")
    box.least.selectAll()
    qtbot.keyClicks(box.least, "-1,5x")
    qtbot.keyClick(box.least, Qt.Key.Key_Tab)
    recipe = box.recipe()
    assert recipe is not None and (recipe.least, recipe.most, recipe.decimals) == (-150, 200, 2)
    box.decimals.setValue(0)
    assert (box.least.text(), box.most.text()) == ("-2", "2")
    box.most.setValue(-2)
    assert not box.is_sound and not dialog.make.isEnabled()
    box.embeddings.setChecked(False)
    assert box.recipe() is None and dialog.make.isEnabled()
    dialog.close()
