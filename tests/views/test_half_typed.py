"""A value that is typed and not entered yet counts for what it was typed for, or for nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QAction, QDropEvent
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QLineEdit, QMessageBox, QSpinBox, QWidget
from pytestqt.qtbot import QtBot

from attn_gui.files import session as session_file
from attn_gui.model.biases.relative_buckets import RelativeBuckets
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal, Combined, MaskRule, SlidingWindow, Term
from attn_gui.model.masks.dilated import Dilated
from attn_gui.model.masks.prefix_lm import PrefixLM
from attn_gui.model.masks.random_cells import RandomCells
from attn_gui.model.normalisers.sigmoid import Sigmoid
from attn_gui.model.normalisers.softmax import Softmax
from attn_gui.model.rotary.frequencies import Frequencies
from attn_gui.model.scoring import Scoring
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.model.starting import started
from attn_gui.views.drawers.scoring_drawer import ScoringDrawer
from attn_gui.views.header_editor import HeaderEditor
from attn_gui.views.main_window import MainWindow
from attn_gui.views.masks.combine_panel import CombinePanel
from tests.views.window_helpers import karina_window, settle

Keys, LEFT = Qt.Key, Qt.MouseButton.LeftButton
CTRL = Qt.KeyboardModifier.ControlModifier
BUTTONS = QMessageBox.StandardButton


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    with karina_window(qtbot, tmp_path) as made:
        yield made


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the person is asked; the answer is always to discard."""
    questions: list[str] = []

    def answer(box: QMessageBox) -> BUTTONS:
        questions.append(box.text())
        return BUTTONS.Discard

    monkeypatch.setattr(QMessageBox, "exec", answer)
    return questions


def show(window: MainWindow, qtbot: QtBot, **changes: object) -> Experiment:
    """Come upon the Karina example with ``changes``, in a document of its own."""
    named = window.context.document.session.named
    e = replace(named.experiment, **changes)  # type: ignore[arg-type]
    window.context.document.open(Session((replace(named, experiment=e),)), None)
    settle(qtbot, window)
    return e


def saved(tmp_path: Path, window: MainWindow, **changes: object) -> Path:
    """A session with ``changes`` on disk."""
    e = replace(window.context.document.experiment, **changes)  # type: ignore[arg-type]
    path = tmp_path / "other.attn"
    session_file.save(Session((NamedExperiment("Other", e),)), path)
    return path


def type_over(qtbot: QtBot, field: QWidget, text: str) -> None:
    """Type ``text`` over what stands in ``field``, and leave it at that."""
    field.setFocus()
    qtbot.waitUntil(field.hasFocus)
    assert isinstance(field, QLineEdit | QAbstractSpinBox)
    field.selectAll()
    qtbot.keyClicks(field, text)


def text_of(field: QWidget) -> str:
    assert isinstance(field, QLineEdit | QAbstractSpinBox)
    return field.text()


def mask_field(window: MainWindow, name: str) -> QWidget:
    return window.top_bar.masking.fields.fields[name]


def scoring(window: MainWindow, qtbot: QtBot) -> ScoringDrawer:
    dock = next(dock for dock in window.docks if dock.objectName() == "scoring")
    dock.toggleViewAction().trigger()
    drawer = dock.widget()
    assert isinstance(drawer, ScoringDrawer)
    qtbot.waitUntil(drawer.isVisible)
    return drawer


def with_buckets(window: MainWindow, qtbot: QtBot) -> RelativeBuckets:
    """Come upon the Karina example with T5's bias."""
    bias = started(RelativeBuckets, window.context.document.experiment)
    show(window, qtbot, scoring=Scoring(biases=(bias,)))
    return bias


def rule(window: MainWindow) -> MaskRule:
    return window.context.document.experiment.rule


