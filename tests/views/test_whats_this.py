"""What’s This: every control of the window, its drawers and dialogs and every entry of its menus is told of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QMenu, QWhatsThis, QWidget
from pytestqt.qtbot import QtBot

from attn_gui.files import examples
from attn_gui.model.biases.alibi import ALiBi
from attn_gui.model.biases.bias import Bias
from attn_gui.model.exercise import Exercise
from attn_gui.model.masks import Combined, choosable
from attn_gui.model.normalisers.normaliser import Normaliser
from attn_gui.model.parts import Part
from attn_gui.model.positions.input_position import InputPosition
from attn_gui.model.qk_norm.qk_norm import QKNorm
from attn_gui.model.rotary.rotary import Rotary
from attn_gui.model.session import Session
from attn_gui.model.starting import choosable_parts, started
from attn_gui.views.help.telling import entries_of, is_control, tell, text_of, text_of_action
from attn_gui.views.help.texts import CONTROLS, ENTRIES, MENUS, QT_PARTS
from attn_gui.views.main_window import MainWindow
from tests.views.window_helpers import karina_window, settle


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    with karina_window(qtbot, tmp_path) as made:
        yield made
        for top in QApplication.topLevelWidgets():
            if top is not made and top.parentWidget() is made:
                top.close()


def controls() -> list[QWidget]:
    found: dict[int, QWidget] = {}
    for top in QApplication.topLevelWidgets():
        for widget in (top, *top.findChildren(QWidget)):
            if is_control(widget):
                found[id(widget)] = widget
    return list(found.values())


def described(widget: QWidget) -> str:
    names = []
    inside: QWidget | None = widget
    while inside is not None:
        names.append(type(inside).__name__)
        inside = inside.parentWidget()
    text = getattr(widget, "text", lambda: "")
    return f"{widget.accessibleName() or text() or widget.objectName()!r} in {' < '.join(names)}"


def untold() -> list[str]:
    return [described(widget) for widget in controls() if not text_of(widget)]


def open_drawers(window: MainWindow, qtbot: QtBot) -> None:
    for dock in window.docks:
        dock.show()
        dock.raise_()
        QApplication.processEvents()
    settle(qtbot, window)


def entries(window: MainWindow) -> list[QAction]:
    menus = [menu for menu in window.findChildren(QMenu) if menu.title()]
    return [action for menu in menus for _, action in entries_of(menu)]


def open_dialogs(window: MainWindow) -> None:
    from attn_gui.views.masks.import_dialog import ImportDialog

    for action in (window.files.describe, window.files.export, window.formula.tokens.text_to_tokens):
        action.trigger()
    window.menus._show_diagnosis()
    window.menus._show_about()
    window.top_bar.masking.open_panel()
    window.files._weights_dialog().show()
    window.files._tensors_dialog().show()
    ImportDialog(window.context, window).show()
    window.menus.help.list.trigger()
    window.walk_through()
    next(a for a in entries(window) if a.text() == "Make e&xercise…").trigger()
    window.menus.help.show_page("index.md")


def test_every_control_says_what_it_is_for(window: MainWindow, qtbot: QtBot) -> None:
    open_drawers(window, qtbot)
    open_dialogs(window)
    QApplication.processEvents()
    assert len(controls()) > 150
    assert untold() == []


def test_with_many_heads_and_everything_chosen(window: MainWindow, qtbot: QtBot) -> None:
    window.open_example(examples.names()[1])
    settle(qtbot, window)
    open_drawers(window, qtbot)
    e = window.context.document.experiment
    scoring = replace(e.scoring, biases=(ALiBi(),), softcap=20.0, sinks=(0.0,) * e.heads)
    window.context.document.apply("Everything", replace(e, scoring=scoring))
    settle(qtbot, window)
    assert untold() == []


def test_the_parameters_of_every_part(window: MainWindow, qtbot: QtBot) -> None:
    """Of masks, positions, norms, rotary, biases and normalisers: each has controls of its own."""
    document = window.context.document
    window.docks[3].show()
    settle(qtbot, window)
    for rule in choosable():
        if rule is not Combined:
            window.top_bar.masking.choose(rule.kind)
            QApplication.processEvents()
            assert untold() == [], rule.kind
    families: dict[str, type[Part]] = {
        "position": InputPosition,
        "qk_norm": QKNorm,
        "rotary": Rotary,
        "normaliser": Normaliser,
    }
    for field, family in families.items():
        for part in choosable_parts(family):
            e = document.experiment
            scoring = replace(e.scoring, **{field: started(part, e)})
            document.apply("Another", replace(e, scoring=scoring))
            QApplication.processEvents()
            assert untold() == [], part.kind
    for bias in choosable_parts(Bias):
        e = document.experiment
        document.apply("Another", replace(e, scoring=replace(e.scoring, biases=(*e.scoring.biases, started(bias, e)))))
    QApplication.processEvents()
    assert untold() == []


def test_every_entry_of_the_menus_says_what_it_does(window: MainWindow) -> None:
    silent = []
    for menu in window.findChildren(QMenu):
        if not menu.title():
            continue
        menu.aboutToShow.emit()
        for place, action in entries_of(menu):
            if not text_of_action(action, place):
                silent.append("/".join((*place, action.text())))
            own = action.menu() is None and "Open recent" not in place
            counts = place[-1:] in (("Heads",), ("A long text",))
            if own and not counts and text_of_action(action, place) == MENUS.get(place[-1]):
                silent.append("only the menu’s: " + "/".join((*place, action.text())))
    assert silent == []


def test_a_tour_its_instruments_and_its_questions(window: MainWindow, qtbot: QtBot) -> None:
    window.tours.start(4)
    assert untold() == []
    assert any(type(control).__name__ == "QSlider" for control in controls()), "an instrument with sliders"
    guide = window.tours.guide
    assert guide is not None and guide.touring.tour is not None
    for place in (len(guide.touring.tour.steps), len(guide.touring.tour) - 1):
        guide.touring.go_to(place)
        assert untold() == [], "at a question"
    window.tours.start(5)
    for _ in range(len(guide.touring.tour) - 1):
        window.tours.next.trigger()
    assert untold() == []
    window.tours.leave()
    settle(qtbot, window)


def test_an_exercise(window: MainWindow, qtbot: QtBot) -> None:
    document = window.context.document
    document.open(Session((replace(document.session.named, exercise=Exercise(("A", "N"), tries=1)),)), None)
    settle(qtbot, window)
    open_drawers(window, qtbot)
    assert untold() == []


def test_texts_are_short_and_say_it_in_sentences() -> None:
    texts = [text for table in CONTROLS.values() for text in table.values()]
    texts += [*ENTRIES.values(), *MENUS.values(), *QT_PARTS.values()]
    for text in texts:
        assert 20 <= len(text) <= 240, text
        assert text[0].isupper() and text.endswith(".") and "!" not in text, text


def test_the_texts_are_put_where_qt_looks_for_them(window: MainWindow, qtbot: QtBot) -> None:
    plot = window.formula.scores.heatmap.plot
    assert not plot.whatsThis()
    qtbot.keyClick(window, Qt.Key.Key_F1, Qt.KeyboardModifier.ShiftModifier)
    assert QWhatsThis.inWhatsThisMode()
    assert plot.whatsThis() == text_of(plot) != ""
    assert window.files.save.whatsThis() == ENTRIES["Save"]
    assert all(button.whatsThis() for button in controls() if text_of(button))
    QWhatsThis.leaveWhatsThisMode()


def test_pressed_again_it_tells_of_what_has_the_focus(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []
    monkeypatch.setattr(QWhatsThis, "showText", lambda place, text, widget: shown.append(text))
    window.top_bar.variant.setFocus()
    for _ in range(2):
        window.menus.help.what.trigger()
    assert shown == [CONTROLS["TopBar"]["Variant"]] and not QWhatsThis.inWhatsThisMode()


def test_an_entry_made_when_a_menu_opens_has_its_text(window: MainWindow) -> None:
    window.menus.help.what.trigger()
    QWhatsThis.leaveWhatsThisMode()
    masks = next(menu for menu in window.menuBar().findChildren(QMenu) if menu.title() == "&Mask")
    masks.aboutToShow.emit()
    causal = next(action for action in masks.actions() if action.text() == "Causal")
    assert causal.whatsThis() == ENTRIES["Causal"]


def test_a_control_without_a_text_is_found_out(qtbot: QtBot) -> None:
    from PySide6.QtWidgets import QPushButton

    lone = QWidget()
    qtbot.addWidget(lone)
    button = QPushButton("Unheard of", lone)
    assert is_control(button) and text_of(button) == ""
    tell(lone)
    assert button.whatsThis() == ""
