"""The dialog that finds a convention, used as a person does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QFileDialog
from pytestqt.qtbot import QtBot

from attn_gui.compute.trace import trace
from attn_gui.control.diagnosing import Diagnosing
from attn_gui.control.notices import Notice
from attn_gui.model import edits
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal
from attn_gui.model.scoring import Scoring
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.views.context import Context
from attn_gui.views.diagnose_dialog import DiagnoseDialog
from attn_gui.views.main_window import MainWindow
from tests.views.window_helpers import karina_window, settle

LONG = 60_000
HEADS, N = 2, 4


def experiment(**fields: Any) -> Experiment:
    X = np.random.RandomState(3).standard_normal((N, 6))
    return Experiment.from_tokens("abcd", X, heads=HEADS, **fields)


def text_of(tables: np.ndarray, decimals: int = 5) -> str:
    """What a spreadsheet puts on the clipboard, head below head."""
    lines = [["\t".join(f"{x:.{decimals}f}" for x in row) for row in table] for table in tables]
    return "\n\n".join("\n".join(table) for table in lines)


@pytest.fixture
def dialog(context: Context, qtbot: QtBot, wait_traced: Callable[[], None]) -> DiagnoseDialog:
    context.document.open(Session((NamedExperiment("Mine", experiment()),)), None)
    context.document.start()
    wait_traced()
    made = DiagnoseDialog(context, Diagnosing(context.worker))
    qtbot.addWidget(made)
    made.show()
    return made


def paste(dialog: DiagnoseDialog, qtbot: QtBot, stage: str, text: str) -> None:
    """Put ``text`` on the clipboard and paste it where ``stage`` is wanted."""
    page = dialog.given.pages[stage]
    dialog.given.tabs.setCurrentWidget(page)
    QGuiApplication.clipboard().setText(text)
    page.editor.setFocus()
    page.editor.selectAll()
    page.editor.paste()
    assert page.pending
    assert not dialog.start.isEnabled()
    qtbot.waitUntil(lambda: not page.pending, timeout=LONG)


def find(dialog: DiagnoseDialog, qtbot: QtBot) -> None:
    assert dialog.start.isEnabled()
    qtbot.mouseClick(dialog.start, Qt.MouseButton.LeftButton)
    assert dialog.progress.isVisible() and dialog.cancel.isVisible()
    qtbot.waitUntil(lambda: not dialog._diagnosing.running, timeout=LONG)
    assert not dialog.progress.isVisible()


def items(dialog: DiagnoseDialog) -> list[str]:
    listed = dialog.outcome.list
    return [listed.item(row).text() for row in range(listed.count())]


def test_a_match_is_explained_and_put_in_force_undoably(
    dialog: DiagnoseDialog, context: Context, qtbot: QtBot, wait_traced: Callable[[], None]
) -> None:
    theirs = trace(experiment(scoring=Scoring(scale=1.0))).stage("N")
    before = context.document.experiment
    paste(dialog, qtbot, "weights", text_of(theirs))
    assert dialog.given.pages["weights"].note.text() == "2 tables of 4 × 4 numbers"
    assert dialog.given.tabs.tabText(1) == "Weights ✓"
    find(dialog, qtbot)
    assert dialog.outcome.headline.text().startswith("One convention reproduces the weights (")
    assert items(dialog) == ["no scale"]
    explained = dialog.outcome.text.toPlainText()
    assert "Dot products are used as they are.\nAs in: scores = q @ k" in explained
    assert "The standard first departs at scaled scores, head 1, query 1, key 1" in explained
    assert "Compared as printed" in explained
    assert context.document.experiment is before
    dialog.use.click()
    assert context.document.experiment.scoring.scale == 1.0
    assert context.document.undo_stack.undoText() == "Convention: no scale"
    wait_traced()
    np.testing.assert_allclose(context.feed.trace.stage("N"), theirs, atol=1e-6)
    assert not dialog.use.isEnabled()
    assert "another one by now" in dialog.use.toolTip()
    context.document.undo_stack.undo()
    assert context.document.experiment is before
    assert dialog.use.isEnabled()


def test_the_cell_that_departs_is_selected_in_the_window(
    dialog: DiagnoseDialog, context: Context, qtbot: QtBot
) -> None:
    theirs = trace(context.document.experiment).stage("N").copy()
    theirs[1, 2, 3] += 0.01
    paste(dialog, qtbot, "weights", text_of(theirs))
    find(dialog, qtbot)
    assert dialog.outcome.headline.text().startswith("No convention reproduces the weights (")
    assert items(dialog) == ["Nearest: the standard, with nothing changed"]
    assert "First departs at weights, head 2, query 3, key 4: " in dialog.outcome.text.toPlainText()
    assert not dialog.use.isEnabled()
    assert dialog.use.toolTip() == "It is what the experiment does already"
    context.selection.set_head(0)
    context.selection.set_cell(0, 0)
    qtbot.mouseClick(dialog.show_cell, Qt.MouseButton.LeftButton)
    assert (context.selection.head, context.selection.query, context.selection.key) == (1, 2, 3)


def test_a_cell_of_the_mean_and_a_row_of_the_output(dialog: DiagnoseDialog, context: Context, qtbot: QtBot) -> None:
    mean = trace(context.document.experiment).stage("N").mean(axis=0)
    mean[3, 1] += 0.02
    paste(dialog, qtbot, "weights", text_of(mean[None]))
    find(dialog, qtbot)
    dialog.show_cell.click()
    assert (context.selection.head, context.selection.query, context.selection.key) == ("mean", 3, 1)
    dialog.given.pages["weights"].clear.click()
    output = trace(context.document.experiment).stage("output").copy()
    output[2, 1] += 0.5
    paste(dialog, qtbot, "output", text_of(output[None]))
    find(dialog, qtbot)
    dialog.show_cell.click()
    assert (context.selection.query, context.selection.key) == (2, 1)


def test_what_cannot_be_set_says_why(dialog: DiagnoseDialog, context: Context, qtbot: QtBot) -> None:
    A = trace(context.document.experiment).stage("A")
    paste(dialog, qtbot, "weights", text_of(np.exp(A) / np.exp(A).sum(axis=1, keepdims=True)))
    find(dialog, qtbot)
    assert items(dialog) == ["softmax over queries"]
    assert not dialog.use.isEnabled()
    assert dialog.use.toolTip() == "Softmax over queries cannot be set: there is no setting for it."


def test_what_cannot_be_read_stays_with_the_reason(dialog: DiagnoseDialog, qtbot: QtBot) -> None:
    page = dialog.given.pages["scores"]
    assert not dialog.start.isEnabled()
    paste(dialog, qtbot, "scores", "1 2 3 4\n5 6 seven 8")
    assert page.note.text() == "⚠ Line 2, column 3: ‘seven’ is not a number"
    assert page.editor.toPlainText() == "1 2 3 4\n5 6 seven 8"
    assert dialog.given.tabs.tabText(0) == "Scores ⚠"
    assert not dialog.start.isEnabled()
    paste(dialog, qtbot, "scores", "1 2\n3 4")
    assert page.note.text() == "⚠ Expected shape (2, 4, 4), received (2, 2)"
    page.clear.click()
    assert page.editor.toPlainText() == ""
    assert page.note.text() == ""
    assert dialog.given.tabs.tabText(0) == "Scores"


def test_typing_is_read_once_it_pauses(dialog: DiagnoseDialog, qtbot: QtBot) -> None:
    page = dialog.given.pages["scores"]
    dialog.given.tabs.setCurrentWidget(page)
    texts: list[str] = []
    page.edited.connect(texts.append)
    qtbot.keyClicks(page.editor, "1 2")
    qtbot.waitUntil(lambda: not page.pending, timeout=LONG)
    assert texts == ["1 2"]


def test_several_stages_together(dialog: DiagnoseDialog, context: Context, qtbot: QtBot) -> None:
    theirs = trace(experiment(scoring=Scoring(softcap=30.0), rule=Causal()))
    paste(dialog, qtbot, "scores", text_of(theirs.stage("A_masked")))
    paste(dialog, qtbot, "output", text_of(theirs.stage("output")[None]))
    find(dialog, qtbot)
    assert dialog.outcome.headline.text().startswith("One convention reproduces the scores and output")
    assert items(dialog) == ["softcap 30, causal mask"]
    dialog.use.click()
    assert context.document.experiment.rule == Causal()
    assert context.document.experiment.scoring.softcap == 30.0


def test_what_stands_here_later_outdates_what_was_found(dialog: DiagnoseDialog, context: Context, qtbot: QtBot) -> None:
    theirs = text_of(trace(experiment(scoring=Scoring(scale=1.0))).stage("N"))
    paste(dialog, qtbot, "weights", theirs)
    find(dialog, qtbot)
    assert items(dialog)
    dialog.bases.click()
    assert items(dialog) == []
    assert not dialog.copy.isEnabled()
    find(dialog, qtbot)
    assert items(dialog) == ["no scale"]
    context.document.apply("Fewer", edits.delete_tokens(context.document.experiment, "tokens", [3]))
    assert items(dialog) == []
    assert dialog.given.pages["weights"].fault == "Expected shape (2, 3, 3) or (3, 3), received (2, 4, 4)"
    assert "3 queries, 3 keys" in dialog.given.source.text()


def test_cancelling(dialog: DiagnoseDialog, qtbot: QtBot) -> None:
    paste(dialog, qtbot, "weights", text_of(np.random.RandomState(0).random((HEADS, N, N))))
    dialog.start.click()
    qtbot.waitUntil(lambda: dialog.progress.value() > 0, timeout=LONG)
    qtbot.mouseClick(dialog.cancel, Qt.MouseButton.LeftButton)
    assert dialog.outcome.headline.text() == "Cancelled."
    assert dialog.start.isVisible() and not dialog.progress.isVisible()


def test_a_report_for_the_clipboard(dialog: DiagnoseDialog, qtbot: QtBot) -> None:
    paste(dialog, qtbot, "weights", text_of(trace(experiment(scoring=Scoring(scale=1.0))).stage("N")))
    find(dialog, qtbot)
    dialog.copy.click()
    assert QGuiApplication.clipboard().text().startswith("One convention reproduces the weights (")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    random = np.random.RandomState(8)
    Q, K, V = random.standard_normal((3, 2, 5, 3))
    scores = Q @ K.swapaxes(1, 2)
    powers = np.exp(np.where(np.tri(5), scores, -np.inf))
    path = tmp_path / "theirs.npz"
    np.savez(path, Q=Q, K=K, V=V, mask=np.tri(5, dtype=bool), output=powers / powers.sum(-1, keepdims=True) @ V)
    return path


def choose(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *arguments: (str(path), ""))


def test_a_file_with_everything(
    dialog: DiagnoseDialog,
    context: Context,
    qtbot: QtBot,
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    wait_traced: Callable[[], None],
) -> None:
    choose(monkeypatch, file)
    qtbot.mouseClick(dialog.given.pages["weights"].open, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dialog.given.file is not None, timeout=LONG)
    assert dialog.given.source.text() == "From theirs.npz: Q 2 × 5 × 3, K 2 × 5 × 3, V 2 × 5 × 3, and a mask."
    output = dialog.given.pages["output"]
    assert dialog.given.tabs.currentWidget() is output
    assert output.editor.isReadOnly()
    assert output.editor.placeholderText() == "From theirs.npz. Clear to paste instead."
    find(dialog, qtbot)
    assert items(dialog) == ["no scale"]
    assert not dialog.show_cell.isEnabled()
    assert dialog.use.text() == "Open as &experiment"
    before = context.document.experiment
    dialog.use.click()
    assert context.document.session.named.name == "theirs"
    wait_traced()
    np.testing.assert_allclose(
        context.feed.trace.stage("output").reshape(5, 2, 3).transpose(1, 0, 2), np.load(file)["output"], atol=1e-5
    )
    context.document.undo_stack.undo()
    assert context.document.experiment is before
    dialog.given.window_again.click()
    assert dialog.given.file is None
    assert dialog.given.numbers == {}
    assert not dialog.given.window_again.isVisible()


def test_a_file_of_one_stage(
    dialog: DiagnoseDialog, context: Context, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.save(tmp_path / "weights.npy", trace(context.document.experiment).stage("N"))
    choose(monkeypatch, tmp_path / "weights.npy")
    page = dialog.given.pages["weights"]
    page.open.click()
    qtbot.waitUntil(lambda: page.numbers is not None, timeout=LONG)
    find(dialog, qtbot)
    assert items(dialog) == ["the standard, with nothing changed"]
    assert not dialog.show_cell.isEnabled()
    assert dialog.show_cell.toolTip() == "No cell departs"
    choose(monkeypatch, tmp_path / "nowhere.npy")
    page.open.click()
    qtbot.waitUntil(lambda: bool(page.fault), timeout=LONG)
    assert page.fault == "nowhere.npy: expected a file, received a name that does not exist"


def test_out_of_sight_it_is_said_in_the_window(dialog: DiagnoseDialog, context: Context, qtbot: QtBot) -> None:
    said: list[Notice] = []
    context.notices.said.connect(said.append)
    paste(dialog, qtbot, "weights", text_of(trace(context.document.experiment).stage("N")))
    dialog.start.click()
    dialog.shut.click()
    qtbot.waitUntil(lambda: not dialog._diagnosing.running, timeout=LONG)
    assert [notice.text for notice in said] == [dialog.outcome.headline.text()]
    assert dialog.outcome.headline.text().startswith("One convention reproduces")


def test_everything_has_a_name_and_a_letter_of_its_own(dialog: DiagnoseDialog) -> None:
    buttons = [b for b in dialog.findChildren(QAbstractButton) if b.text() and not b.objectName().startswith("qt_")]
    letters = [b.text()[b.text().index("&") + 1].lower() for b in buttons if "&" in b.text() and b.isVisibleTo(dialog)]
    assert len(set(letters)) == len(letters), letters
    names = [page.editor.accessibleName() for page in dialog.given.pages.values()]
    assert names == [f"The other program's {stage}" for stage in dialog.given.pages]
    assert dialog.outcome.list.accessibleName() == "Conventions"
    assert dialog.progress.accessibleName()


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    with karina_window(qtbot, tmp_path) as made:
        yield made


def test_from_the_menu_to_the_setting(window: MainWindow, qtbot: QtBot) -> None:
    menu = next(a for a in window.menuBar().actions() if a.text() == "&Attention").menu()
    action = next(a for a in menu.actions() if a.text() == "&Find the convention…")
    assert window.menus.diagnosis is None
    action.trigger()
    opened = window.menus.diagnosis
    assert opened is not None
    assert opened.isVisible() and not opened.isModal()
    X = np.array([[1, 0], [0, 1], [1, 1], [1, 1], [0.5, 1]])
    paste(opened, qtbot, "scores", text_of((X @ X.T)[None], 1))
    find(opened, qtbot)
    assert items(opened) == ["no scale"]
    opened.use.click()
    settle(qtbot, window)
    np.testing.assert_array_equal(window.context.feed.trace.stage("A", 0), X @ X.T)
    opened.shut.click()
    action.trigger()
    assert window.menus.diagnosis is opened
    assert opened.isVisible()
