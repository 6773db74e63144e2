"""The mask's dropdown, the parameters beside it, and painting."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QCheckBox, QComboBox, QSpinBox
from pytestqt.qtbot import QtBot

from attn_gui.model.cache import with_past
from attn_gui.model.masks import Causal, Combined, MaskRule, Padding, SlidingWindow, Term, choosable
from attn_gui.model.masks.random_cells import RandomCells
from attn_gui.views.context import Context
from attn_gui.views.mask_choice import CUSTOM, FROM_FILE, MaskChoice
from attn_gui.views.masks.rule_box import MORE, RuleBox
from attn_gui.views.number_field import NumberField

Key = Qt.Key


@pytest.fixture
def mask(context: Context, qtbot: QtBot) -> MaskChoice:
    made = MaskChoice(context)
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    return made


def entries(box: RuleBox) -> list[str]:
    return [box.itemText(k) for k in range(box.count()) if box.itemText(k)]


def pick(box: RuleBox, data: str) -> None:
    """Choose an entry as the pointer does."""
    place = box.findData(data)
    assert place >= 0, data
    box.setCurrentIndex(place)
    box.activated.emit(place)


def test_the_usual_rules_come_first_and_the_others_under_more(mask: MaskChoice, qtbot: QtBot) -> None:
    box = mask.kind
    usual = [rule.title for rule in choosable() if rule.usual]
    others = [rule.title for rule in choosable() if not rule.usual]
    assert usual[0] == "None" and len(others) >= 5
    assert entries(box) == [*usual, "More…", "Custom", "From a file…"]
    pick(box, MORE)
    assert entries(box) == [*usual, *others, "Custom", "From a file…"]
    assert box.currentText() == "None", "more is not a choice by itself"
    qtbot.waitUntil(lambda: box.view().isVisible())
    box.hidePopup()
    pick(box, "random")
    assert box.currentText() == "Random"


def test_every_rule_has_a_picture_of_its_own_in_every_theme(mask: MaskChoice, context: Context) -> None:
    box = mask.kind
    for theme in ("light", "dark", "contrast"):
        context.settings.theme = theme
        if box.findData(MORE) >= 0:
            pick(box, MORE)
        box.showPopup()
        pictures = {}
        for k in range(box.count()):
            if box.itemData(k) in MaskRule.kinds:
                image = box.itemIcon(k).pixmap(box.iconSize()).toImage()
                pictures[box.itemText(k)] = bytes(image.constBits())
        box.hidePopup()
        assert len(pictures) == len(choosable())
        assert len(set(pictures.values())) == len(pictures)


def test_rules_are_chosen_with_their_parameters(mask: MaskChoice, context: Context) -> None:
    document = context.document
    pick(mask.kind, "causal")
    assert document.experiment.rule == Causal()
    assert document.undo_stack.undoText() == "Mask: causal"
    pick(mask.kind, "sliding_window")
    assert document.experiment.rule == SlidingWindow(1)
    window, both = mask.fields.fields["window"], mask.fields.fields["two_sided"]
    assert isinstance(window, QSpinBox) and isinstance(both, QCheckBox)
    window.setValue(3)
    window.setValue(2)
    both.setChecked(True)
    assert document.experiment.rule == SlidingWindow(2, two_sided=True)
    document.undo_stack.undo()
    document.undo_stack.undo()
    assert document.experiment.rule == SlidingWindow(1), "two steps of the spin box are one undo step"
    assert window.value() == 1
    pick(mask.kind, "padding")
    assert document.experiment.rule == Padding()
    assert not mask.fields.isVisible()


def test_a_number_out_of_range_stays_with_its_reason(mask: MaskChoice, context: Context, qtbot: QtBot) -> None:
    context.document.apply("r", replace(context.document.experiment, rule=RandomCells()))
    share = mask.fields.fields["share"]
    assert isinstance(share, NumberField)
    share.setText("3")
    share.editingFinished.emit()
    assert context.document.experiment.rule == RandomCells()
    assert share.text() == "3"
    assert share.reason.isVisible() and "from 0 to 1" in share.reason.text()
    seed = mask.fields.fields["seed"]
    assert isinstance(seed, QSpinBox)
    seed.setValue(4)
    assert share.text() == "3" and share.reason.isVisible(), "another parameter leaves it alone"
    share.setText("0,25")
    share.editingFinished.emit()
    assert context.document.experiment.rule == RandomCells(0.25, 4)
    assert not share.reason.isVisible()


def test_keys_and_the_wheel_go_from_rule_to_rule_and_never_to_a_file(
    mask: MaskChoice, context: Context, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MaskChoice, "_open_dialog", lambda self: pytest.fail("a key opened the dialog"))
    box = mask.kind
    box.setFocus()
    usual = [rule.kind for rule in choosable() if rule.usual]
    for kind in usual[1:]:
        qtbot.keyClick(box, Key.Key_Down)
        assert context.document.experiment.rule.kind == kind
    for key in (Key.Key_Down, Key.Key_End, Key.Key_PageDown):
        qtbot.keyClick(box, key)
        assert context.document.experiment.rule.kind == usual[-1]
    turn_wheel(box, -120)
    assert context.document.experiment.rule.kind == usual[-1]
    turn_wheel(box, 120)
    assert context.document.experiment.rule.kind == usual[-2]
    qtbot.keyClick(box, Key.Key_Home)
    assert context.document.experiment.rule == MaskRule()
    context.selection.set_painting(True)
    assert box.currentData() == CUSTOM
    qtbot.keyClick(box, Key.Key_Up)
    assert context.document.experiment.rule.kind == usual[-1], "upwards from what is no rule to the last that is"


def turn_wheel(box: RuleBox, delta: int) -> None:
    place = QPointF(box.rect().center())
    event = QWheelEvent(
        place,
        QPointF(box.mapToGlobal(place.toPoint())),
        QPoint(),
        QPoint(0, delta),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(box, event)


def test_custom_starts_painting_and_none_takes_the_painted_cells_away(mask: MaskChoice, context: Context) -> None:
    pick(mask.kind, CUSTOM)
    assert context.selection.painting and mask.paint.isChecked()
    e = context.document.experiment
    context.document.apply("Paint", replace(e, painted=e.painted.with_cells([(0, 0)], False)))
    assert mask.kind.currentData() == CUSTOM
    assert mask.clear.isVisible()
    pick(mask.kind, "causal")
    assert context.document.experiment.painted, "painted cells stay on top of another rule"
    assert mask.kind.currentText() == "Causal + custom"
    pick(mask.kind, "none")
    assert not context.document.experiment.painted
    assert not context.selection.painting
    assert mask.kind.currentData() == "none"


def test_escape_ends_painting(mask: MaskChoice, context: Context, qtbot: QtBot) -> None:
    pick(mask.kind, CUSTOM)
    mask.activateWindow()
    qtbot.waitUntil(mask.isActiveWindow)
    qtbot.keyClick(mask.paint, Key.Key_Escape)
    assert not context.selection.painting


def test_causal_alignment_is_offered_where_it_matters(mask: MaskChoice, context: Context) -> None:
    pick(mask.kind, "causal")
    assert not mask.fields.isVisible()
    context.document.apply("cache", with_past(context.document.experiment, 2))
    alignment = mask.fields.fields["alignment"]
    assert isinstance(alignment, QComboBox)
    assert alignment.isVisible()
    alignment.activated.emit(alignment.findData("bottom-right"))
    assert context.document.experiment.rule == Causal("bottom-right")


def test_a_window_larger_than_any_sequence_is_shown_as_it_is(mask: MaskChoice, context: Context) -> None:
    e = context.document.experiment
    for window in (5_000_000, 2**31 - 1, 3):
        context.document.apply("window", replace(e, rule=SlidingWindow(window)))
        field = mask.fields.fields["window"]
        assert isinstance(field, QSpinBox)
        assert field.value() == window
        assert context.document.experiment.rule == SlidingWindow(window)


def test_a_combination_is_named_by_what_it_is(mask: MaskChoice, context: Context) -> None:
    rule = Combined((Term(Causal()), Term(RandomCells(), negated=True)))
    context.document.apply("c", replace(context.document.experiment, rule=rule))
    assert mask.kind.currentText() == "causal and not random"
    assert mask.kind.toolTip() == "causal and not random"
    pick(mask.kind, "causal")
    assert "causal and not random" not in entries(mask.kind)
    context.document.undo_stack.undo()
    assert mask.kind.currentText() == "causal and not random"


def test_a_file_is_asked_for_and_the_choice_stays_as_it_was(
    mask: MaskChoice, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    monkeypatch.setattr(MaskChoice, "_open_dialog", lambda self: asked.append(True))
    pick(mask.kind, FROM_FILE)
    assert asked == [True]
    assert mask.kind.currentData() == "none"


def test_parameters_are_reached_by_tab_between_the_dropdown_and_the_buttons(mask: MaskChoice, qtbot: QtBot) -> None:
    pick(mask.kind, "sliding_window")
    window = mask.fields.fields["window"]
    mask.activateWindow()
    mask.kind.setFocus()
    qtbot.waitUntil(mask.kind.hasFocus)
    qtbot.keyClick(mask.kind, Key.Key_Tab)
    assert window.hasFocus()
    assert window.accessibleName() == "Sliding window: Window"
    assert "previous keys" in window.toolTip()
