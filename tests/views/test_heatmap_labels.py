"""Labels: of the right tokens at every zoom, whole where there is room, thinned where there is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFontMetricsF
from pytestqt.qtbot import QtBot

from attn_gui.model.experiment import Experiment
from attn_gui.views.bands import HEADER
from attn_gui.views.context import Context
from attn_gui.views.heatmap.column_labels import ColumnLabels
from attn_gui.views.heatmap.label_strip import LabelStrip
from attn_gui.views.heatmap.labels import stride, token_text
from attn_gui.views.look import number_font
from tests.views.heatmaps import LEFT, Pair, place, random_experiment

ODD = ("a\nb", "\t", "   ", "<b>bold</b>", "שלום", "🙂", "a" * 60, "the", "the")


def named(names: tuple[str, ...]) -> Experiment:
    base = random_experiment(len(names))
    return Experiment.from_tokens(names, base.tokens.embeddings.array())


def strips(pair: Pair) -> list[LabelStrip]:
    return [
        strip
        for panel in (pair.A, pair.N)
        for strip in (panel.heatmap.plot.row_labels, panel.heatmap.plot.column_labels)
    ]


@given(size=st.floats(0.01, 300), least=st.floats(1, 200))
def test_the_stride_is_the_smallest_round_one_that_gives_room(size: float, least: float) -> None:
    step = stride(size, least)
    assert step * size >= least
    rounds = [m * 10**k for k in range(8) for m in (1, 2, 5)]
    assert step in rounds
    assert not any(r * size >= least for r in rounds if r < step)


@pytest.mark.parametrize("zoom", [None, (0.0, 30.0), (40.0, 52.5), (93.0, 100.0)])
def test_every_label_is_at_its_row_and_column(qtbot: QtBot, context: Context, zoom: tuple[float, float] | None) -> None:
    pair = Pair(qtbot, context)
    experiment = random_experiment(100)
    pair.show_experiment(experiment)
    if zoom is not None:
        context.bands.show_rows(*zoom)
        pair.A.heatmap.plot.columns.show_keys(*zoom)
    pair.settle()
    bands = context.bands
    for heatmap in (pair.A.heatmap, pair.N.heatmap):
        rows, columns = heatmap.plot.row_labels, heatmap.plot.column_labels
        drawn = rows.drawn()
        assert len(drawn) >= 3
        for i, room in drawn.items():
            assert rows.text(i, room) == f"q{i}"
            middle = (i + 0.5 - bands.top) * bands.pitch
            if bands.pitch < 15:  # thinned labels stay within the strip
                middle = max(room.height() / 2, min(middle, rows.height() - room.height() / 2))
            assert abs(room.center().y() - middle) <= 1
        width = heatmap.plot.area.width() / (heatmap.plot.columns.right - heatmap.plot.columns.left)
        drawn = columns.drawn()
        assert len(drawn) >= 3
        for j, room in drawn.items():
            left = (j - heatmap.plot.columns.left) * width
            assert room.right() > left - width
            assert room.left() < left + width * 2 or room.left() == 0
            if room.width() > 40:
                assert columns.text(j, room) == f"q{j}"


def test_labels_never_lie_on_one_another(qtbot: QtBot, context: Context) -> None:
    pair = Pair(qtbot, context, (620, 400))
    for count in (14, 60, 500):
        pair.show_experiment(random_experiment(count))
        for zoom in (1.0, 0.5, 0.11):
            context.bands.show_rows(count * 0.4, count * (0.4 + zoom / 2))
            pair.A.heatmap.plot.columns.show_keys(count * 0.43, count * (0.43 + zoom / 2))
            for strip in strips(pair):
                rooms = list(strip.drawn().values())
                for k, room in enumerate(rooms):
                    assert not any(room.intersects(other) for other in rooms[k + 1 :])
                    assert strip.rect().toRectF().intersects(room)


def test_the_selected_label_is_drawn_however_dense(qtbot: QtBot, context: Context) -> None:
    pair = Pair(qtbot, context)
    pair.show_experiment(random_experiment(400))
    context.selection.set_cell(137, 251)
    for panel in (pair.A, pair.N):
        rows, columns = panel.heatmap.plot.row_labels, panel.heatmap.plot.column_labels
        assert rows.text(137, rows.drawn()[137]) == "q137"
        assert columns.text(251, columns.drawn()[251]) == "q251"


def test_a_long_label_is_elided_and_whole_in_the_tooltip(qtbot: QtBot, context: Context) -> None:
    pair = Pair(qtbot, context)
    pair.show_experiment(named(ODD))
    rows = pair.A.heatmap.plot.row_labels
    assert 56 <= rows.width() <= 96
    room = rows.drawn()[6]
    text = rows.text(6, room)
    assert text.endswith("…")
    assert QFontMetricsF(rows.font()).horizontalAdvance(text) <= room.width()
    tip = rows.tooltip(rows.place(6).center().toPoint())
    assert "a" * 60 in tip
    assert "query 7 of 9" in tip
    assert "&lt;b&gt;bold" in rows.tooltip(rows.place(3).center().toPoint())


def test_odd_tokens_have_labels_that_can_be_seen() -> None:
    assert [token_text(token) for token in ODD[:3]] == ["a↵b", "␣", "␣␣␣"]
    assert token_text("שלום") == "שלום"


def test_the_strip_fits_the_longest_label_within_limits(qtbot: QtBot, context: Context) -> None:
    pair = Pair(qtbot, context)
    rows = pair.A.heatmap.plot.row_labels
    for names, least, most in ((("a", "b"), 56, 56), (("karina goes", "b"), 72, 96), (("w" * 40, "b"), 96, 96)):
        pair.show_experiment(named(names))
        assert least <= rows.width() <= most
        for i, room in rows.drawn().items():
            assert len(names[i]) > 30 or rows.text(i, room) == names[i]


def test_pressing_a_label_selects_its_row_or_column(qtbot: QtBot, context: Context) -> None:
    pair = Pair(qtbot, context)
    pair.show_experiment(random_experiment(9))
    heatmap, selection = pair.N.heatmap, context.selection
    y = place(heatmap, 6, 0).y() - context.bands.header
    qtbot.mouseClick(heatmap.plot.row_labels, LEFT, pos=QPoint(20, y))
    assert (selection.query, selection.queries, selection.keys) == (6, {6}, frozenset())
    x = place(heatmap, 0, 4).x() - heatmap.plot.area.left()
    qtbot.mouseClick(heatmap.plot.column_labels, LEFT, pos=QPoint(x, 10))
    assert (selection.query, selection.key) == (6, 4)
    assert (selection.queries, selection.keys) == (frozenset(), {4})


def test_shift_extends_and_ctrl_adds(qtbot: QtBot, context: Context) -> None:
    pair = Pair(qtbot, context)
    pair.show_experiment(random_experiment(9))
    heatmap, selection = pair.A.heatmap, context.selection
    strip = heatmap.plot.column_labels

    def press(j: int, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        x = place(heatmap, 0, j).x() - heatmap.plot.area.left()
        qtbot.mouseClick(strip, LEFT, keys, QPoint(x, 10))

    press(2)
    press(5, Qt.KeyboardModifier.ShiftModifier)
    assert selection.keys == {2, 3, 4, 5}
    press(1, Qt.KeyboardModifier.ShiftModifier)
    assert selection.keys == {1, 2}
    press(7, Qt.KeyboardModifier.ControlModifier)
    assert selection.keys == {1, 2, 7}
    press(2, Qt.KeyboardModifier.ControlModifier)
    assert selection.keys == {1, 7}
    assert selection.key == 2  # a label that is added does not move the selected cell


def test_both_heatmaps_mark_the_same_band(qtbot: QtBot, context: Context) -> None:
    pair = Pair(qtbot, context)
    pair.show_experiment(random_experiment(6))
    context.selection.set_cell(4, 2)
    band = context.look.theme.colour("band").rgb()
    for heatmap in (pair.A.heatmap, pair.N.heatmap):
        image = heatmap.grab().toImage()
        for i in range(6):
            lit = image.pixel(8, place(heatmap, i, 0).y()) == band
            assert lit == (i == 4)
    image = pair.N.heatmap.grab().toImage()
    assert image.pixel(image.width() - 3, place(pair.N.heatmap, 4, 0).y()) == band


def test_a_tick_ties_each_thinned_label_to_its_row_or_column(qtbot: QtBot, context: Context) -> None:
    pair = Pair(qtbot, context)
    pair.show_experiment(random_experiment(400))
    context.selection.set_cell(203, 207)
    heatmap, muted = pair.A.heatmap, context.look.theme.colour("muted")
    rows, columns = heatmap.plot.row_labels, heatmap.plot.column_labels

    def near(pixel: int, limit: int) -> range:
        return range(max(0, pixel - 1), min(pixel + 2, limit))

    image = columns.grab().toImage()
    for j, room in columns.drawn().items():
        middle = place(heatmap, 0, j).x() - heatmap.plot.area.left()
        # at the ends a label moves no farther than its own text makes it
        text = QFontMetricsF(columns.font()).horizontalAdvance(f"q{j}")
        assert abs(room.center().x() - middle) <= text / 2 + 2
        assert any(image.pixelColor(x, columns.height() - 4) == muted for x in near(middle, columns.width())), j
    image = rows.grab().toImage()
    for i in rows.drawn():
        middle = place(heatmap, i, 0).y() - context.bands.header
        assert any(image.pixelColor(rows.width() - 2, y) == muted for y in near(middle, rows.height())), i


@pytest.mark.parametrize("count", [9, 24])
def test_labels_partly_out_of_sight_are_elided_or_left_out(qtbot: QtBot, context: Context, count: int) -> None:
    pair = Pair(qtbot, context, (1000, 640))
    pair.show_experiment(named(tuple(f"name {i}" for i in range(count))))
    for shift in (0.1, 0.35, 0.6, 0.85):
        context.bands.show_rows(1 + shift, count - 2)
        pair.A.heatmap.plot.columns.show_keys(1 + shift, count - 2)
        for strip in strips(pair):
            metrics = QFontMetricsF(strip.font())
            upright = isinstance(strip, ColumnLabels) and strip.upright
            for index, room in strip.drawn().items():
                text = strip.text(index, room)
                assert room.left() >= 0
                assert room.right() <= strip.width()
                if upright:
                    assert room.width() >= metrics.ascent()
                    assert metrics.horizontalAdvance(text) <= strip.height() - 8
                else:
                    assert metrics.horizontalAdvance(text) <= room.width()
                if not isinstance(strip, ColumnLabels):
                    assert room.center().y() - metrics.ascent() / 2 >= -1
                    assert room.center().y() + metrics.ascent() / 2 <= strip.height() + 1


def test_a_low_plot_has_a_low_header(qtbot: QtBot, context: Context) -> None:
    pair = Pair(qtbot, context, (720, 520))
    pair.show_experiment(named(tuple(f"quite long {i}" for i in range(11))))
    assert context.bands.header > HEADER
    assert pair.A.heatmap.plot.column_labels.upright
    pair.resize(720, 270)
    assert pair.A.heatmap.height() < 200
    assert context.bands.header == HEADER
    assert not pair.A.heatmap.plot.column_labels.upright
    pair.resize(720, 520)
    assert context.bands.header > HEADER
    # few rows need no more: what is low because nothing more is of use is not short of room
    labels = pair.A.heatmap.plot.column_labels
    width = labels.width()
    assert labels.wanted_height(width, HEADER + 72, 72) > HEADER
    assert labels.wanted_height(width, HEADER + 71, 72) == HEADER


@pytest.mark.parametrize("theme", ["light", "dark", "contrast"])
def test_the_corner_says_what_rows_and_columns_are(qtbot: QtBot, context: Context, theme: str) -> None:
    context.settings.theme = theme
    pair = Pair(qtbot, context)
    for names in (("a", "b", "c"), tuple(f"{'w' * 12} {i}" for i in range(11))):
        pair.show_experiment(named(names))
        for panel in (pair.A, pair.N):
            plot = panel.heatmap.plot
            corner = plot.corner
            assert corner.geometry().bottomRight() + QPoint(1, 1) == plot.area.topLeft()
            font = number_font()
            font.setPixelSize(corner.pixels())
            image, muted = corner.grab().toImage(), context.look.theme.colour("muted")
            for text, box in zip(("key →", "query ↓"), corner.places(), strict=True):
                assert corner.rect().contains(box)
                assert QFontMetricsF(font).horizontalAdvance(text) <= box.width()
                inked = [
                    abs(image.pixelColor(x, y).lightness() - muted.lightness()) < 60
                    for x in range(box.left(), box.right())
                    for y in range(box.top(), box.bottom())
                ]
                assert any(inked)
                assert not all(inked)
