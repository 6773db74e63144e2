"""The Weights drawer on real widgets."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from attn_gui.model.biases.additive import Additive
from attn_gui.model.biases.relative_buckets import RelativeBuckets
from attn_gui.model.experiment import Experiment
from attn_gui.model.initialise import initial_weights
from attn_gui.model.positions.learned import Learned
from attn_gui.model.qk_norm.rms_norm import RMSNorm
from attn_gui.model.scoring import Scoring
from attn_gui.model.sources import AppendedKey, GivenQKV
from attn_gui.model.starting import started
from attn_gui.model.table import Table
from attn_gui.model.tokens import TokenSequence
from attn_gui.model.weights import Weights
from attn_gui.views.cell_ranges import CellRange
from attn_gui.views.context import Context
from attn_gui.views.drawers.weights_drawer import WeightsDrawer
from attn_gui.views.drawers.weights_model import WeightsModel
from attn_gui.views.drawers.weights_part import WeightsPart
from attn_gui.views.number_delegate import CellEditor
from tests.views.drawer_helpers import asks_recorded, given, open_experiment, several_heads

Role = Qt.ItemDataRole


@pytest.fixture
def drawer(context: Context, qtbot: QtBot) -> WeightsDrawer:
    made = WeightsDrawer(context)
    qtbot.addWidget(made)
    made.resize(900, 300)
    made.show()
    qtbot.waitExposed(made)
    return made


def weights(context: Context) -> Weights:
    found = context.document.experiment.weights
    assert found is not None
    return found


def bits(found: Weights) -> dict[str, bytes]:
    return {name: table.array().tobytes() for name, table in found.items()}


def shown(drawer: WeightsDrawer) -> np.ndarray:
    model = drawer.model
    rows, columns = range(model.rowCount()), range(model.columnCount())
    return np.array([[float(text) for text in row] for row in model.cells(rows, columns)])


def headers(drawer: WeightsDrawer, orientation: Qt.Orientation) -> list[str]:
    count = drawer.model.columnCount() if orientation == Qt.Orientation.Horizontal else drawer.model.rowCount()
    return [drawer.model.headerData(k, orientation) for k in range(count)]


def type_in(drawer: WeightsDrawer, qtbot: QtBot, row: int, column: int, text: str) -> CellEditor | None:
    """Type ``text`` and Enter into a cell; the editor if it stays open."""
    table = drawer.table
    table.setFocus()
    table.setCurrentIndex(drawer.model.index(row, column))
    qtbot.keyClicks(table.viewport(), text[0])
    editor = table.editing
    assert editor is not None
    editor.setText(text)
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    return table.editing


def test_a_typed_number_reaches_the_matrix_exactly_and_undo_takes_it_back(
    drawer: WeightsDrawer, context: Context, qtbot: QtBot
) -> None:
    before = weights(context)
    typed = "0.1234567890123456789"
    type_in(drawer, qtbot, 1, 0, typed)
    expected = np.eye(2)
    expected[1, 0] = float(typed)
    assert np.array_equal(weights(context).W_Q.array(), expected)
    assert weights(context).W_K is before.W_K
    assert drawer.model.index(1, 0).data(Role.EditRole) == repr(float(typed))
    assert context.document.undo_stack.undoText() == "Edit cell in W_Q"
    context.document.undo_stack.undo()
    assert weights(context) is before
    assert drawer.model.index(1, 0).data(Role.EditRole) == "0"
    context.document.undo_stack.redo()
    assert np.array_equal(shown(drawer), expected)


@pytest.mark.parametrize(
    ("text", "reason"), [("abc", "'abc' is not a number"), ("nan", "'nan' is not a finite number")]
)
def test_a_bad_number_stays_in_its_cell_with_the_reason(
    drawer: WeightsDrawer, context: Context, qtbot: QtBot, text: str, reason: str
) -> None:
    before = context.document.experiment
    editor = type_in(drawer, qtbot, 0, 1, text)
    assert editor is not None
    assert editor.text() == text
    assert drawer.table.reason.text() == reason
    assert context.document.experiment is before
    editor.setText("2")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert weights(context).W_Q[0, 1] == 2


def test_one_head_shows_its_columns_and_an_edit_hits_them(
    drawer: WeightsDrawer, context: Context, qtbot: QtBot
) -> None:
    open_experiment(context, several_heads())
    context.selection.set_head(2)
    before = weights(context).W_Q.array()
    assert np.array_equal(shown(drawer), before[:, 6:9])
    assert headers(drawer, Qt.Orientation.Horizontal) == ["q1", "q2", "q3"]
    assert headers(drawer, Qt.Orientation.Vertical)[:2] == ["x1", "x2"]
    type_in(drawer, qtbot, 4, 1, "9")
    expected = before.copy()
    expected[4, 7] = 9
    assert np.array_equal(weights(context).W_Q.array(), expected)


def test_of_w_o_one_head_is_its_rows(drawer: WeightsDrawer, context: Context, qtbot: QtBot) -> None:
    open_experiment(context, several_heads())
    context.selection.set_head(3)
    drawer.matrix.button("W_O").click()
    before = weights(context).W_O
    assert before is not None
    assert np.array_equal(shown(drawer), before.array()[9:12])
    assert headers(drawer, Qt.Orientation.Vertical) == ["v1", "v2", "v3"]
    type_in(drawer, qtbot, 2, 10, "-5")
    after = weights(context).W_O
    assert after is not None
    assert after[11, 10] == -5
    assert np.count_nonzero(after.array() != before.array()) == 1


def test_grouped_heads_share_a_matrix_and_say_so(drawer: WeightsDrawer, context: Context) -> None:
    open_experiment(context, several_heads(4, kv_heads=2))
    drawer.matrix.button("W_K").click()
    whole = weights(context).W_K.array()
    for head, columns in ((0, slice(0, 3)), (1, slice(0, 3)), (2, slice(3, 6)), (3, slice(3, 6))):
        context.selection.set_head(head)
        assert np.array_equal(shown(drawer), whole[:, columns])
    assert "shared by heads 3 to 4" in drawer.told.text()


def test_the_whole_matrix_numbers_columns_by_head_and_the_choice_is_kept(
    drawer: WeightsDrawer, context: Context
) -> None:
    open_experiment(context, several_heads())
    drawer.extent.button("whole").click()
    assert np.array_equal(shown(drawer), weights(context).W_Q.array())
    assert headers(drawer, Qt.Orientation.Horizontal)[:4] == ["1·q1", "1·q2", "1·q3", "2·q1"]
    assert list(drawer.model.part.boundaries()) == [3, 6, 9]  # type: ignore[union-attr]
    assert context.document.session.view["weights_whole"] is True
    assert not context.document.undo_stack.canUndo()
    drawer.extent.button("head").click()
    assert drawer.model.columnCount() == 3


def test_the_mean_over_heads_has_no_matrix_of_its_own(drawer: WeightsDrawer, context: Context) -> None:
    open_experiment(context, several_heads())
    context.selection.set_head("mean")
    assert drawer.model.columnCount() == 12
    assert drawer.extent.value == "whole"
    assert not drawer.extent.button("head").isEnabled()


def test_one_head_needs_no_switch(drawer: WeightsDrawer, context: Context) -> None:
    assert not drawer.extent.isVisible()
    open_experiment(context, several_heads())
    assert drawer.extent.isVisible()


def test_rows_are_called_by_the_dimensions_that_are_read(drawer: WeightsDrawer, context: Context) -> None:
    tokens = TokenSequence.of("ab", np.eye(2), ("noun", None))
    memory = TokenSequence.of("uvw", np.ones((3, 4)), ("w", "x", "y", None))
    e = Experiment.from_tokens(tokens.tokens, np.eye(2), context=memory)
    open_experiment(context, Experiment(tokens, e.source, e.variant, context=memory))
    assert headers(drawer, Qt.Orientation.Vertical) == ["noun", "x2"]
    drawer.matrix.button("W_V").click()
    assert headers(drawer, Qt.Orientation.Vertical) == ["w", "x", "y", "x4"]
    assert headers(drawer, Qt.Orientation.Horizontal) == ["v1", "v2"]


def test_a_block_is_pasted_copied_and_filled(drawer: WeightsDrawer, context: Context) -> None:
    open_experiment(context, several_heads())
    context.selection.set_head(1)
    table = drawer.table
    table.select_block(CellRange(0, 0, 0, 0))
    QGuiApplication.clipboard().setText("1,5\t2\n3\t4.25")
    table.blocks.paste()
    assert np.array_equal(weights(context).W_Q.array()[:2, 3:5], [[1.5, 2], [3, 4.25]])
    table.select_block(CellRange(0, 0, 3, 1))
    table.blocks.fill_down()
    assert np.array_equal(weights(context).W_Q.array()[:4, 3:5], [[1.5, 2]] * 4)
    assert context.document.undo_stack.count() == 2
    table.select_block(CellRange(0, 0, 1, 2))
    table.blocks.copy()
    texts = [line.split("\t") for line in QGuiApplication.clipboard().text().split("\n")]
    assert np.array_equal(np.array(texts, float), weights(context).W_Q.array()[:2, 3:6])


def test_a_ragged_paste_changes_nothing_and_says_why(drawer: WeightsDrawer, context: Context) -> None:
    before = context.document.experiment
    drawer.table.select_block(CellRange(0, 0, 0, 0))
    QGuiApplication.clipboard().setText("1\t2\n3")
    drawer.table.blocks.paste()
    assert context.document.experiment is before
    assert "row 2 of the block has 1 cell" in drawer.table.reason.text()


def test_biases_come_as_zeros_are_edited_and_come_back_by_undo(
    drawer: WeightsDrawer, context: Context, qtbot: QtBot
) -> None:
    assert drawer.matrix.values == ["W_Q", "W_K", "W_V"]
    drawer.controls.biases.click()
    assert drawer.matrix.values == ["W_Q", "W_K", "W_V", "b_Q", "b_K", "b_V"]
    drawer.matrix.button("b_K").click()
    assert shown(drawer).tolist() == [[0, 0]]
    assert headers(drawer, Qt.Orientation.Vertical) == ["b_K"]
    type_in(drawer, qtbot, 0, 1, "0.5")
    bias = weights(context).b_K
    assert bias is not None
    assert bias.array().tolist() == [[0, 0.5]]
    drawer.controls.biases.click()
    assert not weights(context).has_biases
    assert drawer.matrix.value == "W_Q"
    context.document.undo_stack.undo()
    assert drawer.controls.biases.isChecked()
    assert weights(context).b_K is bias
    assert drawer.matrix.value == "b_K"


@pytest.mark.parametrize("kind", ["identity", "linear", "normal", "xavier"])
def test_the_same_seed_makes_the_same_weights_to_the_last_bit(
    drawer: WeightsDrawer, context: Context, kind: str
) -> None:
    open_experiment(context, several_heads(4, kv_heads=2))
    before = bits(weights(context))
    controls = drawer.controls
    index = controls.initialiser.findData(kind)
    controls.initialiser.setCurrentIndex(index)
    controls.initialiser.activated.emit(index)
    controls.seed.setValue(42)
    controls.renew.click()
    first = bits(weights(context))
    reference = initial_weights(kind, 12, 12, 4, seed=42, kv_heads=2, d_k=3, d_v=3)
    assert first == bits(reference)
    controls.renew.click()
    assert bits(weights(context)) == first
    assert context.document.undo_stack.count() == 2
    context.document.undo_stack.undo()
    context.document.undo_stack.undo()
    assert bits(weights(context)) == before
    context.document.undo_stack.redo()
    assert bits(weights(context)) == first
    controls.seed.setValue(43)
    controls.renew.click()
    assert (bits(weights(context)) == first) == (kind == "identity")


def test_new_weights_keep_biases_and_the_size_of_heads(drawer: WeightsDrawer, context: Context) -> None:
    open_experiment(context, several_heads())
    drawer.controls.biases.click()
    drawer.controls.d_k.setValue(5)
    drawer.controls.renew.click()
    e = context.document.experiment
    assert (e.d_k, e.d_v, e.heads) == (5, 3, 4)
    assert weights(context).has_biases


def test_initialiser_and_seed_are_kept_with_the_session(drawer: WeightsDrawer, context: Context) -> None:
    index = drawer.controls.initialiser.findData("xavier")
    drawer.controls.initialiser.setCurrentIndex(index)
    drawer.controls.initialiser.activated.emit(index)
    drawer.controls.seed.setValue(11)
    view = context.document.session.view
    assert (view["weights_initialiser"], view["weights_seed"]) == ("xavier", 11)
    drawer.hide()
    drawer.show()
    assert drawer.controls.initialiser.currentData() == "xavier"
    assert drawer.controls.seed.value() == 11


def test_a_seed_is_of_no_use_to_the_identity(drawer: WeightsDrawer) -> None:
    for kind, useful in (("identity", False), ("normal", True)):
        index = drawer.controls.initialiser.findData(kind)
        drawer.controls.initialiser.setCurrentIndex(index)
        drawer.controls.initialiser.activated.emit(index)
        assert drawer.controls.seed.isEnabled() is useful


def test_the_size_of_heads_turns_up_and_down_as_one_step_that_loses_nothing(
    drawer: WeightsDrawer, context: Context
) -> None:
    open_experiment(context, several_heads())
    before = bits(weights(context))
    d_k = drawer.controls.d_k
    d_k.setValue(1)
    assert context.document.experiment.d_k == 1
    assert drawer.model.columnCount() == 1
    d_k.setValue(4)
    grown = weights(context).W_Q.array()
    old = np.frombuffer(before["W_Q"]).reshape(12, 12)
    assert np.array_equal(grown[:, 4:7], old[:, 3:6])
    assert not grown[:, 7].any()
    d_k.setValue(3)
    assert bits(weights(context)) == before
    d_k.setValue(2)
    assert context.document.undo_stack.count() == 1
    context.document.undo_stack.undo()
    assert bits(weights(context)) == before
    assert d_k.value() == 3


def test_after_an_edit_a_size_starts_from_what_was_edited(
    drawer: WeightsDrawer, context: Context, qtbot: QtBot
) -> None:
    drawer.controls.d_v.setValue(3)
    drawer.matrix.button("W_V").click()
    type_in(drawer, qtbot, 0, 2, "8")
    drawer.controls.d_v.setValue(4)
    assert weights(context).W_V.array().tolist() == [[1, 0, 8, 0], [0, 1, 0, 0]]


def test_without_weights_q_k_and_v_are_there_to_edit(drawer: WeightsDrawer, context: Context, qtbot: QtBot) -> None:
    open_experiment(context, given())
    assert drawer.matrix.values == ["Q", "K", "V"]
    assert not drawer.controls.biases.isVisible()
    assert not drawer.controls.seed.isVisible()
    assert headers(drawer, Qt.Orientation.Vertical) == ["t1", "t2", "t3"]
    drawer.matrix.button("V").click()
    type_in(drawer, qtbot, 2, 1, "7")
    source = context.document.experiment.source
    assert isinstance(source, GivenQKV)
    assert source.V[0, 2, 1] == 7
    open_experiment(context, several_heads())
    assert drawer.matrix.values[0] == "W_Q"
    assert drawer.controls.biases.isVisible()


def test_every_cell_is_read_out_by_what_it_is(drawer: WeightsDrawer, context: Context) -> None:
    open_experiment(context, several_heads())
    context.selection.set_head(1)
    value = weights(context).W_Q[2, 4]
    assert drawer.model.index(2, 1).data(Role.AccessibleTextRole) == f"W_Q, x3, q2, {value!r}"


def test_every_control_has_a_name(drawer: WeightsDrawer, context: Context) -> None:
    open_experiment(context, several_heads())
    for field in (drawer.table, drawer.controls.d_k, drawer.controls.d_v, drawer.controls.seed):
        assert field.accessibleName()
    assert drawer.matrix.button("W_K").accessibleName() == "Matrix: W_K"


def test_the_arrow_keys_go_from_matrix_to_matrix(drawer: WeightsDrawer, qtbot: QtBot) -> None:
    button = drawer.matrix.button("W_Q")
    button.setFocus()
    qtbot.keyClick(button, Qt.Key.Key_Right)
    assert drawer.matrix.value == "W_K"
    assert drawer.model.part is not None
    assert drawer.model.part.name == "W_K"


def test_a_hidden_drawer_asks_nothing_and_is_up_to_date_when_it_opens(drawer: WeightsDrawer, context: Context) -> None:
    drawer.hide()
    with asks_recorded(context.feed) as asked:
        open_experiment(context, several_heads())
        drawer.show()
    assert asked == []
    assert np.array_equal(shown(drawer), weights(context).W_Q.array()[:, :3])


def test_edits_keep_the_place_in_the_table(drawer: WeightsDrawer, context: Context, qtbot: QtBot) -> None:
    open_experiment(context, several_heads())
    type_in(drawer, qtbot, 3, 1, "1")
    assert (drawer.table.currentIndex().row(), drawer.table.currentIndex().column()) == (4, 1)
    context.document.undo_stack.undo()
    assert drawer.table.currentIndex().isValid()


def test_a_large_matrix_opens_without_a_stall(context: Context, qtbot: QtBot) -> None:
    open_experiment(context, several_heads(8, n=3, width=512))
    context.document.keep_view(weights_whole=True)
    start = time.perf_counter()
    drawer = WeightsDrawer(context)
    qtbot.addWidget(drawer)
    drawer.resize(900, 300)
    drawer.show()
    drawer.grab()
    assert time.perf_counter() - start < 2.0
    assert (drawer.model.rowCount(), drawer.model.columnCount()) == (512, 512)


def test_cells_are_tinted_by_sign(drawer: WeightsDrawer, context: Context, qtbot: QtBot) -> None:
    type_in(drawer, qtbot, 0, 1, "-1")
    model, table = drawer.model, drawer.table
    positive, negative, zero = (table.backdrop(model.index(*cell)) for cell in ((0, 0), (0, 1), (1, 0)))
    assert zero is None
    assert positive is not None
    assert negative is not None
    assert positive.blue() > positive.red()
    assert negative.red() > negative.blue()


def test_what_is_drawn_fits_every_theme(drawer: WeightsDrawer, context: Context, wait_traced: Callable) -> None:
    for theme in ("light", "dark", "contrast"):
        context.settings.theme = theme
        picture: QWidget = drawer
        image = picture.grab().toImage()
        assert image.pixelColor(image.width() - 2, image.height() - 2) == context.look.theme.colour("panel")


def test_the_model_is_a_sound_one(context: Context, qtmodeltester: ModelTester) -> None:
    model = WeightsModel(context)
    model.show_part(WeightsPart(several_heads(), "W_Q", 1))
    qtmodeltester.check(model)


def test_columns_are_wide_enough_for_every_number(drawer: WeightsDrawer, context: Context, qtbot: QtBot) -> None:
    type_in(drawer, qtbot, 0, 0, "-123456789.125")
    table = drawer.table
    text = table.model().index(0, 0).data()
    assert text == "−123456789.125"
    room = table.columnWidth(0) - 16
    assert room >= table.fontMetrics().horizontalAdvance(text)


def test_undo_shows_the_cell_that_it_changes(drawer: WeightsDrawer, context: Context, qtbot: QtBot) -> None:
    drawer.matrix.chosen.emit("W_V")
    type_in(drawer, qtbot, 1, 0, "3")
    drawer.matrix.chosen.emit("W_Q")
    context.document.undo_stack.undo()
    assert drawer.matrix.value == "W_V"
    assert drawer.table.selected == [CellRange(1, 0, 1, 0)]
    drawer.table.go_to(0, 1)
    context.document.undo_stack.redo()
    assert drawer.table.selected == [CellRange(1, 0, 1, 0)]


def test_undo_shows_a_cell_of_another_head(drawer: WeightsDrawer, context: Context, qtbot: QtBot) -> None:
    open_experiment(context, several_heads())
    context.selection.set_head(1)
    type_in(drawer, qtbot, 0, 0, "3")
    size = drawer.model.columnCount()
    context.selection.set_head(0)
    context.document.undo_stack.undo()
    assert drawer.table.selected == [CellRange(0, size, 0, size)]


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("rest", [1.0, 0.0, 1e308])
def test_a_weight_that_is_no_finite_number_is_shown_without_a_tint(
    odd: float, rest: float, drawer: WeightsDrawer, context: Context
) -> None:
    W = np.full((2, 2), rest)
    W[1, 0] = odd
    X = np.eye(2)
    open_experiment(context, Experiment.from_tokens(["a", "b"], X, Weights.of(W, np.eye(2), np.eye(2))))
    drawer.table.grab()
    tints = [[drawer.table.backdrop(drawer.model.index(row, column)) for column in range(2)] for row in range(2)]
    assert tints[1][0] is None
    assert (tints[0][0] is not None) == (rest != 0)
    assert drawer.model.data(drawer.model.index(1, 0)) != ""


def furnished() -> Experiment:
    """Four heads with a table of each kind."""
    e = several_heads()
    random = np.random.RandomState(1)
    scoring = Scoring(
        biases=(started(RelativeBuckets, e), Additive(random.rand(4, 5, 5))),
        position=started(Learned, e),
        qk_norm=RMSNorm(),
        sinks=(0.0, 0.5, 1.0, 1.5),
    )
    key = AppendedKey("bias", Table.of(np.ones((1, 12))), Table.of(np.ones((1, 12))))
    return replace(e, scoring=scoring, appended=(key,))


def choose(drawer: WeightsDrawer, title: str) -> None:
    """Choose a further table, as a person does."""
    index = drawer.further.findText(title)
    assert index >= 0, title
    drawer.further.setCurrentIndex(index)
    drawer.further.activated.emit(index)


def test_further_tables_are_offered_where_there_are_any(drawer: WeightsDrawer, context: Context) -> None:
    assert not drawer.further.isVisible()
    open_experiment(context, furnished())
    assert drawer.further.isVisible()
    offered = [drawer.further.itemText(k) for k in range(drawer.further.count())]
    assert offered == ["T5 table", "Additive bias", "Position table", "Sinks", "Appended keys", "Appended values"]
    assert drawer.further.currentText() == ""
    choose(drawer, "Sinks")
    assert drawer.matrix.value == ""
    assert drawer.table.accessibleName() == "Sinks"
    assert shown(drawer).tolist() == [[0, 0.5, 1, 1.5]]
    assert headers(drawer, Qt.Orientation.Horizontal) == ["head 1", "head 2", "head 3", "head 4"]
    drawer.matrix.button("W_V").click()
    assert drawer.further.currentText() == ""
    assert drawer.table.accessibleName() == "W_V"


def test_the_matrices_are_reached_by_tab_while_a_further_table_is_shown(
    drawer: WeightsDrawer, context: Context
) -> None:
    open_experiment(context, furnished())
    choose(drawer, "Sinks")
    assert drawer.matrix.button("W_Q").focusPolicy() == Qt.FocusPolicy.TabFocus
    drawer.matrix.button("W_K").click()
    assert drawer.matrix.button("W_Q").focusPolicy() == Qt.FocusPolicy.NoFocus


def test_a_further_table_is_typed_in_refused_and_undone_as_a_matrix_is(
    drawer: WeightsDrawer, context: Context, qtbot: QtBot
) -> None:
    before = furnished()
    open_experiment(context, before)
    choose(drawer, "T5 table")
    assert headers(drawer, Qt.Orientation.Vertical)[8] == "8 to 11 before"
    assert drawer.told.text() == "Added to the scores, one row a range of distances  ·  32 × 4"
    type_in(drawer, qtbot, 8, 1, "2.5")
    bias = context.document.experiment.scoring.biases[0]
    assert isinstance(bias, RelativeBuckets)
    assert bias.table[8, 1] == 2.5
    assert context.document.undo_stack.undoText() == "Edit cell in T5 table"
    editor = type_in(drawer, qtbot, 0, 0, "wide")
    assert editor is not None
    assert drawer.table.reason.text() == "'wide' is not a number"
    editor.setText("1")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    for _ in range(2):
        context.document.undo_stack.undo()
    assert context.document.experiment.scoring.biases == before.scoring.biases
    value = drawer.model.index(8, 1).data(Role.AccessibleTextRole)
    assert value.startswith("T5 table, 8 to 11 before, head 2, ")


def test_a_block_is_pasted_into_one_heads_bias(drawer: WeightsDrawer, context: Context) -> None:
    open_experiment(context, furnished())
    context.selection.set_head(2)
    choose(drawer, "Additive bias")
    assert headers(drawer, Qt.Orientation.Vertical) == ["t0", "t1", "t2", "t3", "t4"]
    drawer.table.select_block(CellRange(1, 1, 1, 1))
    QGuiApplication.clipboard().setText("1\t2\n3\t4")
    drawer.table.blocks.paste()
    bias = context.document.experiment.scoring.biases[1]
    assert isinstance(bias, Additive)
    assert bias.cells[2, 1:3, 1:3].tolist() == [[1, 2], [3, 4]]
    drawer.extent.button("whole").click()
    assert drawer.model.rowCount() == 20
    assert headers(drawer, Qt.Orientation.Vertical)[11] == "3·t1"
    assert list(drawer.model.part.boundaries()) == [5, 10, 15]  # type: ignore[union-attr]


def test_a_table_that_heads_share_is_shown_whole_and_says_so(drawer: WeightsDrawer, context: Context) -> None:
    open_experiment(context, furnished())
    context.selection.set_head(1)
    choose(drawer, "Position table")
    assert drawer.extent.value == "whole"
    assert not drawer.extent.button("head").isEnabled()
    assert drawer.extent.button("head").toolTip() == "Position table is one for all heads"
    drawer.matrix.button("W_Q").click()
    assert drawer.extent.value == "head"


def test_a_table_that_goes_gives_way_and_comes_back_by_undo(drawer: WeightsDrawer, context: Context) -> None:
    open_experiment(context, furnished())
    choose(drawer, "Sinks")
    e = context.document.experiment
    context.document.apply("Sinks: off", replace(e, scoring=replace(e.scoring, sinks=None)))
    assert drawer.matrix.value == "W_Q"
    context.document.undo_stack.undo()
    assert drawer.table.accessibleName() == "Sinks"


def test_gains_are_offered_with_a_norm_and_come_as_ones(drawer: WeightsDrawer, context: Context) -> None:
    assert not drawer.controls.gains.isVisible()
    open_experiment(context, furnished())
    assert drawer.controls.gains.isVisible()
    drawer.controls.gains.click()
    choose(drawer, "Gain of keys")
    assert shown(drawer).tolist() == [[1, 1, 1]]
    assert headers(drawer, Qt.Orientation.Horizontal) == ["k1", "k2", "k3"]
    drawer.controls.gains.click()
    assert drawer.further.findText("Gain of keys") < 0
    context.document.undo_stack.undo()
    assert drawer.controls.gains.isChecked()


def test_new_weights_fit_values_of_a_width_of_their_own(drawer: WeightsDrawer, context: Context) -> None:
    values = TokenSequence.of("ab", np.ones((2, 3)))
    weights = Weights.of(np.eye(2), np.eye(2), np.ones((3, 2)))
    open_experiment(context, Experiment.from_tokens("ab", np.eye(2), weights, values=values))
    drawer.controls.renew.click()
    assert context.document.undo_stack.count() == 1
    drawer.matrix.button("W_V").click()
    assert headers(drawer, Qt.Orientation.Vertical) == ["x1", "x2", "x3"]


def test_names_that_are_long_or_look_like_markup(drawer: WeightsDrawer, context: Context) -> None:
    name = "<b>bias</b>\n" * 20
    e = several_heads()
    key = AppendedKey(name, Table.of(np.ones((1, 12))), Table.of(np.ones((1, 12))))
    open_experiment(context, replace(e, appended=(key,)))
    choose(drawer, "Appended keys")
    assert drawer.table.verticalHeader().width() <= 168
    assert drawer.model.headerData(0, Qt.Orientation.Vertical) == name.replace("\n", "↵")
    assert "&lt;b&gt;" in drawer.model.headerData(0, Qt.Orientation.Vertical, Role.ToolTipRole)


@pytest.mark.parametrize("name", ["bias 1 table", "bias 2 cells", "sinks", "appended V"])
def test_the_model_is_a_sound_one_for_further_tables(context: Context, qtmodeltester: ModelTester, name: str) -> None:
    model = WeightsModel(context)
    model.show_part(WeightsPart(furnished(), name, 1))
    qtmodeltester.check(model)
