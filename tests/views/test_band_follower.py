"""Rows of a table and the shared bands."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, QStringListModel, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QFrame, QTableView
from pytestqt.qtbot import QtBot

from attn_gui.views.band_follower import BandFollower
from attn_gui.views.bands import HEADER, TABLE_ROW, Bands

HEIGHT = 400


@pytest.fixture
def bands() -> Bands:
    made = Bands()
    made.set_height(HEIGHT)
    return made


@pytest.fixture
def table(bands: Bands, qtbot: QtBot) -> QTableView:
    made = QTableView()
    made.setFrameShape(QFrame.Shape.NoFrame)
    made.setVerticalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
    made.verticalHeader().hide()
    made.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    model = QStringListModel(made)
    made.setModel(model)
    BandFollower(made, bands)
    made.resize(200, HEIGHT + HEADER)
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    return made


def fill(table: QTableView, bands: Bands, count: int) -> None:
    model = table.model()
    assert isinstance(model, QStringListModel)
    model.setStringList([str(row) for row in range(count)])
    bands.set_count(count)
    QApplication.processEvents()


def top_of(table: QTableView, row: int) -> int:
    return table.rowViewportPosition(row)


def wheel(table: QTableView, notches: int) -> None:
    where = QPointF(20, 200)
    event = QWheelEvent(
        where,
        QPointF(table.viewport().mapToGlobal(where.toPoint())),
        QPoint(),
        QPoint(0, -120 * notches),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(table.viewport(), event)


@pytest.mark.parametrize("count", [1, 5, 12, 20])
def test_rows_are_the_bands_while_they_are_tall_enough(table: QTableView, bands: Bands, count: int) -> None:
    fill(table, bands, count)
    assert table.horizontalHeader().height() == HEADER
    assert [top_of(table, row) for row in range(count)] == [int(row * bands.pitch) for row in range(count)]
    assert table.rowHeight(count - 1) == bands.pitch
    assert table.verticalScrollBar().maximum() == 0  # everything in sight, nothing to scroll


def test_rows_follow_the_height(table: QTableView, bands: Bands) -> None:
    fill(table, bands, 10)
    table.resize(200, 300 + HEADER)
    bands.set_height(300)
    assert table.rowHeight(3) == bands.pitch == 30


def test_a_zoomed_in_table_scrolls_with_the_bands(table: QTableView, bands: Bands) -> None:
    fill(table, bands, 20)
    bands.show_rows(5, 13)
    QApplication.processEvents()
    assert bands.pitch == 50
    assert top_of(table, 5) == 0
    bands.scroll(7.5)
    assert top_of(table, 7) == -25
    wheel(table, 1)
    assert bands.top > 7.5
    assert top_of(table, 0) == -round(bands.top * 50)
    wheel(table, 50)
    assert bands.top == 12  # the last row at the bottom
    assert top_of(table, 19) == HEIGHT - 50


def test_rows_too_low_for_text_have_a_height_of_their_own(table: QTableView, bands: Bands) -> None:
    fill(table, bands, 500)
    assert not bands.aligned
    assert table.rowHeight(0) == TABLE_ROW
    wheel(table, 4)
    assert table.verticalScrollBar().value() > 0
    assert bands.top == 0  # the bands show everything as it is


def test_a_long_table_shows_rows_that_the_bands_show(table: QTableView, bands: Bands) -> None:
    fill(table, bands, 2000)
    bands.show_rows(1000, 1200)
    QApplication.processEvents()
    page = HEIGHT / TABLE_ROW
    first = table.verticalScrollBar().value() / TABLE_ROW
    assert first >= 1000
    assert first + page <= 1200
    table.verticalScrollBar().setValue(1300 * TABLE_ROW)
    assert bands.top <= 1300
    assert bands.top + 200 >= 1300 + page - 0.01
    table.verticalScrollBar().setValue(100 * TABLE_ROW)
    assert bands.top == 100
    assert table.verticalScrollBar().value() == 100 * TABLE_ROW


def test_a_long_table_is_where_the_bands_were_when_they_are_fitted_again(table: QTableView, bands: Bands) -> None:
    fill(table, bands, 5_000)
    bands.show_rows(3_000, 3_008)
    assert bands.aligned and top_of(table, 3_000) == 0
    bands.fit()
    QApplication.processEvents()
    assert not bands.aligned and abs(top_of(table, 3_000)) < TABLE_ROW


def test_the_selected_row_of_a_long_table_stays_in_sight_when_it_becomes_lower(table: QTableView, bands: Bands) -> None:
    fill(table, bands, 5_000)
    bands.keep_in_sight(3_012)
    table.verticalScrollBar().setValue(3_000 * TABLE_ROW)
    assert top_of(table, 3_012) == 12 * TABLE_ROW
    bands.set_height(120)
    table.resize(200, 120 + HEADER)
    QApplication.processEvents()
    assert 0 <= top_of(table, 3_012) <= table.viewport().height() - TABLE_ROW
    table.verticalScrollBar().setValue(4_000 * TABLE_ROW)
    assert top_of(table, 4_000) == 0, "a person may scroll away from it"


def test_long_tables_show_the_same_rows(table: QTableView, bands: Bands, qtbot: QtBot) -> None:
    lower = QTableView()
    lower.setFrameShape(QFrame.Shape.NoFrame)
    lower.setVerticalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
    lower.verticalHeader().hide()
    lower.setModel(table.model())
    BandFollower(lower, bands)
    lower.resize(200, HEIGHT + HEADER - 12)  # as with a scroll bar below
    qtbot.addWidget(lower)
    with qtbot.waitExposed(lower):
        lower.show()
    fill(table, bands, 400)
    for one, other in ((table, lower), (lower, table)):
        wheel(one, 20)
        assert one.rowAt(0) == other.rowAt(0) > 0
        assert top_of(one, 100) == top_of(other, 100)
    one_end = lower.verticalScrollBar().maximum()
    lower.verticalScrollBar().setValue(one_end)
    assert lower.verticalScrollBar().value() == one_end
    bands.show_rows(0.0, 100.0)
    assert max(top_of(one, 100) for one in (table, lower)) <= HEIGHT
    bands.fit()
    table.scrollTo(table.model().index(10, 0))
    assert table.rowAt(0) == lower.rowAt(0)
