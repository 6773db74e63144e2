"""NameDialog: name and note in one undo step."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from attn_gui.model.masks import Causal
from attn_gui.views.context import Context
from attn_gui.views.name_dialog import NameDialog


@pytest.fixture
def dialog(context: Context, qtbot: QtBot) -> NameDialog:
    document = context.document
    document.apply_named("example", replace(document.session.named, note="Look at is"))
    made = NameDialog(context)
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    return made


def test_both_change_in_one_step(dialog: NameDialog, context: Context, qtbot: QtBot) -> None:
    document = context.document
    before, steps = document.experiment, document.undo_stack.count()
    assert (dialog.name.text(), dialog.note.toPlainText()) == ("Karina", "Look at is")
    qtbot.keyClicks(dialog.name, "My lesson")
    dialog.note.setPlainText("Two\nlines\n")
    qtbot.mouseClick(dialog.ok, Qt.MouseButton.LeftButton)
    assert not dialog.isVisible()
    named = document.session.named
    assert (named.name, named.note, named.experiment) == ("My lesson", "Two\nlines", before)
    assert document.undo_stack.count() == steps + 1
    document.undo_stack.undo()
    assert (document.session.named.name, document.session.named.note) == ("Karina", "Look at is")


def test_what_stays_the_same_is_no_step(dialog: NameDialog, context: Context) -> None:
    steps = context.document.undo_stack.count()
    dialog.accept()
    assert context.document.undo_stack.count() == steps


def test_a_name_is_needed(dialog: NameDialog, context: Context) -> None:
    assert not dialog.reason.isVisible()
    dialog.name.setText("  ")
    assert not dialog.ok.isEnabled()
    assert dialog.reason.isVisible()
    dialog.name.setText("a")
    assert dialog.ok.isEnabled()


def test_what_is_typed_survives_edits_and_goes_with_the_experiment(dialog: NameDialog, context: Context) -> None:
    document = context.document
    dialog.name.setText("typed")
    document.apply("mask", replace(document.experiment, rule=Causal()))
    assert dialog.name.text() == "typed"
    document.apply_named("another", replace(document.session.named, name="Another", note=""))
    assert (dialog.name.text(), dialog.note.toPlainText()) == ("Another", "")


def test_cancel_changes_nothing_and_reopening_shows_what_is(dialog: NameDialog, context: Context) -> None:
    dialog.name.setText("typed")
    dialog.reject()
    assert context.document.session.named.name == "Karina"
    dialog.show()
    assert dialog.name.text() == "Karina"


def test_every_button_has_a_letter(dialog: NameDialog) -> None:
    assert sorted(button.text() for button in dialog.buttons.buttons()) == ["&Cancel", "&OK"]
