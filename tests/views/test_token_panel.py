"""The token panel: typing, moving, inserting and deleting as a person does it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QFontMetrics, QGuiApplication
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QToolButton
from pytestqt.qtbot import QtBot

from attn_gui.control.notices import Kind, Notice
from attn_gui.model import edits, reshape
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import MaskRule, Padding
from attn_gui.model.masks.document import Document
from attn_gui.model.masks.tree import Tree
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.model.tokens import TokenSequence
from attn_gui.model.variant import Variant
from attn_gui.model.weights import Weights
from attn_gui.views import token_model
from attn_gui.views.cell_ranges import CellRange
from attn_gui.views.context import Context
from attn_gui.views.cut_text import LONGEST
from attn_gui.views.foot_scroll import FootScroll
from attn_gui.views.header_editor import HeaderEditor
from attn_gui.views.token_actions import TokenActions
from attn_gui.views.token_panel import TokenPanel
from attn_gui.views.token_table import TokenTable

TOO_LONG = "expected a name of at most 10,000 characters, received one of"
Keys, Modifier = Qt.Key, Qt.KeyboardModifier
ALT, CONTROL, SHIFT, NONE = (
    Modifier.AltModifier,
    Modifier.ControlModifier,
    Modifier.ShiftModifier,
    Modifier.NoModifier,
)


@pytest.fixture
def panel(context: Context, qtbot: QtBot) -> TokenPanel:
    made = TokenPanel(context)
    context.bands.set_count(5)
    context.document.changed.connect(lambda before, after: context.bands.set_count(after.experiment.n_q))
    made.resize(264, 460)
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    context.bands.set_height(made.table.viewport().height())
    made.activateWindow()
    made.table.setFocus()
    qtbot.waitUntil(made.table.hasFocus)
    return made


@pytest.fixture
def table(panel: TokenPanel) -> TokenTable:
    return panel.table


@pytest.fixture
def actions(panel: TokenPanel) -> TokenActions:
    return panel.actions_on_tokens


@pytest.fixture
def said(context: Context) -> list[Notice]:
    heard: list[Notice] = []
    context.notices.said.connect(heard.append)
    return heard


def press(qtbot: QtBot, key: Qt.Key, modifier: Qt.KeyboardModifier = NONE) -> None:
    widget = QApplication.focusWidget()
    assert widget is not None
    qtbot.keyClick(widget, key, modifier)


def write(qtbot: QtBot, text: str) -> None:
    for character in text:
        widget = QApplication.focusWidget()
        assert widget is not None
        qtbot.keyClicks(widget, character)


def names(context: Context) -> list[str]:
    return list(context.document.experiment.tokens.tokens)


def numbers(context: Context) -> list[list[float]]:
    return context.document.experiment.tokens.embeddings.array().tolist()


def undo(context: Context) -> None:
    context.document.undo_stack.undo()


# what is seen


def test_everything_of_karina_is_in_sight_without_scrolling(panel: TokenPanel, table: TokenTable) -> None:
    last = table.visualRect(table.tokens.index(4, 2))
    assert table.viewport().rect().contains(last)
    assert table.verticalScrollBar().maximum() == table.horizontalScrollBar().maximum() == 0
    bar = panel.findChild(FootScroll)
    assert isinstance(bar, FootScroll)
    assert not bar.isVisible()
    for column in range(3):
        text = table.tokens.index(0, column).data()
        assert table.columnWidth(column) >= table.fontMetrics().horizontalAdvance(text) + 16


def test_rows_stand_at_the_bands(table: TokenTable, context: Context) -> None:
    pitch = int(context.bands.pitch)
    assert [table.rowViewportPosition(row) for row in range(5)] == [row * pitch for row in range(5)]


def test_the_band_of_the_query_is_lit_over_the_whole_width(table: TokenTable, context: Context) -> None:
    context.selection.set_cell(3, 0)
    table.clearFocus()
    picture, pitch = table.viewport().grab().toImage(), int(context.bands.pitch)
    band, scale = context.look.theme.colour("band"), picture.devicePixelRatio()
    for row in range(5):
        for x in (2, table.viewport().width() - 2):
            pixel = picture.pixelColor(int(x * scale), int((row * pitch + 6) * scale))
            assert (pixel == band) is (row == 3)


def test_a_click_selects_the_query_and_leaves_the_key(table: TokenTable, context: Context, qtbot: QtBot) -> None:
    where = table.visualRect(table.tokens.index(4, 1)).center()
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert (context.selection.query, context.selection.key) == (4, 3)


def test_a_selection_made_elsewhere_moves_the_current_row(table: TokenTable, context: Context) -> None:
    table.go_to(0, 2)
    context.selection.set_cell(3, 1)
    assert (table.currentIndex().row(), table.currentIndex().column()) == (3, 2)
    assert context.selection.key == 1


def test_a_selection_made_elsewhere_does_not_lose_what_was_refused(
    table: TokenTable, context: Context, qtbot: QtBot
) -> None:
    table.go_to(1, 1)
    write(qtbot, "x")
    press(qtbot, Keys.Key_Return)
    context.selection.set_cell(4, 1)
    assert table.held
    assert table.editing is not None
    assert table.editing.text() == "x"


def test_named_dimensions_are_readable(table: TokenTable, context: Context) -> None:
    e = edits.rename_dimension(context.document.experiment, "tokens", 0, "animate beings")
    context.document.apply("name", e)
    assert table.columnWidth(1) >= table.fontMetrics().horizontalAdvance("animate beings") + 16
    assert table.columnWidth(2) < table.columnWidth(1)


def test_columns_grow_with_their_numbers(table: TokenTable, context: Context) -> None:
    before = table.columnWidth(1)
    context.document.apply("wide", edits.set_cells(context.document.experiment, "tokens", 0, 0, -123456.7891))
    needed = table.fontMetrics().horizontalAdvance("\u2212123456.7891") + 16
    assert before < needed <= table.columnWidth(1) == table.columnWidth(2)
    undo(context)
    assert table.columnWidth(1) == before


# typing and the clipboard


def test_typing_changes_the_experiment_as_one_step(table: TokenTable, context: Context, qtbot: QtBot) -> None:
    table.go_to(4, 1)
    write(qtbot, "0,75")
    press(qtbot, Keys.Key_Tab)
    assert numbers(context)[4] == [0.75, 1]
    assert table.currentIndex().column() == 2
    assert context.document.undo_stack.count() == 1
    undo(context)
    assert numbers(context)[4] == [0.5, 1]


def test_nan_is_refused_in_the_editor(table: TokenTable, context: Context, qtbot: QtBot) -> None:
    before = context.document.experiment
    table.go_to(2, 1)
    write(qtbot, "nan")
    press(qtbot, Keys.Key_Return)
    assert table.reason.isVisible()
    assert table.reason.text() == "'nan' is not a finite number"
    assert context.document.experiment is before
    press(qtbot, Keys.Key_Escape)
    assert table.tokens.index(2, 1).data() == "1.0"


def test_an_empty_name_is_refused_in_the_editor(table: TokenTable, context: Context, qtbot: QtBot) -> None:
    table.go_to(2, 0)
    press(qtbot, Keys.Key_F2)
    press(qtbot, Keys.Key_Backspace)
    press(qtbot, Keys.Key_Return)
    assert table.reason.text() == "a token needs a name"
    assert names(context)[2] == "to"
    write(qtbot, "into")
    press(qtbot, Keys.Key_Return)
    assert names(context)[2] == "into"


def test_a_block_from_a_spreadsheet(table: TokenTable, context: Context, qtbot: QtBot) -> None:
    QGuiApplication.clipboard().setText("Karina\t0,5\t1,25\r\nwas\t-2\t0,001\r\n")
    table.go_to(0, 0)
    press(qtbot, Keys.Key_V, CONTROL)
    assert names(context)[:2] == ["Karina", "was"]
    assert numbers(context)[:2] == [[0.5, 1.25], [-2, 0.001]]
    undo(context)
    assert names(context)[:2] == ["karina", "is"]
    assert numbers(context)[:2] == [[1, 0], [0, 1]]


def test_copy_and_paste_within_the_table_is_exact(table: TokenTable, context: Context, qtbot: QtBot) -> None:
    third = 1 / 3
    context.document.apply("third", edits.set_cells(context.document.experiment, "tokens", 0, 0, third))
    table.select_block(CellRange(0, 1, 0, 2))
    press(qtbot, Keys.Key_C, CONTROL)
    assert QGuiApplication.clipboard().text() == "0.3333333333333333\t0"
    table.go_to(3, 1)
    press(qtbot, Keys.Key_V, CONTROL)
    assert numbers(context)[3] == [third, 0]


def test_a_ragged_block_is_refused_whole(table: TokenTable, context: Context, qtbot: QtBot) -> None:
    before = context.document.experiment
    QGuiApplication.clipboard().setText("1\t2\n3")
    table.go_to(0, 1)
    press(qtbot, Keys.Key_V, CONTROL)
    assert context.document.experiment is before
    assert table.reason.text() == "row 2 of the block has 1 cell, row 1 has 2 cells"


def test_delete_clears_numbers_and_keeps_tokens(table: TokenTable, context: Context, qtbot: QtBot) -> None:
    table.select_block(CellRange(2, 1, 3, 2))
    press(qtbot, Keys.Key_Delete)
    assert numbers(context)[2:4] == [[0, 0], [0, 0]]
    assert len(names(context)) == 5


def test_padding_is_toggled_by_mouse_and_by_space(table: TokenTable, context: Context, qtbot: QtBot) -> None:
    context.document.apply("padding", replace(context.document.experiment, rule=Padding()))
    where = table.visualRect(table.tokens.index(4, 3)).center()
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert list(context.document.experiment.tokens.pad) == [False] * 4 + [True]
    table.go_to(0, 3)
    press(qtbot, Keys.Key_Space)
    assert context.document.experiment.tokens.pad[0]
    press(qtbot, Keys.Key_Space)
    assert not context.document.experiment.tokens.pad[0]
    undo(context)
    undo(context)
    undo(context)
    assert not context.document.experiment.tokens.pad.any()


@pytest.mark.parametrize("theme", ["light", "dark", "contrast"])
def test_a_mark_can_be_told_from_what_is_behind_it(table: TokenTable, context: Context, theme: str) -> None:
    context.settings.theme = theme
    e = edits.set_column(context.document.experiment, "tokens", "pad", [0], True)
    context.document.apply("padding", replace(e, rule=Padding()))
    for row, wanted in ((0, {"accent", "accent_text"}), (2, {"muted", "panel"})):
        picture = table.viewport().grab(table.visualRect(table.tokens.index(row, 3))).toImage()
        found = {picture.pixelColor(x, y).name() for x in range(picture.width()) for y in range(picture.height())}
        assert {getattr(context.look.theme, role) for role in wanted} <= found


def test_parents_are_typed_by_row_and_a_bad_one_stays_with_the_reason(
    table: TokenTable, context: Context, qtbot: QtBot
) -> None:
    assert not table.verticalHeader().isVisible()
    context.document.apply("tree", replace(context.document.experiment, rule=Tree()))
    assert table.verticalHeader().isVisible(), "rows have their numbers where a column names them"
    assert [table.tokens.headerData(row, Qt.Orientation.Vertical) for row in range(5)] == list("12345")
    table.go_to(1, 3)
    write(qtbot, "1")
    press(qtbot, Keys.Key_Return)
    assert list(context.document.experiment.tokens.column("parent")) == [-1, 0, -1, -1, -1]
    table.go_to(0, 3)
    write(qtbot, "2")
    press(qtbot, Keys.Key_Return)
    editor = table.editing
    assert editor is not None and editor.text() == "2"
    assert table.reason.isVisible() and table.reason.text() == (
        "expected a tree, received token 1 among its own ancestors"
    )
    assert context.document.experiment.tokens.column("parent")[0] == -1
    press(qtbot, Keys.Key_Escape)
    table.go_to(1, 3)
    press(qtbot, Keys.Key_Delete)
    assert context.document.experiment.tokens.column("parent")[1] == -1
    undo(context)
    context.document.apply("none", replace(context.document.experiment, rule=MaskRule()))
    assert not table.verticalHeader().isVisible()


def test_segments_are_filled_copied_and_pasted(table: TokenTable, context: Context, qtbot: QtBot) -> None:
    context.document.apply("document", replace(context.document.experiment, rule=Document()))
    table.go_to(3, 3)
    write(qtbot, "7")
    press(qtbot, Keys.Key_Return)
    table.select_block(CellRange(3, 3, 4, 3))
    press(qtbot, Keys.Key_D, CONTROL)
    assert list(context.document.experiment.tokens.column("segment")) == [0, 0, 0, 7, 7]
    press(qtbot, Keys.Key_C, CONTROL)
    assert QGuiApplication.clipboard().text().split() == ["7", "7"]
    table.go_to(0, 3)
    press(qtbot, Keys.Key_V, CONTROL)
    assert list(context.document.experiment.tokens.column("segment")) == [7, 7, 0, 7, 7]
    undo(context)
    undo(context)
    undo(context)
    assert not context.document.experiment.tokens.column("segment").any()


# tokens


def test_add_token_and_type_its_name(panel: TokenPanel, context: Context, qtbot: QtBot) -> None:
    button = next(b for b in panel.findChildren(QToolButton) if b.text() == "+ token")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert names(context)[-1] == "token6"
    assert numbers(context)[-1] == [0, 0]
    editor = panel.table.editing
    assert editor is not None
    assert editor.text() == "token6"
    assert editor.selectedText() == "token6"
    write(qtbot, "now")
    press(qtbot, Keys.Key_Tab)
    write(qtbot, "2")
    press(qtbot, Keys.Key_Return)
    assert names(context)[-1] == "now"
    assert numbers(context)[-1] == [2, 0]
    assert context.selection.query == 5


def test_a_new_name_is_not_one_that_is_there(actions: TokenActions, context: Context) -> None:
    context.document.apply("name", edits.rename_tokens(context.document.experiment, "tokens", [0], ["token6"]))
    actions.add_token.trigger()
    assert names(context)[-1] == "token7"


def test_insert_as_many_as_are_selected(
    table: TokenTable, actions: TokenActions, context: Context, qtbot: QtBot
) -> None:
    table.select_block(CellRange(1, 1, 2, 1))
    press(qtbot, Keys.Key_Plus, CONTROL | SHIFT)
    assert names(context) == ["karina", "token6", "token7", "is", "to", "the", "store"]
    assert context.document.undo_stack.undoText() == "Insert 2 tokens"
    undo(context)
    assert names(context) == ["karina", "is", "to", "the", "store"]
    table.select_block(CellRange(1, 1, 1, 1))
    actions.insert_below.trigger()
    assert names(context)[:3] == ["karina", "is", "token6"]


@pytest.mark.parametrize("width", [1, 2, 3, 12])
def test_the_pad_column_comes_into_sight_whole(
    panel: TokenPanel, table: TokenTable, context: Context, qtbot: QtBot, width: int
) -> None:
    names = ["incomprehensibilities", "b", "c", "d", "e"]
    e = Experiment.from_tokens(names, np.full((5, width), 0.5))
    context.document.apply("wide", e)
    panel.resize(1, 460)
    qtbot.waitUntil(lambda: panel.width() == panel.minimumWidth())
    context.document.apply("padding", replace(e, rule=Padding()))
    qtbot.waitUntil(lambda: panel.width() == panel.minimumWidth())
    header, pad = table.horizontalHeader(), width + 1
    sight = table.viewport().width()
    assert header.sectionViewportPosition(pad) + header.sectionSize(pad) <= sight
    if width <= 3:
        assert header.length() <= sight


def test_duplicate_with_numbers_and_padding(table: TokenTable, actions: TokenActions, context: Context) -> None:
    context.document.apply("pad", edits.set_column(context.document.experiment, "tokens", "pad", [4], True))
    table.select_block(CellRange(3, 1, 4, 1))
    actions.duplicate.trigger()
    assert names(context) == ["karina", "is", "to", "the", "store", "the", "store"]
    assert numbers(context)[5:] == [[1, 1], [0.5, 1]]
    assert list(context.document.experiment.tokens.pad) == [False] * 4 + [True, False, True]
    undo(context)
    assert len(names(context)) == 5


def test_copies_have_the_segment_and_the_parent_of_their_tokens(
    table: TokenTable, actions: TokenActions, context: Context
) -> None:
    e = edits.set_column(context.document.experiment, "tokens", "segment", [1, 2], [4, 5])
    e = edits.set_column(e, "tokens", "parent", [1, 2, 4], [0, 4, 1])
    context.document.apply("columns", e)
    table.select_block(CellRange(1, 1, 2, 1))
    actions.duplicate.trigger()
    tokens = context.document.experiment.tokens
    assert tokens.tokens == ("karina", "is", "to", "is", "to", "the", "store")
    assert list(tokens.column("segment")) == [0, 4, 5, 4, 5, 0, 0]
    assert list(tokens.column("parent")) == [-1, 0, 6, 0, 6, -1, 1], "the store stands two rows farther down"


def test_move_by_keys_with_the_selection(table: TokenTable, context: Context, qtbot: QtBot) -> None:
    table.select_block(CellRange(0, 1, 1, 2))
    press(qtbot, Keys.Key_Down, ALT)
    assert names(context) == ["to", "karina", "is", "the", "store"]
    assert numbers(context)[1:3] == [[1, 0], [0, 1]]
    assert table.selected == [CellRange(1, 1, 2, 2)]
    press(qtbot, Keys.Key_Up, ALT)
    assert names(context) == ["karina", "is", "to", "the", "store"]
    press(qtbot, Keys.Key_Up, ALT)  # already the first
    assert names(context) == ["karina", "is", "to", "the", "store"]
    assert context.document.undo_stack.count() == 2


@pytest.mark.parametrize("how", ["Ctrl+-", "Del on whole rows"])
def test_delete_tokens(table: TokenTable, context: Context, qtbot: QtBot, how: str) -> None:
    if how == "Ctrl+-":
        table.select_block(CellRange(1, 1, 2, 1))
        press(qtbot, Keys.Key_Minus, CONTROL)
    else:
        table.select_block(CellRange(1, 1, 2, 1))
        press(qtbot, Keys.Key_Space, SHIFT)
        press(qtbot, Keys.Key_Delete)
    assert names(context) == ["karina", "the", "store"]
    assert table.currentIndex().row() == 1
    undo(context)
    assert names(context) == ["karina", "is", "to", "the", "store"]
    assert numbers(context)[1] == [0, 1]


def test_all_tokens_cannot_be_deleted(table: TokenTable, context: Context, said: list[Notice], qtbot: QtBot) -> None:
    before = context.document.experiment
    table.selectAll()
    press(qtbot, Keys.Key_Delete)
    assert context.document.experiment is before
    assert context.document.undo_stack.count() == 0
    (notice,) = said
    assert notice.kind == Kind.ERROR
    assert notice.text.startswith("At least 1 token must be left")


def test_the_selection_stays_with_its_token(table: TokenTable, context: Context) -> None:
    table.go_to(3, 1)
    context.document.apply("insert", edits.insert_tokens(context.document.experiment, "tokens", 0, ["a", "b"]))
    assert (table.currentIndex().row(), context.selection.query) == (5, 5)
    undo(context)
    assert (table.currentIndex().row(), context.selection.query) == (3, 3)


def test_scroll_and_selection_survive_an_edit_far_away(table: TokenTable, context: Context) -> None:
    tokens = [f"t{i}" for i in range(400)]
    context.document.apply("long", Experiment.from_tokens(tokens, np.zeros((400, 2))))
    table.select_block(CellRange(200, 1, 205, 2))
    table.scrollTo(table.tokens.index(205, 1))
    at, selected = table.verticalScrollBar().value(), table.selected
    assert at > 0
    before = context.document.experiment
    context.document.apply("edit", edits.set_cells(before, "tokens", 0, 0, 2.0))
    context.document.apply("back", before)
    assert (table.verticalScrollBar().value(), table.selected) == (at, selected)


# dimensions


def test_add_a_dimension_to_identity_weights(actions: TokenActions, context: Context, said: list[Notice]) -> None:
    actions.add_dimension.trigger()
    assert numbers(context)[4] == [0.5, 1, 0]
    weights = context.document.experiment.weights
    assert weights is not None
    assert weights.W_Q.array().tolist() == np.eye(3).tolist()
    assert [notice.text for notice in said] == ["d_k is now 3, so scores are divided by √3."]
    actions.delete_dimensions.trigger()
    assert said[-1].text == "d_k is now 2, so scores are divided by √2."


def test_a_dimension_that_nothing_reads_is_told(
    actions: TokenActions, context: Context, said: list[Notice], table: TokenTable
) -> None:
    weights = Weights.of(np.ones((2, 2)), np.ones((2, 2)), np.ones((2, 2)))
    source = replace(context.document.experiment.source, weights=weights)
    context.document.apply("weights", replace(context.document.experiment, source=source))
    actions.add_dimension.trigger()
    (notice,) = said
    assert notice.kind == Kind.INFO
    assert notice.text.startswith("The rows of W_Q, W_K and W_V for x3 are 0")
    assert table.currentIndex().column() == 3
    context.document.apply("v", reshape.with_variant(context.document.experiment, Variant.CROSS))
    actions.add_dimension.trigger()
    assert said[1].text.startswith("The rows of W_Q for x4 are 0")


def test_insert_move_and_delete_dimensions(
    table: TokenTable, actions: TokenActions, context: Context, qtbot: QtBot
) -> None:
    table.go_to(4, 2)
    actions.insert_left.trigger()
    assert numbers(context)[4] == [0.5, 0, 1]
    assert table.currentIndex().column() == 2
    press(qtbot, Keys.Key_Left, ALT)
    assert numbers(context)[4] == [0, 0.5, 1]
    assert table.selected == [CellRange(4, 1, 4, 1)]
    press(qtbot, Keys.Key_Right, ALT)
    press(qtbot, Keys.Key_Right, ALT)
    assert numbers(context)[4] == [0.5, 1, 0]
    actions.delete_dimensions.trigger()
    assert numbers(context)[4] == [0.5, 1]
    table.go_to(0, 1)
    actions.insert_right.trigger()
    assert numbers(context)[4] == [0.5, 0, 1]
    for _ in range(6):
        undo(context)
    assert numbers(context)[4] == [0.5, 1]
    assert context.document.undo_stack.index() == 0


def test_all_dimensions_cannot_be_deleted(
    table: TokenTable, actions: TokenActions, context: Context, said: list[Notice]
) -> None:
    before = context.document.experiment
    table.select_block(CellRange(0, 1, 0, 2))
    actions.delete_dimensions.trigger()
    assert context.document.experiment is before
    assert said[0].text == "At least 1 dimension must be left."


def test_rename_by_double_click_on_the_header(table: TokenTable, context: Context, qtbot: QtBot) -> None:
    header = table.horizontalHeader()
    editor = header.findChild(HeaderEditor)
    assert isinstance(editor, HeaderEditor)

    def double_click(section: int) -> None:
        where = QPoint(header.sectionViewportPosition(section) + 20, header.height() // 2)
        qtbot.mousePress(header.viewport(), Qt.MouseButton.LeftButton, pos=where)
        qtbot.mouseDClick(header.viewport(), Qt.MouseButton.LeftButton, pos=where)

    double_click(1)
    assert editor.isVisible()
    assert editor.hasFocus()
    write(qtbot, "noun")
    press(qtbot, Keys.Key_Return)
    assert not editor.isVisible()
    assert table.hasFocus()
    assert context.document.experiment.tokens.dimensions == ("noun", None)
    assert context.document.undo_stack.undoText() == "Rename x1"
    double_click(1)
    assert editor.text() == "noun"
    write(qtbot, "verb")
    press(qtbot, Keys.Key_Escape)
    assert context.document.experiment.tokens.dimensions == ("noun", None)
    double_click(1)
    press(qtbot, Keys.Key_Backspace)
    press(qtbot, Keys.Key_Return)
    assert context.document.experiment.tokens.dimensions == (None, None)
    assert table.tokens.headerData(1, Qt.Orientation.Horizontal) == "x1"
    double_click(0)  # the tokens' own column has no name to change
    assert not editor.isVisible()


def test_rename_by_action_and_leaving_the_line(table: TokenTable, actions: TokenActions, context: Context) -> None:
    table.go_to(0, 2)
    actions.rename.trigger()
    editor = table.horizontalHeader().findChild(HeaderEditor)
    assert isinstance(editor, HeaderEditor)
    assert editor.isVisible()
    editor.setText("x2")  # what it is called anyway
    table.setFocus()
    assert context.document.undo_stack.count() == 0
    actions.rename.trigger()
    editor.setText("verb")
    table.setFocus()
    assert not editor.isVisible()
    assert context.document.experiment.tokens.dimensions == (None, "verb")


# what can be done, and why not


def enabled(actions: TokenActions) -> set[str]:
    every = [*actions.for_tokens(), *actions.for_dimensions()]
    return {action.text().replace("&", "") for action in every if action.isEnabled()}


def test_actions_follow_the_selection(table: TokenTable, actions: TokenActions) -> None:
    table.go_to(0, 0)
    assert not actions.move_up.isEnabled()
    assert actions.move_up.statusTip() == "They are the first"
    assert actions.move_down.isEnabled()
    assert actions.insert_left.statusTip() == "Select a cell of a dimension first"
    assert not actions.insert_left.isEnabled()
    table.go_to(4, 2)
    assert actions.insert_left.isEnabled()
    assert actions.insert_left.statusTip() == "New dimensions left of the selected"
    assert not actions.move_down.isEnabled()
    assert not actions.move_right.isEnabled()
    select = table.selectionModel()
    select.select(table.tokens.index(0, 2), select.SelectionFlag.Select)
    assert actions.move_up.statusTip() == "Select tokens that stand together"
    table.clearSelection()
    assert enabled(actions) >= {"Add token", "Add dimension"}
    assert actions.delete_tokens.statusTip() == "Select a token first"


def test_given_q_k_v_have_no_dimensions_to_change(
    panel: TokenPanel, table: TokenTable, actions: TokenActions, context: Context
) -> None:
    e = Experiment.from_qkv(np.ones((3, 2)), np.ones((3, 2)), np.ones((3, 2)), tokens=list("abc"))
    context.document.apply("given", e)
    table.go_to(1, 0)
    for action in actions.for_dimensions():
        assert not action.isEnabled()
        assert action.statusTip() == "Q, K and V were given: there are no embeddings"
    assert not panel.text_to_tokens.isEnabled()
    actions.insert_above.trigger()
    assert names(context) == ["a", "token4", "b", "c"]
    assert not actions.duplicate.isEnabled()


def test_every_action_is_in_a_menu_and_in_the_context_menu(panel: TokenPanel, table: TokenTable) -> None:
    listed: list[QAction] = []
    for action in panel.actions_for_menu():
        if action is not None:
            menu = action.menu()
            listed += menu.actions() if isinstance(menu, QMenu) else [action]
    every = [*panel.actions_on_tokens.for_tokens(), *panel.actions_on_tokens.for_dimensions(), panel.text_to_tokens]
    assert set(every) <= set(listed)
    assert all(action.text() and action.statusTip() for action in listed)
    table.open_menu(QPoint(0, 0))
    menu = table.findChild(QMenu)
    assert isinstance(menu, QMenu)
    offered = set(menu.actions())
    assert offered >= set(every) - {panel.actions_on_tokens.add_token, panel.actions_on_tokens.add_dimension}
    assert table.blocks.paste_action in offered
    menu.close()


def test_a_right_click_on_a_header_selects_its_column(table: TokenTable, qtbot: QtBot) -> None:
    header = table.horizontalHeader()
    header.customContextMenuRequested.emit(QPoint(header.sectionViewportPosition(2) + 4, 4))
    menu = table.findChild(QMenu)
    assert isinstance(menu, QMenu)
    assert table.selected == [CellRange(0, 2, 4, 2)]
    menu.close()


def test_a_click_on_a_header_selects_its_column(table: TokenTable, qtbot: QtBot) -> None:
    header = table.horizontalHeader()
    where = QPoint(header.sectionViewportPosition(1) + 20, header.height() // 2)
    qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert table.selected == [CellRange(0, 1, 4, 1)]


def test_edit_actions_work_on_the_table_with_the_focus(
    panel: TokenPanel, table: TokenTable, context: Context, qtbot: QtBot
) -> None:
    by_text = {action.text(): action for action in panel.edit_actions.actions() if action is not None}
    table.go_to(4, 1)
    assert all(action.isEnabled() for action in by_text.values())
    by_text["&Copy"].trigger()
    assert QGuiApplication.clipboard().text() == "0.5"
    by_text["C&lear"].trigger()
    assert numbers(context)[4] == [0, 1]
    other = QLineEdit(panel)
    other.show()
    other.setFocus()
    assert not any(action.isEnabled() for action in by_text.values())
    by_text["C&lear"].trigger()
    assert numbers(context)[4] == [0, 1]


# cross-attention


def test_two_tables_in_cross_attention(panel: TokenPanel, context: Context, qtbot: QtBot) -> None:
    assert not panel.switch.isVisible()
    context.document.apply("v", reshape.with_variant(context.document.experiment, Variant.CROSS))
    assert panel.switch.isVisible()
    assert panel.side == "tokens"
    qtbot.mouseClick(panel.switch.button("context"), Qt.MouseButton.LeftButton)
    assert panel.side == "context"
    assert panel.table.isVisible()
    assert not panel.tables["tokens"].isVisible()
    for value in ("tokens", "context"):
        button = panel.switch.button(value)
        qtbot.waitUntil(lambda b=button: b.width() >= b.sizeHint().width())  # room for the whole text
    panel.table.go_to(2, 1)
    assert (context.selection.query, context.selection.key) == (1, 2)
    context.selection.set_cell(1, 4)
    assert panel.table.currentIndex().row() == 4
    panel.table.setFocus()
    write(qtbot, "7")
    press(qtbot, Keys.Key_Return)
    assert context.document.experiment.context is not None
    assert context.document.experiment.context.embeddings[4, 0] == 7
    assert numbers(context)[4] == [0.5, 1]
    panel.actions_on_tokens.add_token.trigger()
    assert len(context.document.experiment.context) == 6
    assert len(names(context)) == 5
    panel.actions_on_tokens.add_dimension.trigger()
    assert context.document.experiment.context.width == 3
    assert context.document.experiment.d_model == 2
    context.document.undo_stack.setIndex(0)
    assert panel.side == "tokens"
    assert not panel.switch.isVisible()


def test_context_rows_are_not_bands(panel: TokenPanel, context: Context) -> None:
    e = reshape.with_variant(context.document.experiment, Variant.CROSS)
    sequence = TokenSequence.of([f"k{i}" for i in range(30)], np.zeros((30, 2)))
    context.document.apply("v", reshape.with_sequence(e, "context", sequence))
    panel.show_side("context")
    height = panel.table.rowHeight(0)
    context.bands.set_height(200)
    assert panel.table.rowHeight(0) == height
    assert panel.table.verticalScrollBar().maximum() > 0


def test_a_long_table_paints_only_what_is_in_sight(
    table: TokenTable, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    n = 20_000
    context.document.apply("long", Experiment.from_tokens(("t",) * n, np.zeros((n, 2))))
    written: list[float] = []
    original = token_model.shown

    def counted(value: float, decimals: int) -> str:
        written.append(value)
        return original(value, decimals)

    monkeypatch.setattr(token_model, "shown", counted)
    for row in (0, n - 1):
        written.clear()
        context.document.apply("edit", edits.set_cells(context.document.experiment, "tokens", row, 0, 1.0))
        table.viewport().grab()
        assert 10 < len(written) < 80


@pytest.mark.parametrize("theme", ["light", "dark", "contrast"])
def test_numbers_can_be_read_in_every_theme(table: TokenTable, context: Context, theme: str) -> None:
    context.settings.theme = theme
    picture = table.viewport().grab(table.visualRect(table.tokens.index(0, 1))).toImage()
    found = {picture.pixelColor(x, y).name() for x in range(picture.width()) for y in range(picture.height())}
    assert context.look.theme.text in found
    assert context.look.theme.panel in found


@pytest.mark.parametrize("theme", ["light", "dark", "contrast"])
def test_the_buttons_show_their_whole_text_in_the_narrowest_panel(
    panel: TokenPanel, context: Context, theme: str
) -> None:
    context.settings.theme = theme
    panel.resize(panel.minimumWidth(), 460)
    panel.grab()
    buttons = [b for b in panel.findChildren(QToolButton) if b.text() in ("+ token", "+ dim", "Text…")]
    assert len(buttons) == 3
    for button in buttons:
        assert button.width() >= button.sizeHint().width()
        assert button.sizeHint().width() >= button.fontMetrics().horizontalAdvance(button.text()) + 8


def test_apply_needs_no_trace(panel: TokenPanel, context: Context, wait_traced: Callable[[], None]) -> None:
    assert context.feed.trace is None
    panel.table.tokens.setData(panel.table.tokens.index(0, 1), "2")
    context.document.start()
    wait_traced()
    assert context.feed.trace is not None
    assert context.feed.trace.stage("X")[0, 0] == 2


def test_undo_and_redo_show_what_they_change(panel: TokenPanel, table: TokenTable, context: Context) -> None:
    stack = context.document.undo_stack
    context.document.apply("Set", edits.set_cells(context.document.experiment, "tokens", 3, 1, 5.0))
    context.document.apply("Name", edits.rename_tokens(context.document.experiment, "tokens", [0], ["other"]))
    table.go_to(4, 0)
    stack.undo()
    assert table.selected == [CellRange(0, 0, 0, 0)]
    stack.undo()
    assert table.selected == [CellRange(3, 2, 3, 2)]
    assert context.selection.query == 3
    table.go_to(0, 0)
    stack.redo()
    assert table.selected == [CellRange(3, 2, 3, 2)]


def test_undo_scrolls_to_what_it_changes(panel: TokenPanel, table: TokenTable, context: Context) -> None:
    many = Experiment.from_tokens([f"t{i}" for i in range(300)], np.zeros((300, 40)))
    context.document.open(Session((NamedExperiment("many", many),)), None)
    context.document.apply("Set", edits.set_cells(many, "tokens", 280, 38, 5.0))
    table.go_to(0, 0)
    context.document.undo_stack.undo()
    place = table.visualRect(table.tokens.index(280, 39))
    assert table.viewport().rect().contains(place.center())


def test_undo_brings_the_table_that_it_changes_into_sight(panel: TokenPanel, context: Context) -> None:
    context.document.apply("v", reshape.with_variant(context.document.experiment, Variant.CROSS))
    context.document.apply("Set", edits.set_cells(context.document.experiment, "context", 1, 0, 5.0))
    assert panel.side == "tokens"
    context.document.undo_stack.undo()
    assert panel.side == "context"
    assert panel.table.selected == [CellRange(1, 1, 1, 1)]


# names of any length


@pytest.mark.parametrize("blank", [False, True])
def test_a_very_long_name_takes_no_longer_than_a_short_one(
    blank: bool, window_measured: list[int], table: TokenTable, context: Context
) -> None:
    name = " " * 10_000 if blank else "lorem " * 1_600
    e = edits.rename_tokens(context.document.experiment, "tokens", [0, 1], [name, name])
    context.document.apply("name", edits.rename_dimension(e, "tokens", 0, name))
    table.grab()
    assert 9 < max(window_measured) <= LONGEST


@pytest.fixture
def window_measured(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How long the texts were that a table or a strip of labels had measured."""
    lengths: list[int] = [0]
    measure, elide = QFontMetrics.horizontalAdvance, QFontMetrics.elidedText

    def measured(metrics: QFontMetrics, text: str, *more: object) -> int:
        lengths.append(len(text))
        return measure(metrics, text, *more)

    def elided(metrics: QFontMetrics, text: str, *more: object) -> str:
        lengths.append(len(text))
        return elide(metrics, text, *more)

    monkeypatch.setattr(QFontMetrics, "horizontalAdvance", measured)
    monkeypatch.setattr(QFontMetrics, "elidedText", elided)
    return lengths


