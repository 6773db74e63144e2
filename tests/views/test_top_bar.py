from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from attn_gui.files import examples
from attn_gui.model.variant import Variant
from attn_gui.views.context import Context
from attn_gui.views.top_bar import Dropdown, TopBar


@pytest.fixture
def bar(context: Context, qtbot: QtBot) -> TopBar:
    made = TopBar(context, examples.names())
    qtbot.addWidget(made)
    made.show()
    return made


def choose(dropdown: Dropdown, text: str) -> None:
    """Pick an entry as the pointer does."""
    index = next(k for k in range(dropdown.count()) if dropdown.itemText(k).startswith(text))
    assert dropdown.model().index(index, 0).flags() & Qt.ItemFlag.ItemIsEnabled, dropdown.itemText(index)
    dropdown.setCurrentIndex(index)
    dropdown.activated.emit(index)


def test_the_variant_is_switched_with_what_can_be_kept_and_undo_brings_back_the_rest(
    bar: TopBar, context: Context
) -> None:
    before = context.document.experiment
    choose(bar.variant, "Multi-head self")
    e = context.document.experiment
    assert (e.variant, e.heads) == (Variant.MULTI_HEAD_SELF, 2)
    assert e.tokens is before.tokens
    assert e.weights is not None and e.weights.W_Q is before.weights.W_Q
    context.document.undo_stack.undo()
    assert context.document.experiment is before
    assert bar.variant.currentText() == "Self-attention"


def test_cross_attention_gets_a_context_of_its_own(bar: TopBar, context: Context) -> None:
    choose(bar.variant, "Cross")
    e = context.document.experiment
    assert e.context is not None and e.context.tokens == e.tokens.tokens


def test_head_counts_that_do_not_divide_are_there_but_disabled_with_the_reason(bar: TopBar, context: Context) -> None:
    context.document.apply_named("animal", examples.load("animal"))
    texts = {bar.heads.itemText(k): k for k in range(bar.heads.count())}
    reason = next(text for text in texts if text.startswith("5"))
    assert "5 heads do not divide d = 12" in reason
    assert not bar.heads.model().index(texts[reason], 0).flags() & Qt.ItemFlag.ItemIsEnabled
    choose(bar.heads, "6")
    assert context.document.experiment.heads == 6
    assert context.document.experiment.d_k == 2


def test_a_single_head_variant_says_why_it_has_one_head(bar: TopBar) -> None:
    assert "choose a multi-head variant" in bar.heads.itemText(1)


def test_an_example_is_asked_for_by_name(bar: TopBar, qtbot: QtBot) -> None:
    with qtbot.waitSignal(bar.example_chosen) as chosen:
        choose(bar.example, examples.names()[1])
    assert chosen.args == [examples.names()[1]]
