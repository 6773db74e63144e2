"""SentenceDialog: from text to the token table and back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from attn_gui.control.notices import Kind, Notice
from attn_gui.model import edits, reshape
from attn_gui.model.experiment import Experiment
from attn_gui.model.text import embed, split, title_of
from attn_gui.model.variant import Variant
from attn_gui.model.weights import Weights
from attn_gui.views.context import Context
from attn_gui.views.sentence_dialog import MOST_TOKENS, SentenceDialog
from attn_gui.views.token_panel import TokenPanel

TEXT = "The animal didn't cross the street."


@pytest.fixture
def dialog(context: Context, qtbot: QtBot) -> SentenceDialog:
    made = SentenceDialog(context)
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    return made


@pytest.fixture
def said(context: Context) -> list[Notice]:
    heard: list[Notice] = []
    context.notices.said.connect(heard.append)
    return heard


def test_typing_shows_the_tokens_as_they_will_be(dialog: SentenceDialog, qtbot: QtBot) -> None:
    qtbot.waitUntil(dialog.text.hasFocus)
    qtbot.keyClicks(dialog.text, TEXT)
    assert dialog.preview.text() == "The · animal · didn't · cross · the · street · ."
    assert dialog.note.text() == "7 tokens, 7 distinct, 2 dimensions"
    assert dialog.ok.isEnabled()


def test_ok_replaces_the_table_in_one_step(dialog: SentenceDialog, context: Context, qtbot: QtBot) -> None:
    dialog.text.setPlainText(TEXT)
    dialog.width_choice.setValue(4)
    dialog.seed.setValue(7)
    qtbot.mouseClick(dialog.ok, Qt.MouseButton.LeftButton)
    assert not dialog.isVisible()
    expected = embed(split(TEXT), 4, "random", 7)
    tokens = context.document.experiment.tokens
    assert tokens.tokens == expected.tokens
    assert tokens.embeddings.array().tolist() == expected.embeddings.array().tolist()
    assert context.document.undo_stack.count() == 1
    context.document.undo_stack.undo()
    assert context.document.experiment.tokens.tokens[0] == "karina"


@pytest.mark.parametrize("how", ["one_hot", "position"])
def test_other_embeddings(dialog: SentenceDialog, context: Context, how: str) -> None:
    dialog.text.setPlainText("to be or not to be")
    dialog.kind.setCurrentIndex(dialog.kind.findData(how))
    one_hot = how == "one_hot"
    assert dialog.width_choice.isEnabled() is not one_hot
    assert dialog.seed.isEnabled() is not one_hot
    width = 4 if one_hot else 2
    assert dialog.note.text() == f"6 tokens, 4 distinct, {width} dimensions"
    dialog.accept()
    expected = embed(["to", "be", "or", "not", "to", "be"], 2, how, 0)
    assert context.document.experiment.tokens.embeddings.array().tolist() == expected.embeddings.array().tolist()
    assert context.document.experiment.tokens.dimensions == expected.dimensions


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "Type a sentence: it needs at least 1 word"),
        (" \n ", "Type a sentence: it needs at least 1 word"),
        ("word " * (MOST_TOKENS + 1), "2,001 tokens: the table holds 2,000 at most"),
    ],
)
def test_what_cannot_be_taken_is_told_and_disabled(
    dialog: SentenceDialog, context: Context, text: str, reason: str
) -> None:
    dialog.text.setPlainText("fine")
    dialog.text.setPlainText(text)
    assert dialog.note.text() == reason
    assert not dialog.ok.isEnabled()
    assert context.document.undo_stack.count() == 0


def test_as_many_tokens_as_the_table_holds(dialog: SentenceDialog, context: Context) -> None:
    dialog.text.setPlainText("word " * MOST_TOKENS)
    assert dialog.ok.isEnabled()
    assert dialog.preview.text().endswith("… and 1,972 more")
    dialog.accept()
    assert context.document.experiment.n_q == MOST_TOKENS


def test_weights_that_no_longer_fit_are_told(dialog: SentenceDialog, context: Context, said: list[Notice]) -> None:
    weights = Weights.of(np.ones((2, 2)), np.ones((2, 2)), np.ones((2, 2)))
    source = replace(context.document.experiment.source, weights=weights)
    context.document.apply("weights", replace(context.document.experiment, source=source))
    dialog.text.setPlainText(TEXT)
    dialog.accept()
    assert said == []
    kept = context.document.experiment.weights
    assert kept is not None
    assert (kept.W_Q.array() == 1).all()
    dialog.width_choice.setValue(3)
    dialog.accept()
    (notice,) = said
    assert notice.kind == Kind.INFO
    assert notice.text.startswith("W_Q, W_K and W_V did not fit the new dimensions")


def test_given_q_k_v_have_nothing_to_replace(dialog: SentenceDialog, context: Context) -> None:
    given = Experiment.from_qkv(np.ones((3, 2)), np.ones((3, 2)), np.ones((3, 2)))
    context.document.apply("given", given)
    dialog.text.setPlainText(TEXT)
    assert not dialog.ok.isEnabled()
    assert dialog.note.text() == "Q, K and V were given: there are no embeddings to replace"


def test_the_panel_opens_it_for_the_table_in_sight(context: Context, qtbot: QtBot) -> None:
    panel = TokenPanel(context)
    qtbot.addWidget(panel)
    panel.show()
    wide = edits.sequence(context.document.experiment, "tokens")
    e = reshape.with_variant(context.document.experiment, Variant.CROSS)
    e = reshape.with_sequence(e, "context", embed(["a", "b"], 5))
    context.document.apply("v", e)
    panel.text_to_tokens.trigger()
    dialog = panel.findChild(SentenceDialog)
    assert isinstance(dialog, SentenceDialog)
    assert dialog.isVisible()
    assert not dialog.isModal()
    assert dialog.width_choice.value() == wide.width
    dialog.text.setPlainText("stays")
    dialog.reject()
    panel.show_side("context")
    panel.text_to_tokens.trigger()
    assert panel.findChildren(SentenceDialog) == [dialog]
    assert dialog.windowTitle() == "Text → tokens: replaces the context's tokens"
    assert dialog.width_choice.value() == 5
    assert dialog.text.toPlainText() == "stays"
    dialog.accept()
    assert context.document.experiment.context is not None
    assert context.document.experiment.context.tokens == ("stays",)
    assert context.document.experiment.tokens.tokens[0] == "karina"


def test_the_experiment_is_named_after_the_text_and_its_old_note_goes(dialog: SentenceDialog, context: Context) -> None:
    document = context.document
    example = replace(document.session.named, note="Switch heads and watch it")
    document.apply_named("example", example)
    dialog.text.setPlainText("The students  didn't\nsleep")
    dialog.accept()
    assert document.undo_stack.count() == 2
    assert (document.session.named.name, document.session.named.note) == ("The students didn't sleep", "")
    document.undo_stack.undo()
    assert (document.session.named.name, document.session.named.note) == ("Karina", "Switch heads and watch it")
    assert document.experiment is example.experiment


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Short.", "Short."),
        ("x" * 40, "x" * 40),
        ("x" * 41, "x" * 40 + "…"),
        ("The animal didn't cross the street, because it was too tired.", "The animal didn't cross the street…"),
        ("forty characters stand in this very text and more", "forty characters stand in this very text…"),
    ],
)
def test_a_title_is_the_first_words(text: str, title: str) -> None:
    assert title_of(text) == title


def test_every_control_has_a_name(dialog: SentenceDialog) -> None:
    for widget in (dialog.text, dialog.kind, dialog.width_choice, dialog.seed):
        assert isinstance(widget, QWidget)
        assert widget.accessibleName()