def test_a_name_that_is_too_long_is_refused_at_its_place(table: TokenTable, context: Context, qtbot: QtBot) -> None:
    before = context.document.experiment
    table.go_to(1, 0)
    QGuiApplication.clipboard().setText("x" * 1_000_000)
    table.blocks.paste()
    assert table.reason.text() == f"token 2: {TOO_LONG} 1,000,000"
    table.rename_dimension(2)
    editor = table.horizontalHeader().findChild(HeaderEditor)
    assert editor is not None
    editor.setText("x" * 20_000)
    qtbot.keyClick(editor, Keys.Key_Return)
    assert table.reason.text() == f"dimension 2: {TOO_LONG} 20,000"
    # what was typed is not lost
    assert editor.isVisible()
    assert len(editor.text()) == 20_000
    assert context.document.experiment is before
    editor.setText("short")
    qtbot.keyClick(editor, Keys.Key_Return)
    assert not table.reason.isVisible()
    assert context.document.experiment.tokens.dimensions[1] == "short"


def test_when_the_columns_of_a_mask_go_the_names_are_in_sight_again(context: Context, qtbot: QtBot) -> None:
    random = np.random.default_rng(0)
    context.document.apply("wide", Experiment.from_tokens("abcd", random.normal(size=(4, 30))))
    panel = TokenPanel(context)
    qtbot.addWidget(panel)
    panel.resize(300, 300)
    panel.show()
    qtbot.waitExposed(panel)
    bar = panel.table.horizontalScrollBar()
    e = context.document.experiment
    for before in (0, 120):
        bar.setValue(before)
        context.document.apply("mask", replace(e, rule=Padding()))
        assert bar.value() == bar.maximum() > before
        context.document.apply("mask", e)
        assert bar.value() == before
