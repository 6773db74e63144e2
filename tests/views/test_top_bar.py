from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, product

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLabel, QSpinBox, QWidget
from pytestqt.qtbot import QtBot

from attn_gui.files import examples
from attn_gui.model.masks import RULES, Causal, Padding, SlidingWindow
from attn_gui.model.reshape import with_variant
from attn_gui.model.variant import Variant
from attn_gui.views.context import Context
from attn_gui.views.more_menu import MorePanel
from attn_gui.views.top_bar import Dropdown, TopBar

CONTROLS = (QAbstractButton, QComboBox, QLabel, QSpinBox)


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


def test_a_single_head_variant_says_once_why_it_has_one_head(bar: TopBar, context: Context) -> None:
    context.document.apply_named("one head", examples.load("animal_one_head"))
    texts = [bar.heads.itemText(k) for k in range(bar.heads.count())]
    reason = "Self-attention has one head: choose a multi-head variant"
    assert texts == ["1", reason, *(str(count) for count in range(2, 13))]
    enabled = [bool(bar.heads.model().index(k, 0).flags() & Qt.ItemFlag.ItemIsEnabled) for k in range(len(texts))]
    assert enabled == [True] + [False] * 12
    assert bar.heads.currentText() == "1"


@pytest.mark.parametrize("theme", ["light", "dark", "contrast"])
def test_nothing_overlaps_at_any_width_the_window_allows(context: Context, qtbot: QtBot, theme: str) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    bar = TopBar(context, examples.names(), window)
    more = MorePanel(context)
    bar.row.addWidget(more.button)
    context.settings.theme = theme
    e = context.document.experiment
    for variant, rule, painted in product(Variant, RULES, (False, True)):
        made = replace(with_variant(e, variant), rule=rule())
        if painted:
            made = replace(made, painted=made.painted.with_cells([(1, 1)], False))
        context.document.apply("next", made)
        for width in (936, 1256, 1896):
            window.resize(width, 200)
            window.show()
            for _ in range(2):
                bar.setGeometry(0, 0, width, bar.sizeHint().height())
                QApplication.processEvents()
            assert_apart(bar)


def assert_apart(bar: TopBar) -> None:
    shown = [w for w in bar.findChildren(QWidget) if w.isVisible() and isinstance(w, CONTROLS)]
    shown = [w for w in shown if not isinstance(w.parent(), CONTROLS)]
    places = {w: QRect(w.mapTo(bar, QPoint(0, 0)), w.size()) for w in shown}
    for w, place in places.items():
        assert bar.rect().contains(place), (w, place)
        if isinstance(w, QComboBox) and w is not bar.example:
            assert w.width() >= w.sizeHint().width(), f"{w.currentText()} is cut"
    for one, other in combinations(places, 2):
        assert not places[one].intersects(places[other]), (one, other)


def test_escape_ends_painting(bar: TopBar, context: Context, qtbot: QtBot) -> None:
    bar.activateWindow()
    bar.setFocus()
    qtbot.waitUntil(bar.isActiveWindow)
    context.selection.set_painting(True)
    assert bar.masking.paint.isChecked()
    qtbot.keyClick(bar, Qt.Key.Key_Escape)
    assert not context.selection.painting
    assert not bar.masking.paint.isChecked()


def test_masks_are_chosen_with_their_parameters(bar: TopBar, context: Context) -> None:
    mask = bar.masking
    mask.kind.activated.emit(mask.kind.findData("causal"))
    assert context.document.experiment.rule == Causal()
    assert mask.window_size.isHidden()
    mask.kind.activated.emit(mask.kind.findData("sliding_window"))
    assert context.document.experiment.rule == SlidingWindow(1)
    mask.window_size.setValue(3)
    mask.window_size.setValue(2)
    mask.two_sided.setChecked(True)
    assert context.document.experiment.rule == SlidingWindow(2, two_sided=True)
    context.document.undo_stack.undo()
    context.document.undo_stack.undo()
    assert context.document.experiment.rule == SlidingWindow(1), "two steps of the spin box are one undo step"
    assert mask.window_size.value() == 1
    mask.kind.activated.emit(mask.kind.findData("padding"))
    assert context.document.experiment.rule == Padding()


def test_custom_starts_painting_and_none_takes_the_painted_cells_away(bar: TopBar, context: Context) -> None:
    mask = bar.masking
    mask.kind.activated.emit(mask.kind.findData("custom"))
    assert context.selection.painting and mask.paint.isChecked()
    e = context.document.experiment
    context.document.apply("Paint", replace(e, painted=e.painted.with_cells([(0, 0)], False)))
    assert mask.kind.currentData() == "custom"
    assert mask.clear.isVisible()
    mask.kind.activated.emit(mask.kind.findData("none"))
    assert not context.document.experiment.painted
    assert not context.selection.painting
    assert mask.kind.currentData() == "none"


def test_an_example_is_asked_for_by_name(bar: TopBar, qtbot: QtBot) -> None:
    with qtbot.waitSignal(bar.example_chosen) as chosen:
        choose(bar.example, examples.names()[1])
    assert chosen.args == [examples.names()[1]]


def test_causal_alignment_is_offered_where_it_matters(
    bar: TopBar, context: Context, wait_traced: Callable[[], None]
) -> None:
    context.document.apply_named("translation", examples.load("translation"))
    mask = bar.masking
    mask.kind.activated.emit(mask.kind.findData("causal"))
    e = context.document.experiment
    assert mask.alignment.isVisible() == (e.n_q != e.n_k)


def test_a_window_larger_than_any_sequence_is_shown_as_it_is(bar: TopBar, context: Context) -> None:
    mask = bar.masking
    e = context.document.experiment
    for window in (5_000_000, 2**31 - 1, 3):
        context.document.apply("window", replace(e, rule=SlidingWindow(window)))
        assert mask.window_size.value() == window
        assert context.document.experiment.rule == SlidingWindow(window)