def drop(window: MainWindow, path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    place, actions = QPointF(5, 5), Qt.DropAction.CopyAction
    window.dropEvent(QDropEvent(place, actions, data, LEFT, Qt.KeyboardModifier.NoModifier, QEvent.Type.Drop))


def menu_action(window: MainWindow, menu: str, text: str) -> QAction:
    of = next(action.menu() for action in window.menuBar().actions() if action.text().replace("&", "") == menu)
    return next(action for action in of.actions() if action.text().replace("&", "").startswith(text))


# opening something else


def test_a_session_dropped_on_the_window_opens_as_it_is(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, asked: list[str]
) -> None:
    show(window, qtbot, rule=SlidingWindow(1))
    path = saved(tmp_path, window, rule=Dilated(2, 2))
    type_over(qtbot, mask_field(window, "window"), "9")
    with qtbot.waitSignal(window.services.storage.opened):
        drop(window, path)
    assert asked == ["Save the changes to “Karina”?"], "what was typed is work"
    assert rule(window) == Dilated(2, 2)
    assert not window.context.document.modified
    assert window.context.document.undo_stack.count() == 0


def test_a_session_that_arrives_while_one_types_opens_as_it_is(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    show(window, qtbot, rule=SlidingWindow(1))
    path = saved(tmp_path, window, rule=Dilated(2, 2))
    type_over(qtbot, mask_field(window, "window"), "9")
    with qtbot.waitSignal(window.services.storage.opened):
        window.services.storage.open(path)
    QApplication.processEvents()
    assert rule(window) == Dilated(2, 2)
    assert not window.context.document.modified
    assert window.context.document.undo_stack.count() == 0


def test_the_same_rule_in_another_session_is_left_alone(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    show(window, qtbot, rule=SlidingWindow(1))
    path = saved(tmp_path, window, rule=SlidingWindow(1))
    type_over(qtbot, mask_field(window, "window"), "9")
    with qtbot.waitSignal(window.services.storage.opened):
        window.services.storage.open(path)
    field = mask_field(window, "window")
    assert text_of(field) == "1"
    window.top_bar.example.setFocus()
    assert rule(window) == SlidingWindow(1)


def test_a_new_session_asks_about_what_is_typed(window: MainWindow, qtbot: QtBot, asked: list[str]) -> None:
    show(window, qtbot, rule=RandomCells())
    field = mask_field(window, "seed")
    type_over(qtbot, field, "77")
    assert not window.context.document.modified
    taken: list[MaskRule] = []
    window.context.document.changed.connect(lambda before, after: taken.append(after.experiment.rule))
    qtbot.keyClick(field, Keys.Key_N, CTRL)
    assert asked == ["Save the changes to “Karina”?"]
    assert taken == [replace(RandomCells(), seed=77), MaskRule()]
    assert window.context.document.undo_stack.count() == 0


def test_a_new_session_is_not_begun_over_a_value_that_is_refused(
    window: MainWindow, qtbot: QtBot, asked: list[str]
) -> None:
    show(window, qtbot, rule=RandomCells())
    field = mask_field(window, "share")
    type_over(qtbot, field, "7")
    before = window.context.document.session
    qtbot.keyClick(field, Keys.Key_N, CTRL)
    assert window.context.document.session is before, "one stays to read why"
    assert "received 7" in field.accessibleDescription() and text_of(field) == "7"
    qtbot.keyClick(field, Keys.Key_N, CTRL)
    assert rule(window) == MaskRule(), "it has been said"
    assert asked == []


def test_what_was_refused_is_not_tried_on_another_document(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    drawer = scoring(window, qtbot)
    show(window, qtbot, scoring=Scoring(sinks=(0.5,)))
    path = saved(tmp_path, window, scoring=Scoring(sinks=(0.5,)))
    type_over(qtbot, drawer.sinks.scores, "1, 2")
    qtbot.keyClick(drawer.sinks.scores, Keys.Key_Return)
    assert drawer.sinks.scores.reason.isVisible()
    with qtbot.waitSignal(window.services.storage.opened):
        window.services.storage.open(path)
    assert drawer.sinks.scores.text() == "0.5"
    assert not drawer.sinks.scores.reason.isVisible()


def test_the_parameter_of_a_bias_in_a_new_session(window: MainWindow, qtbot: QtBot, asked: list[str]) -> None:
    drawer = scoring(window, qtbot)
    with_buckets(window, qtbot)
    farthest = drawer.bias.rows[0].fields.fields["max_distance"]
    type_over(qtbot, farthest, "64")
    qtbot.keyClick(farthest, Keys.Key_N, CTRL)
    assert asked == ["Save the changes to “Karina”?"]
    assert window.context.document.experiment.scoring == Scoring()
    assert window.context.document.undo_stack.count() == 0


def test_closing_asks_about_what_is_typed(window: MainWindow, qtbot: QtBot, asked: list[str]) -> None:
    show(window, qtbot, rule=SlidingWindow(1))
    type_over(qtbot, mask_field(window, "window"), "9")
    assert window.close()
    assert asked == ["Save the changes to “Karina”?"]
    assert rule(window) == SlidingWindow(9)


def test_an_example_is_chosen_over_what_is_typed(window: MainWindow, qtbot: QtBot) -> None:
    show(window, qtbot, rule=SlidingWindow(1))
    type_over(qtbot, mask_field(window, "window"), "9")
    window.open_example("animal")
    assert rule(window) == MaskRule()
    window.context.document.undo_stack.undo()
    assert rule(window) == SlidingWindow(9)


def test_what_is_typed_is_saved(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    path = saved(tmp_path, window, rule=SlidingWindow(1))
    with qtbot.waitSignal(window.services.storage.opened):
        window.services.storage.open(path)
    field = mask_field(window, "window")
    type_over(qtbot, field, "9")
    with qtbot.waitSignal(window.services.storage.saved):
        qtbot.keyClick(field, Keys.Key_S, CTRL)
    assert session_file.load(path).experiment.rule == SlidingWindow(9)


# undo


def choose(window: MainWindow, *kinds: type[MaskRule]) -> None:
    for kind in kinds:
        window.top_bar.masking.choose(kind.kind)


def test_undo_from_elsewhere_drops_what_is_typed(window: MainWindow, qtbot: QtBot) -> None:
    choose(window, Dilated, SlidingWindow)
    type_over(qtbot, mask_field(window, "window"), "9")
    stack = window.context.document.undo_stack
    stack.undo()
    assert rule(window) == Dilated()
    assert (stack.index(), stack.count()) == (1, 2)
    assert text_of(mask_field(window, "window")) == str(Dilated().window)


def test_undo_in_the_menu_undoes_what_is_typed(window: MainWindow, qtbot: QtBot) -> None:
    choose(window, Dilated, SlidingWindow)
    type_over(qtbot, mask_field(window, "window"), "9")
    stack = window.context.document.undo_stack
    menu_action(window, "Edit", "Undo").trigger()
    assert rule(window) == SlidingWindow()
    assert (stack.index(), stack.count()) == (2, 3), "one step back, from what was typed"
    menu_action(window, "Edit", "Redo").trigger()
    assert rule(window) == SlidingWindow(9)
    assert text_of(mask_field(window, "window")) == "9"


def test_undo_of_a_normaliser_while_its_parameter_is_typed(window: MainWindow, qtbot: QtBot) -> None:
    drawer = scoring(window, qtbot)
    drawer.normaliser.kind.chosen.emit(Sigmoid.kind)
    assert drawer.normaliser.fields is not None
    type_over(qtbot, drawer.normaliser.fields.fields["shift"], "3")
    window.context.document.undo_stack.undo()
    assert window.context.document.experiment.scoring.normaliser == Softmax()
    assert not window.context.document.undo_stack.canUndo()


def test_undo_of_a_part_while_its_parameter_is_typed(window: MainWindow, qtbot: QtBot) -> None:
    drawer = scoring(window, qtbot)
    drawer.rotary.kind.chosen.emit(Frequencies.kind)
    assert drawer.rotary.fields is not None
    type_over(qtbot, drawer.rotary.fields.fields["base"], "50")
    window.context.document.undo_stack.undo()
    assert window.context.document.experiment.scoring.rotary is None
    assert not window.context.document.undo_stack.canUndo()


@pytest.mark.parametrize("text", ["2.5", "1, 2"])
def test_every_field_of_the_drawer_forgets_what_was_typed(window: MainWindow, qtbot: QtBot, text: str) -> None:
    drawer = scoring(window, qtbot)
    document = window.context.document
    show(window, qtbot, scoring=Scoring(sinks=(0.5,)))
    field = drawer.temperature.number if text == "2.5" else drawer.sinks.scores
    present = field.text()
    document.apply("Mask", replace(document.experiment, rule=Causal()))
    type_over(qtbot, field, text)
    document.undo_stack.undo()
    window.top_bar.example.setFocus()
    assert field.text() == present
    assert document.experiment.scoring == Scoring(sinks=(0.5,))
    assert not document.undo_stack.canUndo()


# what is chosen elsewhere meanwhile


def test_a_bias_is_added_while_another_is_typed(window: MainWindow, qtbot: QtBot) -> None:
    drawer = scoring(window, qtbot)
    bias = with_buckets(window, qtbot)
    type_over(qtbot, drawer.bias.rows[0].fields.fields["max_distance"], "64")
    drawer.bias.add.chosen.emit("alibi")
    biases = window.context.document.experiment.scoring.biases
    assert [bias.kind for bias in biases] == ["relative_buckets", "alibi"]
    assert [row.fields.part for row in drawer.bias.rows] == list(biases)
    assert biases[0] is bias


def test_a_press_elsewhere_enters_what_is_typed(window: MainWindow, qtbot: QtBot) -> None:
    show(window, qtbot, rule=SlidingWindow(1))
    field = mask_field(window, "window")
    type_over(qtbot, field, "9")
    # such buttons do not take the focus
    qtbot.mouseClick(window.top_bar.masking.paint, LEFT)
    assert rule(window) == SlidingWindow(9)
    assert window.context.selection.painting


def test_a_press_in_the_field_itself_enters_nothing(window: MainWindow, qtbot: QtBot) -> None:
    show(window, qtbot, rule=SlidingWindow(1))
    field = mask_field(window, "window")
    assert isinstance(field, QSpinBox)
    type_over(qtbot, field, "9")
    qtbot.mouseClick(field.lineEdit(), LEFT)
    assert rule(window) == SlidingWindow(1) and field.text() == "9"


# tables


def open_cell(window: MainWindow, qtbot: QtBot, text: str) -> QLineEdit:
    table = window.formula.tokens.table
    table.setFocus()
    table.go_to(0, 1)
    qtbot.keyClicks(table, text[0])
    editor = table.editing
    assert editor is not None
    qtbot.keyClicks(editor, text[1:])
    return editor


def cell(window: MainWindow) -> float:
    return float(window.context.document.experiment.tokens.embeddings[0, 0])


@pytest.mark.parametrize("leave", ["keys", "action"])
def test_a_cell_that_is_typed_is_work(window: MainWindow, qtbot: QtBot, asked: list[str], leave: str) -> None:
    editor = open_cell(window, qtbot, "77")
    if leave == "keys":
        qtbot.keyClick(editor, Keys.Key_N, CTRL)
    else:
        window.files.new.trigger()
    assert asked == ["Save the changes to “Karina”?"]
    assert cell(window) == 1
    assert window.formula.tokens.table.editing is None


def test_a_cell_that_is_typed_is_not_one_of_the_session_that_arrives(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    path = saved(tmp_path, window, rule=Causal())
    open_cell(window, qtbot, "77")
    with qtbot.waitSignal(window.services.storage.opened):
        window.services.storage.open(path)
    assert window.formula.tokens.table.editing is None
    window.top_bar.example.setFocus()
    assert cell(window) == 1 and not window.context.document.modified


def test_a_cell_that_is_typed_is_saved(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    path = saved(tmp_path, window)
    with qtbot.waitSignal(window.services.storage.opened):
        window.services.storage.open(path)
    editor = open_cell(window, qtbot, "77")
    with qtbot.waitSignal(window.services.storage.saved):
        qtbot.keyClick(editor, Keys.Key_S, CTRL)
    assert session_file.load(path).experiment.tokens.embeddings[0, 0] == 77


def test_the_menu_undoes_a_cell_that_is_typed(window: MainWindow, qtbot: QtBot) -> None:
    open_cell(window, qtbot, "77")
    bar = window.menuBar()
    edit = next(action for action in bar.actions() if action.text() == "&Edit")
    qtbot.mouseClick(bar, LEFT, pos=bar.actionGeometry(edit).center())
    assert cell(window) == 77
    bar.actions()[1].menu().hide()
    menu_action(window, "Edit", "Undo").trigger()
    assert cell(window) == 1 and window.context.document.undo_stack.canRedo()


@pytest.mark.parametrize("typed", [False, True])
def test_the_name_of_a_dimension_is_not_given_to_another_session(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, typed: bool
) -> None:
    table = window.formula.tokens.table
    tokens = window.context.document.experiment.tokens
    path = saved(tmp_path, window, tokens=replace(tokens, dimensions=("noun", "verb")))
    table.rename_dimension(1)
    editor = table.horizontalHeader().findChild(HeaderEditor)
    assert editor is not None and editor.isVisible()
    if typed:
        qtbot.keyClicks(editor, "colour")
    with qtbot.waitSignal(window.services.storage.opened):
        window.services.storage.open(path)
    assert not editor.isVisible()
    assert window.context.document.experiment.tokens.dimensions == ("noun", "verb")
    assert not window.context.document.modified


def test_a_head_size_is_not_given_to_a_session_that_arrives(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    path = saved(tmp_path, window, rule=Causal())
    window.docks[0].toggleViewAction().trigger()
    d_k = next(field for field in window.docks[0].findChildren(QSpinBox) if field.accessibleName() == "d_k")
    type_over(qtbot, d_k, "5")
    with qtbot.waitSignal(window.services.storage.opened):
        window.services.storage.open(path)
    window.top_bar.example.setFocus()
    assert d_k.text() == "2"
    assert window.context.document.experiment.d_k == 2 and not window.context.document.modified


def test_a_field_keeps_what_is_typed_when_its_drawer_is_closed(window: MainWindow, qtbot: QtBot) -> None:
    drawer = scoring(window, qtbot)
    type_over(qtbot, drawer.temperature.number, "2.5")
    window.docks[3].toggleViewAction().trigger()
    assert not drawer.isVisible()
    assert window.context.document.experiment.scoring.temperature == 2.5


# the panel of combined rules


@pytest.fixture
def panel(window: MainWindow, qtbot: QtBot) -> Iterator[Callable[..., CombinePanel]]:
    """The panel open on some terms."""

    def opened(*terms: Term) -> CombinePanel:
        show(window, qtbot, rule=Combined(terms))
        window.top_bar.masking.open_panel()
        made = window.top_bar.masking._panel
        assert made is not None and made.isVisible()
        return made

    yield opened
    made = window.top_bar.masking._panel
    if made is not None:
        made.hide()


def test_a_rule_that_is_gone_cannot_be_chosen_anew(
    window: MainWindow, qtbot: QtBot, panel: Callable[..., CombinePanel]
) -> None:
    made = panel(Term(Causal()))
    document = window.context.document
    document.apply("Mask", replace(document.experiment, rule=Combined((Term(Causal()), Term(SlidingWindow())))))
    row = made.rows[1]
    assert row.isVisible()
    row.kind.setCurrentIndex(row.kind.findData("more"))
    row.kind.activated.emit(row.kind.currentIndex())  # opens the longer list soon
    document.undo_stack.undo()
    assert not row.isVisible()
    QApplication.processEvents()
    assert not row.kind.view().isVisible()
    before = rule(window)
    row.kind.chosen.emit("causal")
    row.negated.toggle()
    row.remove.click()
    row.up.click()
    assert rule(window) is before


def test_escape_drops_what_is_typed_and_leaves_the_panel_open(
    window: MainWindow, qtbot: QtBot, panel: Callable[..., CombinePanel]
) -> None:
    made = panel(Term(PrefixLM(2)), Term(Causal()))
    before = rule(window)
    field = made.rows[0].fields.fields["prefix"]
    type_over(qtbot, field, "7")
    qtbot.keyClick(field, Keys.Key_Escape)
    assert made.isVisible() and text_of(field) == "2"
    qtbot.keyClick(field, Keys.Key_Escape)
    assert not made.isVisible()
    assert rule(window) is before and not window.context.document.modified


def test_escape_drops_a_number_that_is_typed_under_more(window: MainWindow, qtbot: QtBot) -> None:
    window.more.open()
    more = window.more.panel
    more.scale_kind.chosen.emit("custom")
    present = more.scale.text()
    type_over(qtbot, more.scale, "7")
    qtbot.keyClick(more.scale, Keys.Key_Escape)
    assert more.isVisible() and more.scale.text() == present
    qtbot.keyClick(more.scale, Keys.Key_Escape)
    assert not more.isVisible() and not window.context.document.modified


def test_a_press_beside_the_panel_enters_what_is_typed(
    window: MainWindow, qtbot: QtBot, panel: Callable[..., CombinePanel]
) -> None:
    made = panel(Term(PrefixLM(2)), Term(Causal()))
    type_over(qtbot, made.rows[0].fields.fields["prefix"], "4")
    qtbot.mousePress(made, LEFT, pos=QPoint(-20, -20))
    assert not made.isVisible()
    assert rule(window) == Combined((Term(PrefixLM(4)), Term(Causal())))


def test_what_is_typed_for_one_rule_is_not_given_to_another(
    window: MainWindow, qtbot: QtBot, panel: Callable[..., CombinePanel]
) -> None:
    made = panel(Term(Dilated(2, 2)), Term(Causal()))
    document = window.context.document
    document.apply("Mask", replace(document.experiment, rule=Combined((Term(SlidingWindow(3)), Term(Causal())))))
    type_over(qtbot, made.rows[0].fields.fields["window"], "9")
    document.undo_stack.undo()
    assert rule(window) == Combined((Term(Dilated(2, 2)), Term(Causal())))
    assert not document.undo_stack.canUndo()


# the fields themselves


def test_escape_gives_up_what_was_refused(window: MainWindow, qtbot: QtBot) -> None:
    drawer = scoring(window, qtbot)
    document = window.context.document
    show(window, qtbot, scoring=Scoring(sinks=(0.5,)))
    field = drawer.sinks.scores
    type_over(qtbot, field, "x")
    qtbot.keyClick(field, Keys.Key_Tab)
    assert field.reason.isVisible() and field.text() == "x"
    field.setFocus()
    qtbot.keyClick(field, Keys.Key_Escape)
    assert field.text() == "0.5" and not field.reason.isVisible()
    assert document.experiment.scoring.sinks == (0.5,)


def test_another_way_to_write_the_same_is_no_step(window: MainWindow, qtbot: QtBot) -> None:
    drawer = scoring(window, qtbot)
    show(window, qtbot, scoring=Scoring(sinks=(0.5,)))
    for field, text, shown in ((drawer.sinks.scores, "0.50", "0.5"), (drawer.temperature.number, "1.0", "1")):
        type_over(qtbot, field, text)
        qtbot.keyClick(field, Keys.Key_Return)
        assert field.text() == shown
        assert not window.context.document.undo_stack.canUndo()
