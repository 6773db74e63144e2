"""The panel of combined rules, driven as a person does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSpinBox
from pytestqt.qtbot import QtBot

from attn_gui.files import examples
from attn_gui.model.masks import Causal, Combined, MaskRule, SlidingWindow, Term
from attn_gui.model.masks.imported import Imported
from attn_gui.model.masks.random_cells import RandomCells
from attn_gui.views.context import Context
from attn_gui.views.mask_choice import MaskChoice
from attn_gui.views.masks.combine_panel import CombinePanel

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def mask(context: Context, qtbot: QtBot) -> MaskChoice:
    context.document.apply_named("animal", examples.load("animal"))
    made = MaskChoice(context)
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    return made


@pytest.fixture
def panel(mask: MaskChoice, qtbot: QtBot) -> Iterator[CombinePanel]:
    qtbot.mouseClick(mask.combine, LEFT)
    made = mask._panel
    assert made is not None and made.isVisible()
    yield made
    made.hide()


def rule(context: Context) -> MaskRule:
    return context.document.experiment.rule


def set_rule(context: Context, *terms: Term) -> None:
    context.document.apply("rule", replace(context.document.experiment, rule=Combined(terms)))


def shown(panel: CombinePanel) -> int:
    return sum(row.isVisible() for row in panel.rows)


def test_rules_are_added_joined_negated_and_taken_away(panel: CombinePanel, context: Context, qtbot: QtBot) -> None:
    assert shown(panel) == 0 and panel.text.text().startswith("No rule")
    qtbot.mouseClick(panel.add, LEFT)
    assert rule(context) == Causal(), "one rule is that rule"
    qtbot.mouseClick(panel.add, LEFT)
    assert shown(panel) == 2
    assert panel.rows[1].kind.hasFocus()
    second = panel.rows[1]
    second.kind.chosen.emit("sliding_window")
    window = second.fields.fields["window"]
    assert isinstance(window, QSpinBox)
    window.setValue(2)
    window.setValue(3)
    assert rule(context) == Combined((Term(Causal()), Term(SlidingWindow(3))))
    second.join.activated.emit(1)
    qtbot.mouseClick(panel.rows[0].negated, LEFT)
    assert rule(context) == Combined((Term(Causal(), negated=True), Term(SlidingWindow(3), "or")))
    assert panel.text.text() == "Not causal or sliding window"
    context.document.undo_stack.undo()
    context.document.undo_stack.undo()
    context.document.undo_stack.undo()
    assert rule(context) == Combined((Term(Causal()), Term(SlidingWindow(1)))), "two steps of a spin box are one"
    qtbot.mouseClick(panel.rows[0].remove, LEFT)
    assert rule(context) == SlidingWindow(1)
    qtbot.mouseClick(panel.rows[0].remove, LEFT)
    assert rule(context) == MaskRule()
    assert panel.add.hasFocus()


def test_a_single_rule_that_is_negated_or_for_some_heads_stays_a_combination(
    panel: CombinePanel, context: Context, qtbot: QtBot
) -> None:
    qtbot.mouseClick(panel.add, LEFT)
    qtbot.mouseClick(panel.rows[0].negated, LEFT)
    assert rule(context) == Combined((Term(Causal(), negated=True),))
    qtbot.mouseClick(panel.rows[0].negated, LEFT)
    assert rule(context) == Causal()


def test_heads_are_typed_and_a_bad_one_stays_with_the_reason(
    panel: CombinePanel, context: Context, qtbot: QtBot
) -> None:
    qtbot.mouseClick(panel.add, LEFT)
    heads = panel.rows[0].heads
    assert heads.isVisible() and heads.text() == "all"
    heads.setText("1, 9")
    heads.editingFinished.emit()
    assert rule(context) == Causal()
    assert heads.text() == "1, 9"
    assert heads.reason.isVisible() and "there are heads 1 to 3" in heads.reason.text()
    heads.setText("1, 3")
    heads.editingFinished.emit()
    assert rule(context) == Combined((Term(Causal(), heads=(0, 2)),))
    assert not heads.reason.isVisible()
    heads.setText("all")
    heads.editingFinished.emit()
    assert rule(context) == Causal()


def test_rules_are_moved_and_the_focus_goes_with_them(panel: CombinePanel, context: Context, qtbot: QtBot) -> None:
    set_rule(context, Term(Causal()), Term(SlidingWindow(2)), Term(RandomCells(), "or"))
    qtbot.mouseClick(panel.rows[2].up, LEFT)
    assert rule(context) == Combined((Term(Causal()), Term(RandomCells(), "or"), Term(SlidingWindow(2))))
    assert panel.rows[1].up.hasFocus()
    qtbot.mouseClick(panel.rows[1].up, LEFT)
    assert isinstance(panel.terms[0].rule, RandomCells)
    assert panel.rows[0].down.hasFocus(), "the first cannot go up any more"
    assert not panel.rows[2].down.isEnabled()


def test_an_imported_mask_is_one_of_the_rules(panel: CombinePanel, context: Context, qtbot: QtBot) -> None:
    e = context.document.experiment
    imported = Imported(np.tri(e.n_q, dtype=bool))
    context.document.apply("i", replace(e, rule=imported))
    assert panel.rows[0].kind.currentText() == "Imported"
    qtbot.mouseClick(panel.add, LEFT)
    now = rule(context)
    assert isinstance(now, Combined) and now.terms[0].rule is imported
    panel.rows[0].kind.chosen.emit("imported")
    assert rule(context) is now


def test_the_pattern_is_that_of_the_head_looked_at(panel: CombinePanel, context: Context) -> None:
    e = context.document.experiment
    set_rule(context, Term(Causal(), heads=(1,)))
    context.document.apply("p", replace(context.document.experiment, painted=e.painted.with_cells([(0, 0)], False)))
    n = e.n_q
    everything = n * n - 1
    assert panel.pattern.accessibleName() == f"Pattern of head 1: {everything} of {n * n} cells allowed"
    context.selection.set_head(1)
    assert panel.pattern.accessibleName().startswith(f"Pattern of head 2: {n * (n + 1) // 2 - 1} of")
    context.selection.set_head("mean")
    assert panel.pattern.accessibleName().startswith(f"Pattern of mean over heads: {everything} of")
    assert panel.caption.text() == "Mean over heads"


def test_the_picture_is_filled_where_the_mask_allows(panel: CombinePanel, context: Context) -> None:
    for theme in ("light", "dark", "contrast"):
        context.settings.theme = theme
        set_rule(context, Term(Causal()))
        image = panel.pattern.grab().toImage()
        n = context.document.experiment.n_q
        each = (panel.pattern.width() - 2) // n
        for i in range(n):
            for j in range(n):
                colour = image.pixelColor(1 + j * each + 1, 1 + i * each + 1).name()
                wanted = context.look.theme.accent if j <= i else context.look.theme.masked
                assert colour == wanted, (theme, i, j)


def test_every_control_says_what_it_is_and_is_reached_by_tab(
    panel: CombinePanel, context: Context, qtbot: QtBot
) -> None:
    set_rule(context, Term(Causal()), Term(RandomCells(), heads=(0,)))
    panel.rows[0].negated.setFocus()
    names = []
    for _ in range(18):
        focused = panel.focusWidget()
        assert focused is not None
        names.append(focused.accessibleName() or getattr(focused, "text", str)())
        qtbot.keyClick(focused, Qt.Key.Key_Tab)
    assert names == [
        "Not rule 1",
        "Rule 1",
        "Heads of rule 1",
        "Move rule 1 down",
        "Remove rule 1",
        "How rule 2 is joined to those before it",
        "Not rule 2",
        "Rule 2",
        "Random: Share",
        "Random: Seed",
        "Random: own place",
        "Heads of rule 2",
        "Move rule 2 up",
        "Remove rule 2",
        "+ Add rule",
        "Head shown",
        "Next head",
        "Not rule 1",
    ]
