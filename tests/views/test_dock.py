"""How tall a drawer opens, in the real window."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QScrollArea, QTableView
from pytestqt.qtbot import QtBot

from attn_gui.model.rotary.frequencies import Frequencies
from attn_gui.model.scoring import Scoring
from attn_gui.views.main_window import MainWindow
from tests.views.window_helpers import karina_window, settle


@pytest.fixture(params=["light", "contrast"])
def window(request: pytest.FixtureRequest, qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    def prepare(made: MainWindow) -> None:
        made.context.settings.theme = request.param
        made.context.settings.reduced_motion = True
        made.resize(1280, 900)

    with karina_window(qtbot, tmp_path, prepare) as made:
        yield made


def open_drawer(qtbot: QtBot, window: MainWindow, index: int) -> None:
    window.docks[index].toggleViewAction().trigger()
    settle(qtbot, window)
    QApplication.processEvents()


def test_a_drawer_opens_as_tall_as_its_table_and_no_taller(qtbot: QtBot, window: MainWindow) -> None:
    open_drawer(qtbot, window, 0)
    table = window.docks[0].findChild(QTableView)
    assert table is not None
    assert table.viewport().height() == table.verticalHeader().length() == 48
    assert table.verticalScrollBar().maximum() == 0


def test_the_largest_part_of_the_window_stays_with_the_panels_and_no_row_is_cut(
    qtbot: QtBot, window: MainWindow
) -> None:
    open_drawer(qtbot, window, 0)
    window.open_example("animal_one_head")
    settle(qtbot, window)
    table = window.docks[0].findChild(QTableView)
    assert table is not None
    assert window.docks[0].height() <= 0.4 * window.height()
    assert table.viewport().height() >= 48
    assert table.viewport().height() % table.rowHeight(0) == 0


def test_a_drawer_that_has_nothing_to_show_is_low(qtbot: QtBot, window: MainWindow) -> None:
    open_drawer(qtbot, window, 2)
    assert window.docks[2].height() < 180


def test_a_drawer_grows_with_what_is_chosen_in_it(qtbot: QtBot, window: MainWindow) -> None:
    open_drawer(qtbot, window, 3)
    dock, document = window.docks[3], window.context.document
    area = dock.findChild(QScrollArea)
    assert area is not None
    low = dock.height()
    document.apply("Rotary", replace(document.experiment, scoring=Scoring(rotary=Frequencies(scaling="yarn"))))
    settle(qtbot, window)
    qtbot.waitUntil(lambda: dock.height() > low)
    assert dock.height() <= 0.4 * window.height()
    qtbot.waitUntil(lambda: area.verticalScrollBar().maximum() == 0)
    document.undo_stack.undo()
    qtbot.waitUntil(lambda: dock.height() == low)


def test_drawers_that_share_a_place_are_no_lower_for_their_tabs(qtbot: QtBot, window: MainWindow) -> None:
    open_drawer(qtbot, window, 3)
    area = window.docks[3].findChild(QScrollArea)
    assert area is not None and area.verticalScrollBar().maximum() == 0
    window.docks[3].toggleViewAction().trigger()
    for index in range(4):
        open_drawer(qtbot, window, index)
    assert area.isVisible()
    qtbot.waitUntil(lambda: area.verticalScrollBar().maximum() == 0)


def test_a_drawer_behind_another_comes_to_the_front(qtbot: QtBot, window: MainWindow) -> None:
    first, second = window.docks[0], window.docks[3]
    for dock in (first, second):
        dock.toggleViewAction().trigger()
        settle(qtbot, window)
    assert first._obscured and not second._obscured
    first.toggleViewAction().trigger()
    settle(qtbot, window)
    assert first.isVisible() and second.isVisible() and second._obscured and not first._obscured
    assert first.toggleViewAction().isChecked()
    first.toggleViewAction().trigger()  # seen, and so closed
    settle(qtbot, window)
    assert first.isHidden() and not second._obscured
