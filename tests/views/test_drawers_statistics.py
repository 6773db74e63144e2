"""Statistics of heads in the Heads drawer: the table, its order, its file, and captions in the grid."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from attn_gui.compute.trace import trace
from attn_gui.model.asks import StatisticsAsk
from attn_gui.model.reshape import with_heads
from attn_gui.model.statistics import STATISTICS, HeadStatistics
from attn_gui.views.context import Context
from attn_gui.views.drawers.heads_drawer import HeadsDrawer
from attn_gui.views.drawers.statistics_model import SORT_ROLE, StatisticsModel
from tests.answering import answered
from tests.views.drawer_helpers import open_experiment, several_heads

ENTROPY = 1 + [statistic.name for statistic in STATISTICS].index("entropy")


@pytest.fixture
def drawer(context: Context, qtbot: QtBot, wait_traced: Callable[[], None]) -> HeadsDrawer:
    """The drawer with the table of four heads."""
    made = HeadsDrawer(context)
    qtbot.addWidget(made)
    made.resize(900, 330)
    open_experiment(context, several_heads())
    context.document.start()
    made.show()
    qtbot.waitExposed(made)
    made.stage.chosen.emit("table")
    wait_traced()
    qtbot.waitUntil(lambda: made.statistics.model.rowCount() == 4)
    return made


def right(context: Context) -> np.ndarray:
    values: np.ndarray = answered(trace(context.document.experiment), StatisticsAsk()).values
    return values


def column(drawer: HeadsDrawer, number: int) -> list[str]:
    model = drawer.statistics.table.model()
    return [str(model.index(row, number).data()) for row in range(model.rowCount())]


def test_every_number_is_there_and_explained(drawer: HeadsDrawer, context: Context) -> None:
    values = right(context)
    model = drawer.statistics.model
    assert column(drawer, 0) == ["1", "2", "3", "4"]
    assert column(drawer, ENTROPY) == [f"{value:.4f}" for value in values[:, ENTROPY - 1]]
    for place, statistic in enumerate(STATISTICS, start=1):
        told = model.headerData(place, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
        assert statistic.formula in told and statistic.about in told


def test_a_heading_sorts_and_the_numbers_decide(drawer: HeadsDrawer, context: Context) -> None:
    drawer.statistics.table.sortByColumn(ENTROPY, Qt.SortOrder.DescendingOrder)
    order = np.argsort(-right(context)[:, ENTROPY - 1]) + 1
    assert column(drawer, 0) == [str(head) for head in order]


def test_a_line_opens_its_head_and_follows_it(drawer: HeadsDrawer, context: Context, qtbot: QtBot) -> None:
    table = drawer.statistics.table
    table.sortByColumn(ENTROPY, Qt.SortOrder.DescendingOrder)
    table.setCurrentIndex(table.model().index(2, 0))
    qtbot.keyClick(table, Qt.Key.Key_Return)
    assert str(context.selection.head) == str(int(column(drawer, 0)[2]) - 1)
    context.selection.set_head(0)
    assert column(drawer, 0)[table.currentIndex().row()] == "1"


def test_lines_are_copied_with_their_headings(drawer: HeadsDrawer, qtbot: QtBot) -> None:
    table = drawer.statistics.table
    table.clearSelection()
    qtbot.keyClick(table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    lines = [line.split("\t") for line in QApplication.clipboard().text().splitlines()]
    assert lines[0] == ["Head", *(statistic.title for statistic in STATISTICS)]
    assert [line[0] for line in lines[1:]] == ["1", "2", "3", "4"]


def test_the_file_holds_exact_numbers(drawer: HeadsDrawer, context: Context, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "heads.csv"
    with qtbot.waitSignal(context.notices.said):
        drawer.statistics.write(path)
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert header == ["head", *(statistic.name for statistic in STATISTICS)]
    assert [row[0] for row in rows] == ["1", "2", "3", "4"]
    assert np.array_equal(np.array([row[1:] for row in rows], dtype=float), right(context))


def test_a_file_that_cannot_be_written_says_so(drawer: HeadsDrawer, context: Context, qtbot: QtBot) -> None:
    with qtbot.waitSignal(context.notices.said) as said:
        drawer.statistics.write(Path("/proc/none/heads.csv"))
    assert "heads.csv was not saved" in said.args[0].text


def test_one_head_has_statistics_too(drawer: HeadsDrawer, context: Context, qtbot: QtBot) -> None:
    context.document.apply("1 head", with_heads(context.document.experiment, 1))
    qtbot.waitUntil(lambda: drawer.statistics.model.rowCount() == 1)
    assert drawer.statistics.table.isVisible()


def test_captions_below_the_pictures(drawer: HeadsDrawer, context: Context, qtbot: QtBot) -> None:
    drawer.stage.chosen.emit("N")
    model = drawer.grid.model()
    drawer.caption.chosen.emit("entropy")
    values = right(context)
    qtbot.waitUntil(lambda: model.caption(3) == f"{values[3, ENTROPY - 1]:.2f}")
    assert "entropy" in str(model.index(4).data(Qt.ItemDataRole.AccessibleTextRole))
    assert model.caption("mean") == ""
    drawer.caption.chosen.emit("shown")
    qtbot.waitUntil(lambda: model.caption(3) == model.largest(3) and model.largest(3) is not None)


def test_what_a_head_has_not_is_a_dash_and_sorts_first(qtbot: QtBot, qtmodeltester: ModelTester) -> None:
    model = StatisticsModel()
    values = np.full((2, len(STATISTICS)), 0.5)
    values[1] = np.nan
    model.show(HeadStatistics(values), 4)
    qtmodeltester.check(model)
    assert model.text(1, 1) == "–"
    assert model.index(1, 1).data(SORT_ROLE) < model.index(0, 1).data(SORT_ROLE)
