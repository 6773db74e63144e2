"""The minimap: there where one has zoomed in, shows the part in sight, takes one elsewhere."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from pytestqt.qtbot import QtBot

from attn_gui.views.context import Context
from tests.views.heatmaps import Pair, random_experiment


@pytest.fixture
def pair(qtbot: QtBot, context: Context) -> Pair:
    made = Pair(qtbot, context, (1000, 600))
    made.show_experiment(random_experiment(200, 160))
    return made


def zoom(pair: Pair, factor: float) -> None:
    heatmap = pair.N.heatmap
    heatmap.pointer.zoom(factor, QPointF(heatmap.plot.area.center()))
    pair.settle()


def test_it_comes_where_one_has_zoomed_in_and_goes_again(pair: Pair) -> None:
    minimap = pair.N.heatmap.minimap
    assert not minimap.isVisible()
    zoom(pair, 4)
    assert minimap.isVisible()
    assert pair.A.heatmap.minimap.isVisible()
    assert pair.N.heatmap.plot.area.contains(minimap.geometry())
    assert minimap.height() > minimap.width()  # 200 queries, 160 keys
    pair.N.heatmap.pointer.fit()
    pair.settle()
    assert not minimap.isVisible()


def test_the_frame_is_the_part_in_sight(pair: Pair) -> None:
    zoom(pair, 4)
    minimap, grid = pair.N.heatmap.minimap, pair.N.heatmap.plot.grid
    frame = minimap.frame()
    x, y = minimap.width() / 160, minimap.height() / 200
    assert frame.left() == pytest.approx(grid.keys.start * x, abs=2)
    assert frame.right() == pytest.approx(grid.keys.stop * x, abs=2)
    assert frame.top() == pytest.approx(grid.queries.start * y, abs=2)
    assert frame.bottom() == pytest.approx(grid.queries.stop * y, abs=2)


def test_a_click_and_a_drag_take_one_there(qtbot: QtBot, pair: Pair) -> None:
    zoom(pair, 4)
    minimap, plot = pair.N.heatmap.minimap, pair.N.heatmap.plot
    qtbot.mousePress(minimap, Qt.MouseButton.LeftButton, pos=QPoint(2, 2))
    assert plot.grid.queries.start == 0
    assert plot.grid.keys.start == 0
    qtbot.mouseMove(minimap, QPoint(minimap.width() - 2, minimap.height() - 2))
    qtbot.mouseRelease(minimap, Qt.MouseButton.LeftButton, pos=QPoint(minimap.width() - 2, minimap.height() - 2))
    qtbot.mouseClick(minimap, Qt.MouseButton.LeftButton, pos=QPoint(minimap.width() - 2, minimap.height() - 2))
    assert plot.grid.queries.stop == 200
    assert plot.grid.keys.stop == 160


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_shows_the_matrix_in_the_colours_of_the_theme(context: Context, pair: Pair, theme: str) -> None:
    context.settings.theme = theme
    zoom(pair, 6)
    image = pair.N.heatmap.minimap.grab().toImage()
    colours = {image.pixel(x, y) for x in range(4, image.width() - 4) for y in range(4, image.height() - 4)}
    assert len(colours) > 20


def test_nothing_is_asked_for_it_while_it_is_not_there(context: Context, pair: Pair) -> None:
    assert "N.minimap" not in context.feed._asks
    zoom(pair, 4)
    assert "N.minimap" in context.feed._asks
    pair.N.heatmap.pointer.fit()
    assert "N.minimap" not in context.feed._asks
