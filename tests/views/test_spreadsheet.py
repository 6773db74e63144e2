"""SpreadsheetView on a small model of numbers with one column of text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QVBoxLayout, QWidget
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from attn_gui.model.masks import Causal
from attn_gui.model.precision import Precision
from attn_gui.views.array_model import ArrayModel
from attn_gui.views.cell_ranges import CellRange
from attn_gui.views.clipboard import Block, read_numbers
from attn_gui.views.context import Context
from attn_gui.views.grid import COMPUTED, NOWHERE, GridModel, Index
from attn_gui.views.spreadsheet import SpreadsheetView

Keys = Qt.Key


class Numbers(GridModel):
    """Column 0 holds names, the others numbers."""

    grows = True

    def __init__(self, rows: int = 4, columns: int = 4) -> None:
        super().__init__()
        self.names = [f"n{row}" for row in range(rows)]
        self.values = np.arange(rows * (columns - 1), dtype=float).reshape(rows, columns - 1) / 8
        self.labels: list[str] = []

    def rowCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.names)

    def columnCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else self.values.shape[1] + 1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role not in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return None
        if index.column() == 0:
            return self.names[index.row()]
        value = float(self.values[index.row(), index.column() - 1])
        return f"{value:.1f}" if role == Qt.ItemDataRole.DisplayRole else repr(value)

    def cleared(self, column: int) -> str | None:
        return "0" if column else None

    def write(self, row: int, column: int, block: Block, label: str) -> None:
        numbers = read_numbers([[None if column + c == 0 else cell for c, cell in enumerate(line)] for line in block])
        for r, line in enumerate(block):
            for c, cell in enumerate(line):
                if cell is not None and column + c == 0:
                    self.names[row + r] = cell
                elif cell is not None:
                    self.values[row + r, column + c - 1] = numbers[r][c]
        self.labels.append(label)
        self.dataChanged.emit(self.index(0, 0), self.index(self.rowCount() - 1, self.columnCount() - 1))


@pytest.fixture
def model() -> Numbers:
    return Numbers()


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    return made


@pytest.fixture
def view(context: Context, model: Numbers, window: QWidget, qtbot: QtBot) -> SpreadsheetView:
    made = SpreadsheetView(context)
    made.setModel(model)
    layout = QVBoxLayout(window)
    layout.addWidget(QLineEdit(objectName="before"))
    layout.addWidget(made)
    layout.addWidget(QLineEdit(objectName="after"))
    window.resize(600, 400)
    with qtbot.waitExposed(window):
        window.show()
    window.activateWindow()
    made.setFocus()
    qtbot.waitUntil(made.hasFocus)
    return made


def at(view: SpreadsheetView, row: int, column: int) -> None:
    view.go_to(row, column)


def where(view: SpreadsheetView) -> tuple[int, int]:
    return view.currentIndex().row(), view.currentIndex().column()


def keys(qtbot: QtBot, *pressed: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    for key in pressed:
        widget = QApplication.focusWidget()
        assert widget is not None
        qtbot.keyClick(widget, key, modifier)


def typed(qtbot: QtBot, text: str) -> None:
    for character in text:
        widget = QApplication.focusWidget()
        assert widget is not None
        qtbot.keyClicks(widget, character)


def clip(text: str) -> None:
    QGuiApplication.clipboard().setText(text)


def clipped() -> str:
    return QGuiApplication.clipboard().text()


def test_the_model_is_a_model(model: Numbers, qtmodeltester: ModelTester) -> None:
    qtmodeltester.check(model)


def test_typing_replaces_and_enter_goes_down(view: SpreadsheetView, model: Numbers, qtbot: QtBot) -> None:
    at(view, 1, 1)
    typed(qtbot, "2.5")
    keys(qtbot, Keys.Key_Return)
    assert model.values[1, 0] == 2.5
    assert where(view) == (2, 1)
    assert view.editing is None
    assert view.hasFocus()


def test_shift_enter_goes_up_and_tab_right(view: SpreadsheetView, model: Numbers, qtbot: QtBot) -> None:
    at(view, 2, 1)
    typed(qtbot, "7")
    keys(qtbot, Keys.Key_Return, modifier=Qt.KeyboardModifier.ShiftModifier)
    assert where(view) == (1, 1)
    typed(qtbot, "8")
    keys(qtbot, Keys.Key_Tab)
    assert where(view) == (1, 2)
    typed(qtbot, "9")
    keys(qtbot, Keys.Key_Backtab, modifier=Qt.KeyboardModifier.ShiftModifier)
    assert where(view) == (1, 1)
    assert model.values[2, 0] == 7
    assert list(model.values[1, :2]) == [8, 9]


def test_enter_after_tabs_returns_to_their_column(view: SpreadsheetView, qtbot: QtBot) -> None:
    at(view, 0, 1)
    typed(qtbot, "1")
    keys(qtbot, Keys.Key_Tab)
    typed(qtbot, "2")
    keys(qtbot, Keys.Key_Tab)
    typed(qtbot, "3")
    keys(qtbot, Keys.Key_Return)
    assert where(view) == (1, 1)


def test_tab_wraps_and_leaves_at_the_end(view: SpreadsheetView, qtbot: QtBot) -> None:
    at(view, 0, 3)
    keys(qtbot, Keys.Key_Tab)
    assert where(view) == (1, 0)
    at(view, 3, 3)
    keys(qtbot, Keys.Key_Tab)
    assert QApplication.focusWidget().objectName() == "after"  # type: ignore[union-attr]
    view.setFocus()
    at(view, 0, 0)
    keys(qtbot, Keys.Key_Backtab, modifier=Qt.KeyboardModifier.ShiftModifier)
    assert QApplication.focusWidget().objectName() == "before"  # type: ignore[union-attr]


def test_f2_edits_what_is_there_in_full_precision(view: SpreadsheetView, model: Numbers, qtbot: QtBot) -> None:
    at(view, 0, 2)
    keys(qtbot, Keys.Key_F2)
    assert view.editing is not None
    assert view.editing.text() == "0.125"  # shown as 0.1
    keys(qtbot, Keys.Key_End)
    typed(qtbot, "5")
    keys(qtbot, Keys.Key_Left)  # with F2 the arrow moves in the text
    assert view.editing is not None
    keys(qtbot, Keys.Key_Return)
    assert model.values[0, 1] == 0.1255


def test_an_arrow_ends_an_edit_that_typing_began(view: SpreadsheetView, model: Numbers, qtbot: QtBot) -> None:
    at(view, 1, 2)
    typed(qtbot, "4")
    keys(qtbot, Keys.Key_Left)
    assert model.values[1, 1] == 4
    assert where(view) == (1, 1)


def test_escape_keeps_the_old_value(view: SpreadsheetView, model: Numbers, qtbot: QtBot) -> None:
    at(view, 1, 1)
    typed(qtbot, "99")
    keys(qtbot, Keys.Key_Escape)
    assert model.values[1, 0] == 3 / 8
    assert view.editing is None
    assert model.labels == []


def test_an_edit_that_changes_nothing_writes_nothing(view: SpreadsheetView, model: Numbers, qtbot: QtBot) -> None:
    at(view, 1, 1)
    keys(qtbot, Keys.Key_F2, Keys.Key_Return)
    assert model.labels == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("abc", "'abc' is not a number"),
        ("nan", "'nan' is not a finite number"),
        ("-inf", "'-inf' is not a finite number"),
        ("", "a number is missing"),
        ("1,234", "'1,234' could be 1.234 or 1234"),
        ("1e999", "'1e999' is too large for a number"),
    ],
)
def test_a_bad_number_stays_in_the_editor(
    view: SpreadsheetView, model: Numbers, qtbot: QtBot, text: str, reason: str
) -> None:
    before = model.values.copy()
    at(view, 1, 1)
    keys(qtbot, Keys.Key_F2)
    assert view.editing is not None
    view.editing.selectAll()
    keys(qtbot, Keys.Key_Delete)
    typed(qtbot, text)
    keys(qtbot, Keys.Key_Return)
    editor = view.editing
    assert editor is not None
    assert editor.text() == text
    assert editor.hasFocus()
    assert view.reason.isVisible()
    assert view.reason.text() == reason
    assert editor.accessibleDescription() == reason
    assert view.reason.geometry().top() > view.place_of(view.currentIndex()).bottom()
    np.testing.assert_array_equal(model.values, before)
    editor.selectAll()
    typed(qtbot, "0,5")
    assert not view.reason.isVisible()
    assert editor.accessibleDescription() == ""
    keys(qtbot, Keys.Key_Return)
    assert model.values[1, 0] == 0.5


def test_a_click_elsewhere_does_not_lose_what_was_refused(view: SpreadsheetView, model: Numbers, qtbot: QtBot) -> None:
    at(view, 1, 1)
    typed(qtbot, "abc")
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(model.index(3, 2)).center())
    assert view.held
    assert view.editing is not None
    assert view.editing.text() == "abc"
    assert view.editing.hasFocus()
    assert where(view) == (1, 1)
    keys(qtbot, Keys.Key_Escape)
    assert not view.held
    assert not view.reason.isVisible()
    assert model.values[1, 0] == 3 / 8


def test_leaving_for_another_control_takes_a_good_number(view: SpreadsheetView, model: Numbers, qtbot: QtBot) -> None:
    at(view, 1, 1)
    typed(qtbot, "6")
    other = view.window().findChild(QLineEdit, "after")
    assert isinstance(other, QLineEdit)
    other.setFocus()
    assert model.values[1, 0] == 6
    assert view.editing is None


def test_a_bad_number_waits_while_another_control_has_the_focus(view: SpreadsheetView, qtbot: QtBot) -> None:
    at(view, 1, 1)
    typed(qtbot, "6x")
    other = view.window().findChild(QLineEdit, "after")
    assert isinstance(other, QLineEdit)
    other.setFocus()
    assert view.held
    assert view.reason.text() == "'6x' is not a number"


def test_the_reason_stands_above_in_the_last_row(view: SpreadsheetView, model: Numbers, qtbot: QtBot) -> None:
    view.setFixedHeight(view.horizontalHeader().height() + 4 * view.rowHeight(0) + 4)
    at(view, 3, 1)
    typed(qtbot, "abc")
    keys(qtbot, Keys.Key_Return)
    assert view.reason.geometry().bottom() < view.place_of(model.index(3, 1)).top()
    assert view.rect().contains(view.reason.geometry())


def test_a_letter_begins_an_edit_before_it_is_a_shortcut(view: SpreadsheetView) -> None:
    at(view, 1, 1)
    for key, modifier, text, taken in (
        (Keys.Key_P, Qt.KeyboardModifier.NoModifier, "p", True),
        (Keys.Key_P, Qt.KeyboardModifier.ControlModifier, "\x10", False),
        (Keys.Key_F5, Qt.KeyboardModifier.NoModifier, "", False),
    ):
        event = QKeyEvent(QKeyEvent.Type.ShortcutOverride, key, modifier, text)
        event.ignore()
        QApplication.sendEvent(view, event)
        assert event.isAccepted() is taken, text


def test_copy_is_tab_separated_and_never_rounded(view: SpreadsheetView) -> None:
    view.select_block(CellRange(0, 0, 1, 2))
    view.blocks.copy_action.trigger()
    assert clipped() == "n0\t0.0\t0.125\nn1\t0.375\t0.5"


def test_copy_of_scattered_cells_keeps_their_places(view: SpreadsheetView, model: Numbers) -> None:
    select = view.selectionModel()
    flags = select.SelectionFlag
    select.select(model.index(0, 1), flags.ClearAndSelect)
    select.select(model.index(2, 3), flags.Select)
    view.blocks.copy_action.trigger()
    assert clipped() == "0.0\t\n\t1.0"


def test_cut_copies_and_clears_to_0(view: SpreadsheetView, model: Numbers) -> None:
    view.select_block(CellRange(1, 1, 1, 2))
    view.blocks.cut_action.trigger()
    assert clipped() == "0.375\t0.5"
    assert list(model.values[1]) == [0, 0, 0.625]
    assert model.labels == ["Cut"]


def test_paste_of_a_block_with_decimal_commas(view: SpreadsheetView, model: Numbers) -> None:
    clip("1,5\t1,234\r\n-0,25\t3\r\n")  # as a German Excel writes it
    at(view, 1, 2)
    view.blocks.paste_action.trigger()
    assert model.values[1:3, 1:].tolist() == [[1.5, 1.234], [-0.25, 3]]
    assert view.selected == [CellRange(1, 2, 2, 3)]
    assert model.labels == ["Paste"]


def test_one_value_fills_the_selection(view: SpreadsheetView, model: Numbers) -> None:
    clip("4")
    view.select_block(CellRange(0, 1, 2, 2))
    view.blocks.paste_action.trigger()
    assert (model.values[:3, :2] == 4).all()
    assert (model.values[3] == [9 / 8, 10 / 8, 11 / 8]).all()
    assert (model.values[:3, 2] == [2 / 8, 5 / 8, 1]).all()


def test_a_line_tiles_a_selection_it_divides(view: SpreadsheetView, model: Numbers) -> None:
    clip("1\t2")
    view.select_block(CellRange(0, 1, 3, 2))
    view.blocks.paste_action.trigger()
    assert (model.values[:, :2] == [1, 2]).all()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1\t2\n3", "row 2 of the block has 1 cell, row 1 has 2 cells"),
        ("1\t2\n3\tabc", "row 2, column 3: 'abc' is not a number"),
        ("1\t2\n3\tnan", "row 2, column 3: 'nan' is not a finite number"),
        ("1\t2\n3\t", "row 2, column 3: a number is missing"),
        ("1\t2\n1,234\t2", "row 2, column 2: '1,234' could be 1.234 or 1234"),
        (
            "1\t2\t3\t4",
            "The block has 4 columns and only 3 from column 2 on: add 1 or choose another place",
        ),
        (
            "1\n2\n3\n4\n5",
            "The block has 5 rows and only 4 from row 1 on: add 1 or choose another place",
        ),
    ],
)
def test_a_block_is_refused_whole_with_the_reason(
    view: SpreadsheetView, model: Numbers, text: str, reason: str
) -> None:
    before = model.values.copy()
    clip(text)
    at(view, 0, 1)
    view.blocks.paste_action.trigger()
    np.testing.assert_array_equal(model.values, before)
    assert model.labels == []
    assert view.reason.isVisible()
    assert view.reason.text() == reason


def test_a_refusal_goes_with_the_next_key(view: SpreadsheetView, qtbot: QtBot) -> None:
    clip("x")
    at(view, 0, 1)
    view.blocks.paste_action.trigger()
    assert view.reason.isVisible()
    keys(qtbot, Keys.Key_Down)
    assert not view.reason.isVisible()


def test_fill_down_and_right(view: SpreadsheetView, model: Numbers) -> None:
    view.select_block(CellRange(1, 1, 3, 2))
    view.blocks.fill_down_action.trigger()
    assert model.values[:, :2].tolist() == [[0, 0.125], [0.375, 0.5], [0.375, 0.5], [0.375, 0.5]]
    view.select_block(CellRange(0, 2, 1, 3))
    view.blocks.fill_right_action.trigger()
    assert model.values[:2].tolist() == [[0, 0.125, 0.125], [0.375, 0.5, 0.5]]
    assert model.labels == ["Fill down", "Fill right"]


def test_fill_of_one_cell_takes_its_neighbour(view: SpreadsheetView, model: Numbers) -> None:
    at(view, 1, 2)
    view.blocks.fill_down_action.trigger()
    assert model.values[1, 1] == 0.125
    at(view, 1, 2)
    view.blocks.fill_right_action.trigger()
    assert model.values[1, 1] == 0.375


def test_delete_clears_numbers_and_leaves_names(view: SpreadsheetView, model: Numbers, qtbot: QtBot) -> None:
    view.select_block(CellRange(0, 0, 1, 1))
    keys(qtbot, Keys.Key_Delete)
    assert model.names[:2] == ["n0", "n1"]
    assert list(model.values[:2, 0]) == [0, 0]
    assert model.labels == ["Clear"]


def test_scattered_cells_are_cleared_in_one_step(view: SpreadsheetView, model: Numbers, qtbot: QtBot) -> None:
    select = view.selectionModel()
    select.select(model.index(1, 1), select.SelectionFlag.ClearAndSelect)
    select.select(model.index(3, 3), select.SelectionFlag.Select)
    before = model.values.copy()
    keys(qtbot, Keys.Key_Delete)
    before[1, 0] = before[3, 2] = 0
    np.testing.assert_array_equal(model.values, before)
    assert model.labels == ["Clear"]


def test_keys_for_the_clipboard(view: SpreadsheetView, model: Numbers, qtbot: QtBot) -> None:
    control = Qt.KeyboardModifier.ControlModifier
    at(view, 0, 2)
    keys(qtbot, Keys.Key_C, modifier=control)
    at(view, 2, 1)
    keys(qtbot, Keys.Key_V, modifier=control)
    assert model.values[2, 0] == 0.125
    keys(qtbot, Keys.Key_D, modifier=control)
    assert model.values[2, 0] == 0.375
    keys(qtbot, Keys.Key_R, modifier=control)
    assert model.labels == ["Paste", "Fill down"]  # a name is not a number: refused
    assert view.reason.text() == "'n2' is not a number"


def test_arrows_with_control_go_to_the_edge(view: SpreadsheetView, qtbot: QtBot) -> None:
    control, shift = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
    at(view, 1, 1)
    keys(qtbot, Keys.Key_Right, modifier=control)
    assert where(view) == (1, 3)
    assert view.selected == [CellRange(1, 3, 1, 3)]
    keys(qtbot, Keys.Key_Down, modifier=control | shift)
    assert view.selected == [CellRange(1, 3, 3, 3)]


def test_space_selects_whole_rows_and_columns(view: SpreadsheetView, qtbot: QtBot) -> None:
    view.select_block(CellRange(1, 1, 2, 1))
    keys(qtbot, Keys.Key_Space, modifier=Qt.KeyboardModifier.ShiftModifier)
    assert view.selected == [CellRange(1, 0, 2, 3)]
    at(view, 0, 2)
    keys(qtbot, Keys.Key_Space, modifier=Qt.KeyboardModifier.ControlModifier)
    assert view.selected == [CellRange(0, 2, 3, 2)]


def test_the_context_menu_has_the_same_actions(view: SpreadsheetView, qtbot: QtBot) -> None:
    from PySide6.QtGui import QContextMenuEvent
    from PySide6.QtWidgets import QMenu

    pos = QPoint(40, 40)
    QApplication.sendEvent(
        view.viewport(), QContextMenuEvent(QContextMenuEvent.Reason.Mouse, pos, view.viewport().mapToGlobal(pos))
    )
    menu = view.findChild(QMenu)
    assert isinstance(menu, QMenu)
    assert [a for a in menu.actions() if not a.isSeparator()] == [a for a in view.blocks.actions() if a is not None]
    menu.close()


def test_a_table_that_cannot_be_changed_only_copies(context: Context, qtbot: QtBot) -> None:
    model = Numbers()
    model.editable = False
    view = SpreadsheetView(context)
    view.setModel(model)
    qtbot.addWidget(view)
    view.show()
    at(view, 1, 1)
    qtbot.keyClicks(view, "5")
    assert view.editing is None
    assert view.blocks.actions() == [view.blocks.copy_action]
    assert not model.setData(model.index(1, 1), "5")
    assert model.labels == []


def test_nothing_under_a_cell(model: Numbers) -> None:
    assert model.rowCount(model.index(0, 0)) == 0
    assert model.setData(QModelIndex(), "1") is False


@pytest.mark.parametrize(
    "action", ["cut_action", "paste_action", "fill_down_action", "fill_right_action", "clear_action"]
)
def test_what_is_computed_says_so_where_one_tries_to_change_it(context: Context, qtbot: QtBot, action: str) -> None:
    model = ArrayModel(context.settings)
    model.show(np.ones((3, 3)), list("abc"), list("xyz"), Precision.FLOAT32)
    view = SpreadsheetView(context)
    model.setParent(view)
    view.setModel(model)
    qtbot.addWidget(view)
    view.show()
    view.selectAll()
    clip("1\t2\n3\t4")
    getattr(view.blocks, action).trigger()
    assert view.reason.text() == COMPUTED
    assert model.index(0, 0).data(Qt.ItemDataRole.EditRole) in ("1", "1.0")
    context.document.apply("Mask", replace(context.document.experiment, rule=Causal()))
    assert view.reason.isHidden(), "something else was done"
