"""OutputPanel: the numbers of the last trace, in the shared bands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QAbstractAnimation, Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from attn_gui.model import edits, reshape
from attn_gui.model.experiment import Experiment
from attn_gui.model.precision import Precision
from attn_gui.model.variant import Variant
from attn_gui.views import array_model, output_panel, output_table
from attn_gui.views.cell_ranges import CellRange
from attn_gui.views.context import Context
from attn_gui.views.foot_scroll import FootScroll
from attn_gui.views.output_panel import OutputPanel

X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 1.0], [0.5, 1.0]])


@pytest.fixture
def panel(context: Context, qtbot: QtBot) -> OutputPanel:
    made = OutputPanel(context)
    made.resize(220, 460)
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    context.bands.set_count(5)
    context.bands.set_height(made.table.viewport().height())
    return made


def attention(x: np.ndarray) -> np.ndarray:
    scores = x @ x.T / np.sqrt(x.shape[1])
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ x


def shown(panel: OutputPanel) -> np.ndarray:
    array = panel.table.array
    return np.array(
        [
            [float(array.index(r, c).data().replace("\u2212", "-")) for c in range(array.columnCount())]
            for r in range(array.rowCount())
        ]
    )


def test_shows_what_was_computed(panel: OutputPanel, context: Context, wait_traced: Callable[[], None]) -> None:
    assert panel.table.array.rowCount() == 0
    context.document.start()
    wait_traced()
    np.testing.assert_allclose(shown(panel), attention(X), atol=5e-5)
    assert [panel.table.array.headerData(c, Qt.Orientation.Horizontal) for c in range(2)] == ["o1", "o2"]
    changed = X.copy()
    changed[0, 1] = 2
    context.document.apply("edit", edits.set_cells(context.document.experiment, "tokens", 0, 1, 2.0))
    wait_traced()
    np.testing.assert_allclose(shown(panel), attention(changed), atol=5e-5)


def test_rows_stand_at_the_bands(panel: OutputPanel, context: Context, wait_traced: Callable[[], None]) -> None:
    context.document.start()
    wait_traced()
    pitch = int(context.bands.pitch)
    assert [panel.table.rowViewportPosition(row) for row in range(5)] == [row * pitch for row in range(5)]


def test_the_selected_query_is_lit_across_the_panel(
    panel: OutputPanel, context: Context, wait_traced: Callable[[], None]
) -> None:
    context.document.start()
    wait_traced()
    context.selection.set_cell(3, 0)
    assert panel.table.currentIndex().row() == 3
    picture = panel.table.viewport().grab().toImage()
    band = context.look.theme.colour("band")
    pitch, scale = int(context.bands.pitch), picture.devicePixelRatio()
    for x in (2, panel.table.viewport().width() - 2):
        for row in range(5):
            pixel = picture.pixelColor(int(x * scale), int((row * pitch + pitch // 2) * scale))
            assert (pixel == band) is (row == 3)


def test_a_click_selects_the_query(
    panel: OutputPanel, context: Context, wait_traced: Callable[[], None], qtbot: QtBot
) -> None:
    context.document.start()
    wait_traced()
    context.selection.set_cell(1, 3)
    where = panel.table.visualRect(panel.table.array.index(4, 1)).center()
    qtbot.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert (context.selection.query, context.selection.key) == (4, 3)


@pytest.mark.parametrize("precision", list(Precision))
def test_copies_the_shortest_text_of_its_precision(
    panel: OutputPanel, context: Context, wait_traced: Callable[[], None], precision: Precision
) -> None:
    context.document.apply("precision", replace(context.document.experiment, precision=precision))
    context.document.start()
    wait_traced()
    panel.table.select_block(CellRange(0, 0, 4, 1))
    panel.table.blocks.copy_action.trigger()
    lines = [line.split("\t") for line in QGuiApplication.clipboard().text().split("\n")]
    trace = context.feed.trace
    assert trace is not None
    values = trace.stage("output")
    if precision is not Precision.BFLOAT16:
        np.testing.assert_array_equal(np.array(lines, dtype=values.dtype), values)
    if precision is Precision.FLOAT32:
        assert lines == [[str(v) for v in row] for row in values]
    # bfloat16 and float16 have few digits, and their text no more than tell them apart
    digits = {Precision.BFLOAT16: 4, Precision.FLOAT16: 5}.get(precision, 17)
    assert all(len(cell.lstrip("0.-").replace(".", "")) <= digits for line in lines for cell in line)


def test_says_what_it_holds(panel: OutputPanel, context: Context, wait_traced: Callable[[], None]) -> None:
    context.document.start()
    wait_traced()
    assert panel.formula.text() == "N V"
    assert panel.shape_label.text() == "5 × 2, float32"
    context.document.apply("v", reshape.with_variant(context.document.experiment, Variant.MULTI_HEAD_SELF))
    wait_traced()
    assert panel.formula.text() == "concat(N V) W_O"


def test_numbers_that_are_none_are_words(panel: OutputPanel) -> None:
    values = np.array([[np.nan, -np.inf], [1.0, np.inf]], dtype=np.float32)
    panel.table.show_output(values, ["a", "b"], ["o1", "o2"], Precision.FLOAT32)
    array = panel.table.array
    assert [array.index(r, c).data() for r in range(2) for c in range(2)] == ["nan", "\u2212\u221e", "1.0", "\u221e"]


def test_columns_are_wide_enough_for_every_number(panel: OutputPanel) -> None:
    values = np.array([[-123456.7891, 0.0, 1.0]], dtype=np.float64)
    panel.table.show_output(values, ["a"], ["o1", "o2", "o3"], Precision.FLOAT64)
    widths = [panel.table.columnWidth(c) for c in range(3)]
    assert len(set(widths)) == 1
    assert widths[0] >= panel.table.fontMetrics().horizontalAdvance("\u2212123456.7891") + 16


def test_changed_cells_in_sight_light_up_once(panel: OutputPanel, qtbot: QtBot) -> None:
    table, theme = panel.table, panel.context.look.theme
    before = np.zeros((5, 2), dtype=np.float32)
    table.show_output(before, list("abcde"), ["o1", "o2"], Precision.FLOAT32)
    after = before.copy()
    after[3, 1] = 1
    table.show_output(after, list("abcde"), ["o1", "o2"], Precision.FLOAT32)
    index = table.array.index(3, 1)
    qtbot.waitUntil(lambda: table.backdrop(index) is not None)
    lit = table.backdrop(index)
    assert lit is not None
    assert lit.rgb() == theme.colour("accent").rgb()
    assert table.backdrop(table.array.index(3, 0)) is None
    qtbot.waitUntil(lambda: table._flash.state() == QAbstractAnimation.State.Stopped, timeout=3000)
    assert table.backdrop(index) is None


def test_nothing_lights_up_with_reduced_motion_nor_for_other_tokens(panel: OutputPanel) -> None:
    table = panel.table
    table.show_output(np.zeros((2, 1)), ["a", "b"], ["o1"], Precision.FLOAT64)
    table.show_output(np.ones((2, 1)), ["c", "d"], ["o1"], Precision.FLOAT64)
    assert table._flash.state() == QAbstractAnimation.State.Stopped
    panel.context.settings.reduced_motion = True
    table.show_output(np.zeros((2, 1)), ["c", "d"], ["o1"], Precision.FLOAT64)
    assert table._flash.state() == QAbstractAnimation.State.Stopped


def test_only_cells_in_sight_are_compared_and_formatted(panel: OutputPanel, monkeypatch: pytest.MonkeyPatch) -> None:
    context, table = panel.context, panel.table
    n, d = 2000, 512
    context.bands.set_count(n)
    tokens, names = [f"t{i}" for i in range(n)], [f"o{i}" for i in range(d)]
    table.show_output(np.zeros((n, d), np.float32), tokens, names, Precision.FLOAT32)
    compared: list[int] = []
    monkeypatch.setattr(output_table.np, "isnan", lambda a: compared.append(a.size) or np.zeros(a.shape, bool))
    written: list[float] = []
    original = array_model.shown
    monkeypatch.setattr(array_model, "shown", lambda value, d: written.append(value) or original(value, d))
    table.show_output(np.ones((n, d), np.float32), tokens, names, Precision.FLOAT32)
    table.viewport().grab()
    seen = table.visible_cells()
    assert seen is not None
    in_sight = len(seen.rows) * len(seen.columns)
    assert in_sight < 200
    assert compared == [in_sight, in_sight]
    assert 0 < len(written) <= 2 * in_sight


def test_pale_while_the_next_one_takes_its_time(
    panel: OutputPanel, context: Context, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    panel._patience.setInterval(1)
    context.feed.busy_changed.emit(True)
    qtbot.waitUntil(lambda: panel.table.faded)
    context.feed.busy_changed.emit(False)
    assert not panel.table.faded
    assert output_panel.PATIENCE_MS == 300


def test_a_wide_output_scrolls_in_the_footer(panel: OutputPanel, qtbot: QtBot) -> None:
    bar = panel.findChild(FootScroll)
    assert isinstance(bar, FootScroll)
    panel.table.show_output(np.zeros((5, 2)), list("abcde"), ["o1", "o2"], Precision.FLOAT64)
    assert not bar.isVisible()
    names = [f"o{i}" for i in range(64)]
    panel.table.show_output(np.zeros((5, 64)), list("abcde"), names, Precision.FLOAT64)
    qtbot.waitUntil(bar.isVisible)
    bar.setValue(bar.maximum())
    last = panel.table.visualRect(panel.table.array.index(0, 63))
    assert last.left() >= 0
    assert last.right() <= panel.table.viewport().width()
    assert not panel.table.horizontalScrollBar().isVisible()


@pytest.mark.parametrize("columns", [1, 2, 3])
@pytest.mark.parametrize("value", [0.0, -0.1234])
def test_three_columns_have_a_place_in_any_width(panel: OutputPanel, qtbot: QtBot, columns: int, value: float) -> None:
    bar = panel.findChild(FootScroll)
    assert isinstance(bar, FootScroll)
    names = [f"o{i + 1}" for i in range(columns)]
    panel.table.show_output(np.full((5, columns), value), list("abcde"), names, Precision.FLOAT64)
    panel.resize(1, 460)
    qtbot.waitUntil(lambda: panel.width() == panel.minimumWidth())
    assert panel.table.horizontalHeader().length() <= panel.table.viewport().width()
    assert not bar.isVisible()


def test_an_experiment_of_other_size_is_taken_over(
    panel: OutputPanel, context: Context, wait_traced: Callable[[], None], qtbot: QtBot
) -> None:
    context.document.start()
    wait_traced()
    context.document.apply("other", Experiment.from_tokens(["a", "b", "c"], np.eye(3)))
    wait_traced()
    qtbot.waitUntil(lambda: shown(panel).shape == (3, 3))
    assert panel.table.currentIndex().row() == context.selection.query


@pytest.mark.parametrize("width", range(152, 400, 31))
def test_no_column_is_cut_at_the_edge(
    panel: OutputPanel, context: Context, wait_traced: Callable[[], None], width: int
) -> None:
    X = np.random.default_rng(1).standard_normal((4, 9))
    context.document.apply("wide", Experiment.from_tokens("abcd", X))
    context.document.start()
    wait_traced()
    assert panel.table.model().columnCount() == 9
    panel.resize(width, 400)
    table = panel.table
    each, room = table.columnWidth(0), table.viewport().width()
    assert room % each < room // each, "what is left over is less than a pixel a column"
