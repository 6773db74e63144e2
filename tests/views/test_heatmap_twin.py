"""The table twin, the context menu, the clipboard and the flash."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from attn_gui.model.edits import set_cells
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal
from attn_gui.model.precision import Precision
from attn_gui.views.context import Context
from attn_gui.views.heatmap.heatmap import Heatmap
from tests.views.conftest import KARINA
from tests.views.heatmaps import Pair, place, random_experiment, reference

ACCESSIBLE = Qt.ItemDataRole.AccessibleTextRole


@pytest.fixture
def pair(qtbot: QtBot, context: Context) -> Pair:
    made = Pair(qtbot, context)
    made.show_experiment(Experiment.from_tokens(*KARINA, rule=Causal()))
    return made


def focus(qtbot: QtBot, pair: Pair, heatmap: Heatmap) -> None:
    pair.activateWindow()
    heatmap.plot.setFocus()
    qtbot.waitUntil(heatmap.plot.hasFocus)


def test_T_shows_the_numbers_as_a_table_and_back(qtbot: QtBot, context: Context, pair: Pair) -> None:
    heatmap = pair.N.heatmap
    context.selection.set_cell(4, 2)
    focus(qtbot, pair, heatmap)
    qtbot.keyClick(heatmap.plot, Qt.Key.Key_T)
    assert heatmap.shows_table
    assert heatmap.twin.isVisible()
    qtbot.waitUntil(lambda: heatmap.twin.values.rowCount() == 5)
    _, N, allowed = reference(context.document.experiment)
    for i in range(5):
        for j in range(5):
            shown = heatmap.twin.values.index(i, j).data()
            assert shown == (f"{N[i, j]:.4f}" if allowed[i, j] else "masked")
    assert (heatmap.twin.currentIndex().row(), heatmap.twin.currentIndex().column()) == (4, 2)
    assert heatmap.twin.hasFocus()
    qtbot.keyClick(heatmap.twin, Qt.Key.Key_T)
    assert not heatmap.shows_table
    assert heatmap.plot.hasFocus()
    qtbot.keyClick(heatmap.plot, Qt.Key.Key_Return)
    assert heatmap.shows_table
    qtbot.keyClick(heatmap.twin, Qt.Key.Key_Escape)
    assert not heatmap.shows_table


def test_the_table_reads_as_a_sentence(context: Context, pair: Pair, qtbot: QtBot) -> None:
    pair.N.heatmap.show_table(True)
    pair.A.heatmap.show_table(True)
    pair.settle()
    N, A = pair.N.heatmap.twin.values, pair.A.heatmap.twin.values
    assert N.index(4, 2).data(ACCESSIBLE) == "query store, key to, head 1, weight 0.2479, allowed"
    assert N.index(1, 3).data(ACCESSIBLE) == "query is, key the, head 1, weight 0, masked"
    assert A.index(1, 3).data(ACCESSIBLE) == "query is, key the, head 1, masked"
    assert A.index(2, 2).data(ACCESSIBLE) == "query to, key to, head 1, score 1.4142, allowed"


def test_both_share_the_selected_cell(qtbot: QtBot, context: Context, pair: Pair) -> None:
    twin = pair.N.heatmap.twin
    pair.N.heatmap.show_table(True)
    pair.settle()
    context.selection.set_cell(3, 1)
    assert (twin.currentIndex().row(), twin.currentIndex().column()) == (3, 1)
    twin.setFocus()
    qtbot.keyClick(twin, Qt.Key.Key_Down)
    assert (context.selection.query, context.selection.key) == (4, 1)


def test_the_table_follows_edits_and_heads(context: Context, pair: Pair) -> None:
    twin = pair.N.heatmap.twin
    pair.N.heatmap.show_table(True)
    pair.settle()
    context.document.apply("edit", set_cells(context.document.experiment, "tokens", 4, 0, 3.0))
    pair.settle()
    _, N, _ = reference(context.document.experiment)
    assert twin.values.index(4, 0).data() == f"{N[4, 0]:.4f}"
    X = np.random.default_rng(3).standard_normal((4, 4))
    pair.show_experiment(Experiment.from_tokens("abcd", X, heads=2))
    context.selection.set_head(1)
    pair.settle()
    trace = context.feed.trace
    assert trace is not None
    assert twin.values.index(2, 1).data() == f"{trace.stage('N', 1)[2, 1]:.4f}"
    assert "head 2" in twin.values.index(2, 1).data(ACCESSIBLE)


def test_rows_of_the_table_are_as_high_as_the_bands(context: Context, pair: Pair) -> None:
    twin = pair.N.heatmap.twin
    pair.N.heatmap.show_table(True)
    pair.settle()
    for i in range(5):
        y = twin.viewport().y() + twin.rowViewportPosition(i)
        assert y == context.bands.header + i * context.bands.row_height


@pytest.mark.parametrize("scale", [1.0, 40.0])
def test_no_number_and_no_short_name_is_cut_in_the_table(context: Context, pair: Pair, scale: float) -> None:
    base = random_experiment(12)
    X = base.tokens.embeddings.array() * scale
    pair.show_experiment(Experiment.from_tokens([f"token {i}" for i in range(12)], X, rule=Causal()))
    twin = pair.A.heatmap.twin
    pair.A.heatmap.show_table(True)
    pair.settle()
    for decimals in (4, 7):
        context.settings.decimals = decimals
        texts = [twin.values.index(i, j).data() for i in range(12) for j in range(12)]
        assert any(text.startswith("−") for text in texts)
        for j in range(12):
            room = twin.columnWidth(j) - 2 * 8 - 1  # what is left and right of a number, and the line
            assert max(twin.fontMetrics().horizontalAdvance(texts[i * 12 + j]) for i in range(12)) <= room
            assert twin.horizontalHeader().fontMetrics().horizontalAdvance(f"token {j}") <= room


def test_the_selected_cell_is_in_sight_and_lit_as_soon_as_the_table_has_numbers(context: Context, pair: Pair) -> None:
    pair.show_experiment(random_experiment(40))
    context.selection.set_cell(33, 28)
    twin = pair.N.heatmap.twin
    pair.N.heatmap.show_table(True)
    pair.settle()
    cell = twin.visualRect(twin.values.index(33, 28))
    assert twin.viewport().rect().contains(cell)
    assert (context.selection.query, context.selection.key) == (33, 28)
    image = twin.viewport().grab().toImage()
    theme = context.look.theme
    assert image.pixelColor(cell.center().x(), cell.top()) == theme.colour("accent")
    beside, above = cell.translated(-cell.width(), 0), cell.translated(0, -cell.height())
    assert image.pixelColor(beside.topLeft() + QPoint(3, 3)) == theme.colour("band")
    assert image.pixelColor(above.topLeft() + QPoint(3, 3)) == theme.colour("panel")
    context.selection.set_cell(0, 0)
    assert twin.viewport().rect().contains(twin.visualRect(twin.values.index(0, 0)))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_tables_corners_hold_what_belongs_there(context: Context, pair: Pair, theme: str) -> None:
    pair.show_experiment(random_experiment(40))
    context.settings.theme = theme
    twin = pair.N.heatmap.twin
    pair.N.heatmap.show_table(True)
    pair.settle()
    assert twin.horizontalScrollBar().isVisible()
    image = twin.grab().toImage()
    panel = context.look.theme.colour("panel")
    for x in range(twin.viewport().geometry().right() + 1, twin.width()):
        for y in range(twin.viewport().geometry().bottom() + 1, twin.height()):
            assert image.pixelColor(x, y) == panel
    corner = twin.corner
    assert corner is not None
    assert corner.geometry().bottomRight() + QPoint(1, 1) == twin.viewport().geometry().topLeft()
    assert any(image.pixelColor(x, y) != panel for x in range(corner.width()) for y in range(corner.height()))


def test_what_the_menu_offers_works_while_the_table_has_the_focus(qtbot: QtBot, context: Context, pair: Pair) -> None:
    heatmap = pair.N.heatmap
    focus(qtbot, pair, heatmap)
    heatmap.show_table(True)
    pair.settle()
    qtbot.waitUntil(heatmap.twin.hasFocus)
    clipboard = QGuiApplication.clipboard()
    clipboard.setText("before")
    keys = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    qtbot.keyClick(heatmap.twin, Qt.Key.Key_C, keys)
    qtbot.waitUntil(lambda: clipboard.text() != "before")
    assert len(clipboard.text().split("\n")) == 5
    heatmap.twin.go_to(2, 1)
    clipboard.setText("before")
    qtbot.keyClick(heatmap.twin, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: clipboard.text() != "before")
    _, N, _ = reference(context.document.experiment)
    assert float(clipboard.text()) == pytest.approx(N[2, 1], rel=1e-6)
    for action in (heatmap.menu.zoom_in, heatmap.menu.zoom_out, heatmap.menu.fit):
        assert not action.isEnabled()  # there is nothing to zoom
    heatmap.show_table(False)
    assert heatmap.menu.zoom_in.isEnabled()


def test_a_table_out_of_sight_has_nothing_asked_for_it(context: Context, pair: Pair) -> None:
    heatmap = pair.N.heatmap
    heatmap.show_table(True)
    pair.settle()
    heatmap.show_table(False)
    assert heatmap.twin.values.rowCount() == 0
    answered: list[str] = []
    context.feed.answered.connect(lambda slot, answer: answered.append(slot))
    context.document.apply("edit", set_cells(context.document.experiment, "tokens", 4, 0, 3.0))
    pair.settle()
    assert "N" in answered
    assert "N.table" not in answered


def menu_at(heatmap: Heatmap, point: QPoint, reason: QContextMenuEvent.Reason) -> QMenu:
    event = QContextMenuEvent(reason, point, heatmap.plot.mapToGlobal(point))
    QApplication.sendEvent(heatmap.plot, event)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    return menu


def test_the_context_menu_is_about_the_cell_under_the_pointer(context: Context, pair: Pair) -> None:
    heatmap = pair.N.heatmap
    menu = menu_at(heatmap, place(heatmap, 4, 1), QContextMenuEvent.Reason.Mouse)
    assert (context.selection.query, context.selection.key) == (4, 1)
    offered = {action.text().replace("&", "") for action in menu.actions()}
    assert {"Copy value", "Copy row", "Copy matrix", "Copy picture", "Table", "Paint the mask"} <= offered
    assert any("PNG" in text for text in offered)
    menu.close()
    context.selection.set_cell(2, 2)
    menu = menu_at(heatmap, QPoint(0, 0), QContextMenuEvent.Reason.Keyboard)
    assert (context.selection.query, context.selection.key) == (2, 2)
    assert heatmap.plot.mapFromGlobal(menu.pos()).y() >= place(heatmap, 2, 2, 0.5, 0.0).y()
    menu.close()


@pytest.mark.parametrize("precision", list(Precision))
def test_copies_are_exact_in_their_precision(qtbot: QtBot, context: Context, pair: Pair, precision: Precision) -> None:
    pair.show_experiment(random_experiment(6, precision=precision, rule=Causal()))
    trace = context.feed.trace
    assert trace is not None
    stages = {"A": trace.stage("A_masked", 0), "N": trace.stage("N", 0)}
    context.selection.set_cell(4, 3)
    clipboard = QGuiApplication.clipboard()

    def read() -> np.ndarray:
        rows = [line.split("\t") for line in clipboard.text().split("\n")]
        return np.array([[float(cell) for cell in row] for row in rows]).astype(precision.numpy)

    for panel in (pair.A, pair.N):
        whole = stages[panel.menu_title[-1]]
        outlet = panel.heatmap.outlet
        for copy, expected in (
            (outlet.copy_value, whole[4:5, 3:4]),
            (outlet.copy_row, whole[4:5]),
            (outlet.copy_matrix, whole),
        ):
            clipboard.setText("before")
            copy()
            qtbot.waitUntil(lambda: clipboard.text() != "before")
            if precision is Precision.BFLOAT16:
                # a decimal that is the shortest for bfloat16 reads back to it, not to its float32
                np.testing.assert_allclose(read(), expected, rtol=2**-8)
            else:
                np.testing.assert_array_equal(read(), expected)


def test_the_picture_goes_to_the_clipboard(qtbot: QtBot, context: Context, pair: Pair) -> None:
    clipboard = QGuiApplication.clipboard()
    clipboard.clear()
    pair.N.heatmap.menu.copy_picture.trigger()
    qtbot.waitUntil(lambda: not clipboard.image().isNull())
    assert clipboard.image().width() > 300


def test_cells_that_an_edit_changed_flash_once(qtbot: QtBot, context: Context, pair: Pair) -> None:
    context.settings.reduced_motion = False
    flash = pair.A.heatmap.plot.flash
    assert not flash.running
    context.document.apply("edit", set_cells(context.document.experiment, "tokens", 0, 0, 2.0))
    qtbot.waitUntil(lambda: flash.running)
    assert flash.isVisible()
    assert flash.boundingRect().left() == 0
    qtbot.waitUntil(lambda: not flash.running)
    assert not flash.isVisible()
    context.selection.set_head("mean")
    pair.settle()
    assert not flash.running
    context.settings.reduced_motion = True
    context.document.apply("edit", set_cells(context.document.experiment, "tokens", 0, 0, 3.0))
    pair.settle()
    assert not flash.running


def test_another_example_does_not_flash(context: Context, pair: Pair) -> None:
    context.settings.reduced_motion = False
    e = context.document.experiment
    names = Experiment.from_tokens("abcde", e.tokens.embeddings.array() * 2)
    context.document.apply("other", replace(names, rule=e.rule))
    pair.settle()
    assert not pair.A.heatmap.plot.flash.running


def test_the_formula_is_that_of_the_scoring(context: Context, pair: Pair) -> None:
    assert pair.A.formula.text() == "A = QKᵀ/√d_k, masked"
    e = context.document.experiment
    context.document.apply("scale", replace(e, scoring=replace(e.scoring, scale=0.25, softcap=5.0)))
    pair.settle()
    assert pair.A.formula.text() == "A = 5·tanh(0.25·QKᵀ / 5), masked"
    assert pair.N.formula.text() == "N = softmax(A)"


def test_a_fault_before_the_first_result_does_not_wait_for_torch_for_ever(context: Context, qtbot: QtBot) -> None:
    pair = Pair(qtbot, context)
    context.feed.failed.emit(MemoryError("too large"))
    assert pair.A.heatmap.plot.message.text() == "nothing computed yet"
