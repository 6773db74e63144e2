"""What an edge cuts is shortened with an ellipsis: in cells and in headers of every table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtGui import QFontMetrics, QImage, QPaintEvent, QRegion
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from attn_gui.model.precision import Precision
from attn_gui.views.array_model import ArrayModel
from attn_gui.views.context import Context
from attn_gui.views.cut_text import PADDING, CutHeader, cut_text, first_lines
from attn_gui.views.look import number_font
from attn_gui.views.spreadsheet import SpreadsheetView

COLUMN = 64
ELLIPSIS = "…"


@pytest.fixture
def view(context: Context, qtbot: QtBot) -> SpreadsheetView:
    """Four columns of 64 pixels with room for two and a half."""
    model = ArrayModel(context.settings)
    values = np.full((3, 4), 0.4321)
    model.show(values, list("abc"), ["output1", "output2", "output3", "output4"], Precision.FLOAT64)
    made = SpreadsheetView(context)
    model.setParent(made)
    made.setModel(model)
    made.verticalHeader().hide()
    made.horizontalHeader().setDefaultSectionSize(COLUMN)
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    made.resize(made.width() - made.viewport().width() + 5 * COLUMN // 2, 200)
    qtbot.waitUntil(lambda: made.viewport().width() == 5 * COLUMN // 2)
    return made


def cells(view: SpreadsheetView) -> list[tuple[QRect, str]]:
    indexes = [view.grid.index(0, column) for column in range(4)]
    return [view.cells.drawn(view.visualRect(index), index) for index in indexes]


def names(view: SpreadsheetView) -> list[tuple[QRect, str]]:
    header = view.horizontalHeader()
    assert isinstance(header, CutHeader)
    return [header.drawn(QRect(header.sectionViewportPosition(k), 0, COLUMN, 28), k) for k in range(4)]


@given(
    st.text("0123456789.−", min_size=1, max_size=9),
    st.integers(-120, 240),
    st.integers(1, 120),
    st.sampled_from([Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight, Qt.AlignmentFlag.AlignHCenter]),
)
def test_what_is_drawn_is_whole_or_says_that_it_is_not(
    qapp: object, text: str, left: int, width: int, side: Qt.AlignmentFlag
) -> None:
    metrics, sight = QFontMetrics(number_font()), QRect(0, 0, 150, 40)
    place, drawn = cut_text(text, metrics, QRect(left, 0, width, 20), side, sight)
    if drawn:
        advance = metrics.horizontalAdvance(drawn)
        start = {Qt.AlignmentFlag.AlignLeft: place.left(), Qt.AlignmentFlag.AlignRight: place.right() + 1 - advance}
        first = start.get(side, place.left() + (place.width() - advance) // 2)
        assert sight.left() <= first and first + advance <= sight.right() + 1
        assert place.left() <= first and first + advance <= place.right() + 1
    assert drawn in ("", text) or drawn[0] == ELLIPSIS or drawn[-1] == ELLIPSIS
    if left >= 0 and left + width <= 150 and metrics.horizontalAdvance(text) <= width:
        assert (place, drawn) == (QRect(left, 0, width, 20), text)


def test_a_number_cut_on_the_right(view: SpreadsheetView) -> None:
    texts = [text for _, text in cells(view)]
    assert texts[:2] == ["0.4321", "0.4321"]
    assert texts[2].endswith(ELLIPSIS) and texts[2] != ELLIPSIS
    assert "0.4321".startswith(texts[2][:-1])
    heads = [text for _, text in names(view)]
    assert heads[2].endswith(ELLIPSIS) and "output3".startswith(heads[2][:-1])


def test_a_number_cut_on_the_left(view: SpreadsheetView) -> None:
    view.horizontalScrollBar().setValue(COLUMN // 2)
    texts = [text for _, text in cells(view)]
    assert texts[0].startswith(ELLIPSIS) and "0.4321".endswith(texts[0][1:])
    assert texts[1:3] == ["0.4321", "0.4321"]
    assert names(view)[0][1].startswith(ELLIPSIS)


def test_a_short_number_whose_cell_is_cut_beside_it_stays(view: SpreadsheetView) -> None:
    view.horizontalScrollBar().setValue(PADDING)
    assert [text for _, text in cells(view)][:2] == ["0.4321", "0.4321"]


def test_the_drawing_keeps_clear_of_the_edge(view: SpreadsheetView) -> None:
    def ink(image: QImage, x: int) -> bool:
        background = image.pixelColor(image.width() - 1, image.height() - 1)
        return any(image.pixelColor(x, y) != background for y in range(2, view.rowHeight(0) - 2))

    view.setShowGrid(False)
    image = view.viewport().grab(QRect(0, 0, view.viewport().width(), view.rowHeight(0))).toImage()
    edge = image.width() - 1
    assert not ink(image, edge)
    assert any(ink(image, x) for x in range(2 * COLUMN + PADDING, edge))


class Paints(QObject):
    """Collects what a widget repaints."""

    def __init__(self) -> None:
        super().__init__()
        self.region = QRegion()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QPaintEvent):
            self.region = self.region.united(event.region())
        return False


def test_scrolling_draws_anew_what_the_edge_had_cut(view: SpreadsheetView, qtbot: QtBot) -> None:
    painted = {area: Paints() for area in (view.viewport(), view.horizontalHeader().viewport())}
    for area, paints in painted.items():
        area.installEventFilter(paints)
    view.horizontalScrollBar().setValue(20)
    for area, paints in painted.items():
        qtbot.waitUntil(lambda paints=paints, area=area: paints.region.boundingRect() == area.rect())


def test_a_long_row_name_is_shortened(view: SpreadsheetView) -> None:
    header = view.verticalHeader()
    assert isinstance(header, CutHeader)
    header.show()
    header.setFixedWidth(COLUMN)
    QApplication.processEvents()
    model = view.model()
    assert isinstance(model, ArrayModel)
    model.row_labels = ["incomprehensibilities", "b", "c"]
    drawn = header.drawn(QRect(0, 0, COLUMN, 30), 0)[1]
    assert drawn.startswith("in") and drawn.endswith(ELLIPSIS)


@given(st.text("ab c", max_size=200), st.integers(20, 400), st.integers(1, 4))
def test_the_first_lines_are_the_text_or_end_in_an_ellipsis(text: str, width: int, lines: int) -> None:
    font = number_font()
    shown = first_lines(text, font, width, lines)
    metrics = QFontMetrics(font)
    wrapped = metrics.boundingRect(QRect(0, 0, width, 1 << 16), Qt.TextFlag.TextWordWrap, shown)
    assert shown == text or (shown.endswith(ELLIPSIS) and text.startswith(shown.rstrip(ELLIPSIS).rstrip()))
    if not any(metrics.horizontalAdvance(word) > width for word in (*text.split(), ELLIPSIS)):
        assert wrapped.height() <= lines * metrics.lineSpacing()


def test_a_text_of_more_lines_is_cut_in_the_last_one(qapp: QApplication) -> None:
    text = "one two three four five six seven eight nine ten"
    shown = first_lines(text, number_font(), 120, 2)
    assert shown.endswith(ELLIPSIS) and 10 < len(shown) < len(text)
    assert first_lines(text, number_font(), 4000, 2) == text
