"""Stamps: what is copied looks as what is written, to the pixel."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from attn_gui.views.context import Context
from attn_gui.views.heatmap import stamps
from attn_gui.views.heatmap.stamps import Stamps
from attn_gui.views.look import number_font
from attn_gui.views.writer import RIGHT, writer
from tests.views.heatmaps import Pair, random_experiment

GROUND, INK = QColor("#fdfcf0"), QColor("#1b2128")
SIZE = QSize(80, 80)
BOXES = [(3, 13.5, 70, 15), (2.25, 30, 61.5, 17), (0, 50.5, 40, 20), (-9.5, 71, 50, 16), (61, -7, 40, 20)]
TEXTS = ["jag’t", "q1024", "long to be cut", "cut here", "and here"]
BARS = [(0, 71, 4, 1), (60, 60, 1, 4)]


def write(painter: QPainter, text: str, room: QRectF) -> None:
    writer(number_font()).line(text).draw(painter, room.left(), room.top(), room.width(), room.height(), RIGHT)


def sheet(ratio: float) -> QImage:
    image = QImage(round(80 * ratio), round(80 * ratio), QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(ratio)
    image.fill(GROUND)
    return image


@pytest.mark.parametrize("ratio", [1.0, 1.5, 2.0])
def test_what_is_copied_looks_as_written(qtbot: QtBot, ratio: float) -> None:
    kept = Stamps()
    kept.use(ratio, GROUND, INK)
    written = sheet(ratio)
    painter = QPainter(written)
    painter.setPen(INK)
    for text, box in zip(TEXTS, BOXES, strict=True):
        write(painter, text, QRectF(*box))
    for bar in BARS:
        painter.fillRect(QRectF(*bar), INK)
    painter.end()
    for _ in range(2):  # made, then taken again
        copied = QImage(written.size(), QImage.Format.Format_RGB32)
        copied.setDevicePixelRatio(ratio)
        copied.fill(QColor("#ff00ff"))
        kept.begin(SIZE)
        for text, box in zip(TEXTS, BOXES, strict=True):
            kept.put(text, box, write)
        kept.bars(BARS, INK)
        painter = QPainter(copied)
        kept.draw(painter)
        painter.end()
        assert copied == written


def test_each_is_written_once_until_it_looks_otherwise(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stamps, "KEPT", 3)
    kept, written = Stamps(), []

    def note(painter: QPainter, text: str, room: QRectF) -> None:
        written.append(text)
        write(painter, text, room)

    def drawn(texts: str, left: float = 1.0, ratio: float = 1.0, ink: QColor = INK) -> str:
        written.clear()
        kept.use(ratio, GROUND, ink)
        kept.begin(SIZE)
        for text in texts:
            kept.put(text, (left, 2, 30, 16), note)
        image = sheet(ratio)
        painter = QPainter(image)
        kept.draw(painter)
        painter.end()
        return "".join(written)

    assert drawn("abab") == "ab"
    assert drawn("ab", left=7.0) == "", "it may lie anywhere"
    assert drawn("a", left=7.5) == "a", "but not begin elsewhere within a pixel"
    assert drawn("a", ink=QColor("#ffffff")) == "a"
    assert drawn("a", ratio=2.0) == "a"
    kept.forget()
    assert drawn("abcde", ratio=2.0) == "abcde"
    assert drawn("de", ratio=2.0) == "", "the latest are kept"
    assert drawn("aa", ratio=1.25) == "aa", "where pixels are not whole nothing is copied"


@pytest.fixture
def pair(qtbot: QtBot, context: Context) -> Pair:
    made = Pair(qtbot, context)
    made.show_experiment(random_experiment(400, 300))
    return made


@pytest.mark.parametrize("theme", ["light", "contrast"])
def test_labels_and_sums_look_as_written_wherever_one_is(
    pair: Pair, context: Context, monkeypatch: pytest.MonkeyPatch, theme: str
) -> None:
    context.settings.theme = theme
    copying = Stamps.use

    def writing(self: Stamps, *of: Any) -> None:
        copying(self, *of)
        self._whole = 0

    plots = [pair.A.heatmap.plot, pair.N.heatmap.plot]
    for top, rows, left, keys in ((0, 400, 0, 300), (17.3, 111, 40, 90), (18.4, 111, 41.7, 90), (100, 9, 100, 7)):
        context.bands.show_rows(top, top + rows)
        plots[0].columns.show_keys(left, left + keys)
        context.selection.set_cell(min(399, int(top) + 3), min(299, int(left) + 2))
        context.selection.set_hover((min(399, int(top) + 5), min(299, int(left) + 4)))
        QApplication.processEvents()
        for plot in plots:
            copied = plot.grab().toImage()
            monkeypatch.setattr(Stamps, "use", writing)
            for strip in (plot.row_labels, plot.column_labels, plot.sums):
                if strip is not None:
                    strip._stamps._of = ()
            assert plot.grab().toImage() == copied
            monkeypatch.setattr(Stamps, "use", copying)
            for strip in (plot.row_labels, plot.column_labels, plot.sums):
                if strip is not None:
                    strip._stamps._of = ()
