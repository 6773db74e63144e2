"""Zoom and pan: at the pointer, shared by both heatmaps, back with a double click."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from attn_gui.views.bands import Bands
from attn_gui.views.context import Context
from attn_gui.views.heatmap.columns import Columns
from attn_gui.views.heatmap.grid import Grid
from attn_gui.views.heatmap.heatmap import Heatmap
from attn_gui.views.heatmap.plot import Plot
from tests.views.heatmaps import LEFT, Pair, place, random_experiment


@pytest.fixture
def pair(qtbot: QtBot, context: Context) -> Pair:
    made = Pair(qtbot, context)
    made.show_experiment(random_experiment(50, 40))
    return made


def wheel(heatmap: Heatmap, point: QPoint, notches: float) -> None:
    event = QWheelEvent(
        QPointF(point),
        QPointF(heatmap.plot.mapToGlobal(point)),
        QPoint(),
        QPoint(0, round(120 * notches)),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(heatmap.plot, event)


def under(heatmap: Heatmap, point: QPoint) -> tuple[float, float]:
    """The query and key, in fractions, that lie at a point."""
    area, bands, columns = heatmap.plot.area, heatmap.context.bands, heatmap.plot.columns
    query = bands.top + (point.y() - area.top()) / bands.pitch
    key = columns.left + (point.x() - area.left()) / area.width() * (columns.right - columns.left)
    return query, key


def test_the_wheel_zooms_at_the_pointer(context: Context, pair: Pair) -> None:
    heatmap = pair.A.heatmap
    point = place(heatmap, 31, 25)
    before = under(heatmap, point)
    for _ in range(5):
        cell = heatmap.plot.grid.cell_width, heatmap.plot.grid.cell_height
        wheel(heatmap, point, 1)
        assert heatmap.plot.grid.cell_width > cell[0]
        assert heatmap.plot.grid.cell_height > cell[1]
        assert under(heatmap, point) == pytest.approx(before, abs=0.6)
    for _ in range(8):
        wheel(heatmap, point, -1)
    assert context.bands.fitted
    assert heatmap.plot.columns.fitted


def test_both_heatmaps_show_the_same_part(pair: Pair) -> None:
    wheel(pair.N.heatmap, place(pair.N.heatmap, 10, 10), 4)
    pair.settle()
    assert pair.A.heatmap.plot.grid.queries == pair.N.heatmap.plot.grid.queries
    assert pair.A.heatmap.plot.grid.keys == pair.N.heatmap.plot.grid.keys
    assert pair.A.heatmap.plot.columns is pair.N.heatmap.plot.columns


def test_dragging_moves_what_is_under_the_pointer_along(qtbot: QtBot, context: Context, pair: Pair) -> None:
    heatmap = pair.A.heatmap
    wheel(heatmap, place(heatmap, 25, 20), 6)
    start = heatmap.plot.area.center()
    before = under(heatmap, start)
    end = start + QPoint(-40, -60)
    qtbot.mousePress(heatmap.plot, LEFT, pos=start)
    qtbot.mouseMove(heatmap.plot, end)
    assert heatmap.plot.cursor().shape() == Qt.CursorShape.ClosedHandCursor
    selected = context.selection.query, context.selection.key
    qtbot.mouseRelease(heatmap.plot, LEFT, pos=end)
    assert under(heatmap, end) == pytest.approx(before, abs=0.1)
    assert (context.selection.query, context.selection.key) == selected  # a drag is no click


def test_a_double_click_brings_everything_back(qtbot: QtBot, context: Context, pair: Pair) -> None:
    heatmap = pair.A.heatmap
    wheel(heatmap, place(heatmap, 25, 20), 6)
    assert not context.bands.fitted
    qtbot.mouseDClick(heatmap.plot, LEFT, pos=heatmap.plot.area.center())
    assert context.bands.fitted
    assert heatmap.plot.columns.fitted


def test_zooming_and_fitting_from_the_keyboard(qtbot: QtBot, context: Context, pair: Pair) -> None:
    heatmap = pair.A.heatmap
    context.selection.set_cell(40, 30)
    pair.activateWindow()
    heatmap.plot.setFocus()
    qtbot.waitUntil(heatmap.plot.hasFocus)
    qtbot.keyClick(heatmap.plot, Qt.Key.Key_Plus)
    qtbot.keyClick(heatmap.plot, Qt.Key.Key_Plus)
    assert 40 in heatmap.plot.grid.queries
    assert len(heatmap.plot.grid.queries) < 50
    wide = heatmap.plot.grid.cell_width
    qtbot.keyClick(heatmap.plot, Qt.Key.Key_Minus)
    assert heatmap.plot.grid.cell_width < wide
    qtbot.keyClick(heatmap.plot, Qt.Key.Key_0)
    assert context.bands.fitted


def test_moving_the_cell_out_of_sight_scrolls_to_it(qtbot: QtBot, context: Context, pair: Pair) -> None:
    heatmap = pair.A.heatmap
    context.bands.show_rows(0, 10)
    heatmap.plot.columns.show_keys(0, 10)
    context.selection.set_cell(0, 0)
    for _ in range(30):
        qtbot.keyClick(heatmap.plot, Qt.Key.Key_Right)
        qtbot.keyClick(heatmap.plot, Qt.Key.Key_Down)
        top, bottom = context.bands.visible
        assert top <= context.selection.query
        assert context.selection.query + 1 <= bottom + 1e-9
        assert heatmap.plot.columns.left <= context.selection.key
        assert context.selection.key + 1 <= heatmap.plot.columns.right + 1e-9


spans = st.tuples(st.floats(-100, 300), st.floats(-100, 300))


@given(count=st.integers(1, 200), steps=st.lists(spans, max_size=6), then=st.integers(1, 200))
def test_columns_never_show_less_than_one_key_nor_what_is_not_there(
    count: int, steps: list[tuple[float, float]], then: int
) -> None:
    columns = Columns()
    columns.set_count(count)
    assert columns.fitted
    for left, right in steps:
        columns.show_keys(left, right)
        assert columns.left >= 0
        assert columns.right <= count + 1e-9
        assert columns.right - columns.left >= 1 - 1e-9
        if left >= 0 and left + 1 <= right <= count:
            assert (columns.left, columns.right) == pytest.approx((left, right))
        columns.scroll(left)
        assert 0 <= columns.left <= columns.right <= count + 1e-9
    fitted = columns.fitted
    columns.set_count(then)
    assert columns.right <= then + 1e-9
    if fitted:
        assert columns.fitted


@given(
    n_q=st.integers(1, 300),
    n_k=st.integers(1, 300),
    width=st.integers(1, 900),
    height=st.integers(1, 900),
    x=st.floats(-50, 950),
    y=st.floats(-50, 950),
    span=st.tuples(st.floats(0, 300), st.floats(0, 300)),
)
def test_a_point_is_in_the_cell_that_is_drawn_there(
    n_q: int, n_k: int, width: int, height: int, x: float, y: float, span: tuple[float, float]
) -> None:
    bands, columns = Bands(), Columns()
    bands.set_count(n_q)
    bands.set_height(height)
    columns.set_count(n_k)
    columns.show_keys(*span)
    bands.show_rows(*span)
    grid = Grid.of(n_q, n_k, width, height, bands, columns)
    query, key = grid.query_at(y), grid.key_at(x)
    if query is not None and key is not None:
        place = grid.cell(query, key)
        assert place.top() - 1e-6 <= y <= place.bottom() + 1e-6
        assert place.left() - 1e-6 <= x <= place.right() + 1e-6
        assert grid.nearest(x, y) == (query, key)
        if 0 < y < height and 0 < x < width:
            assert query in grid.queries_between(y - 0.5, y + 0.5)
            assert key in grid.keys
    i, j = grid.nearest(x, y)
    assert 0 <= i < n_q
    assert 0 <= j < n_k


def test_a_jump_to_where_nothing_was_computed_yet_shows_it_when_it_is_there(context: Context, pair: Pair) -> None:
    pair.show_experiment(random_experiment(600, heads=2))
    heatmap = pair.A.heatmap
    context.bands.show_rows(0, 2)
    heatmap.plot.columns.show_keys(0, 2)
    pair.settle()
    # another head: what is known of it is only the part in sight
    context.selection.set_head(1)
    pair.settle()
    context.selection.set_cell(599, 599)
    heatmap.plot.ensure_visible(599, 599)
    QApplication.processEvents()
    pair.settle()
    assert heatmap.plot.grid.queries.stop == 600
    assert heatmap.plot.canvas.image.isVisible()
    request = heatmap.pictures.layers[-1].request
    assert request.head == 1 and request.rows[1] == 600


def test_what_is_zoomed_is_drawn_once_with_its_labels(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    plots = [panel.heatmap.plot for panel in (pair.A, pair.N)]
    drawn: list[Plot] = []
    draw = Plot._draw

    def counted(plot: Plot) -> None:
        assert plot.row_labels.grid == plot.column_labels.grid == plot.grid
        drawn.append(plot)
        draw(plot)

    monkeypatch.setattr(Plot, "_draw", counted)
    # the rows of both heatmaps change, then the columns of both
    wheel(pair.A.heatmap, place(pair.A.heatmap, 31, 25), 1)
    assert drawn == []
    pair.repaint()
    assert sorted(map(plots.index, drawn)) == [0, 1]
    for plot in plots:
        plot.canvas.repaint()
    assert len(drawn) == 2
