from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLabel, QSpinBox, QWidget
from pytestqt.qtbot import QtBot

from attn_gui.files import examples
from attn_gui.model.layer_place import LayerPlace
from attn_gui.model.masks import Causal, choosable
from attn_gui.model.origin import Origin
from attn_gui.model.reshape import with_variant
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.model.variant import Variant
from attn_gui.views.context import Context
from attn_gui.views.more_button import MoreButton
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
    bar.row.addWidget(MoreButton(context))
    context.settings.theme = theme
    e = context.document.experiment
    for variant, rule, painted in product(Variant, choosable(), (False, True)):
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


def label_of(bar: TopBar) -> QLabel:
    return next(label for label in bar.findChildren(QLabel) if label.buddy() is bar.example)


def test_captures_are_told_apart_by_model_and_text(bar: TopBar, context: Context) -> None:
    assert label_of(bar).text() == "E&xample"
    shipped = examples.load_session("minilm")
    captured = replace(shipped, experiments=tuple(replace(named, note="") for named in shipped.experiments), current=0)
    document = context.document
    document.open(captured, None)
    assert bar.example.placeholderText() == "all-MiniLM-L6-v2 · The animal didn't cross the street…"
    assert label_of(bar).text() == "E&xperiment"
    assert "BertModel" in bar.example.toolTip() and "because it was too tired”" in bar.example.toolTip()
    assert document.title == "all-MiniLM-L6-v2 · The animal didn't cross the street…, Layer 1 · text 1"
    document.show(6)
    assert bar.example.placeholderText() == "all-MiniLM-L6-v2 · The cat that chased the mouse was hungry"
    assert bar.example.currentIndex() == -1


def test_layers_without_a_model_are_called_after_their_file(bar: TopBar, context: Context, tmp_path: Path) -> None:
    layers = tuple(
        NamedExperiment(f"Layer {k + 1}", context.document.experiment, place=LayerPlace(k)) for k in range(2)
    )
    context.document.open(Session(layers), tmp_path / "mine.attn")
    assert bar.example.placeholderText() == "mine"
    origin = Origin(str(tmp_path / "attn.npz"), "sha256:" + "0" * 64, {})
    read = tuple(replace(named, origin=origin) for named in layers)
    context.document.open(Session(read), None)
    assert bar.example.placeholderText() == "attn.npz"
    assert str(tmp_path) in bar.example.toolTip()


def test_escape_ends_painting(bar: TopBar, context: Context, qtbot: QtBot) -> None:
    bar.activateWindow()
    bar.setFocus()
    qtbot.waitUntil(bar.isActiveWindow)
    context.selection.set_painting(True)
    assert bar.masking.paint.isChecked()
    qtbot.keyClick(bar, Qt.Key.Key_Escape)
    assert not context.selection.painting
    assert not bar.masking.paint.isChecked()


def test_an_example_is_asked_for_by_name(bar: TopBar, qtbot: QtBot) -> None:
    with qtbot.waitSignal(bar.example_chosen) as chosen:
        choose(bar.example, examples.names()[1])
    assert chosen.args == [examples.names()[1]]


def test_an_example_of_many_layers_is_called_by_its_own_name(bar: TopBar, context: Context) -> None:
    name, session = next(name for name in examples.names() if "MiniLM" in name), examples.load_session("minilm")
    document = context.document
    document.depart("Example", session)
    assert bar.example.currentText() == bar.example.toolTip() == name
    for index in (0, 11):
        document.show(index)
        assert bar.example.currentText() == name
    document.show(session.current)
    document.apply("Causal", replace(document.experiment, rule=Causal()))  # its note says since when it is changed
    assert bar.example.currentText() == name
    # one layer by itself, or layers that are none of ours, have their own
    document.apply_session("One", Session((session.named,)))
    assert bar.example.currentIndex() == -1 and bar.example.placeholderText() == "Layer 4 · text 1"
    assert label_of(bar).text() == "E&xperiment" and label_of(bar).buddy() is bar.example
    others = tuple(replace(named, note="mine") for named in session.experiments)
    document.apply_session("Mine", Session(others))
    assert bar.example.currentIndex() == -1 and bar.example.placeholderText() == others[0].name
