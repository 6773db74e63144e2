"""Pictures sampled to pixels, and hatching, against the plainest reckoning of the same."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QFontMetricsF
from pytestqt.qtbot import QtBot

from attn_gui.model.picture import MASKED, NON_FINITE, Picture, PictureRequest
from attn_gui.views.heatmap.flash_item import changed_cells
from attn_gui.views.heatmap.grid import Grid
from attn_gui.views.heatmap.hatch import hatching, lines_in, spacing
from attn_gui.views.heatmap.image import index_to_qimage, sampled
from attn_gui.views.heatmap.numbers_item import TOO_LONG, fitting_style, inks
from attn_gui.views.theme import LIGHT, THEMES


def picture(index: np.ndarray, rows: tuple[int, int], columns: tuple[int, int]) -> Picture:
    request = PictureRequest("N", 0, rows, columns, index.shape)
    return Picture(request, index, index.astype(float), 0.0, 1.0, True)


@given(
    shape=st.tuples(st.integers(1, 30), st.integers(1, 30)),
    area=st.tuples(st.integers(1, 90), st.integers(1, 90)),
    zoom=st.tuples(st.floats(1, 6), st.floats(1, 6)),
    offset=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    ratio=st.sampled_from([1.0, 1.25, 2.0]),
    seed=st.integers(0, 99),
)
def test_every_device_pixel_shows_the_cell_under_its_centre(
    shape: tuple[int, int],
    area: tuple[int, int],
    zoom: tuple[float, float],
    offset: tuple[float, float],
    ratio: float,
    seed: int,
) -> None:
    index = np.random.default_rng(seed).integers(0, 256, shape).astype(np.uint8)
    (n_q, n_k), (height, width) = shape, area
    cell_h, cell_w = zoom[0] * height / n_q, zoom[1] * width / n_k
    y0, x0 = -offset[0] * (n_q * cell_h - height), -offset[1] * (n_k * cell_w - width)
    grid = Grid(n_q, n_k, width, height, x0, y0, cell_w, cell_h)
    pixels, place = sampled([picture(index, (0, n_q), (0, n_k))], grid, ratio)
    assert place.left() == 0
    assert place.top() == 0
    assert pixels.shape == (math.ceil(height * ratio - 1e-6), math.ceil(width * ratio - 1e-6))
    for py in range(0, pixels.shape[0], 7):
        for px in range(0, pixels.shape[1], 7):
            i, j = ((py + 0.5) / ratio - y0) / cell_h, ((px + 0.5) / ratio - x0) / cell_w
            if min(i % 1, 1 - i % 1, j % 1, 1 - j % 1) > 1e-6:  # not on a border, where either is right
                assert pixels[py, px] == index[min(int(i), n_q - 1), min(int(j), n_k - 1)]


def test_a_part_lies_over_the_whole_at_its_place() -> None:
    whole = picture(np.zeros((10, 10), np.uint8), (0, 10), (0, 10))
    part = picture(np.full((3, 4), 9, np.uint8), (2, 5), (5, 9))
    grid = Grid(10, 10, 100, 100, 0.0, 0.0, 10.0, 10.0)
    pixels, _ = sampled([whole, part], grid, 1.0)
    expected = np.zeros((100, 100), np.uint8)
    expected[20:50, 50:90] = 9
    np.testing.assert_array_equal(pixels, expected)


def test_a_part_alone_is_drawn_at_its_place() -> None:
    part = picture(np.full((3, 4), 9, np.uint8), (2, 5), (5, 9))
    pixels, place = sampled([part], Grid(10, 10, 100, 100, 0.0, 0.0, 10.0, 10.0), 1.0)
    assert place == QRectF(50, 20, 40, 30)
    assert pixels.shape == (30, 40)


def test_an_index_image_has_the_colours_of_its_table() -> None:
    index = np.arange(256, dtype=np.uint8).reshape(16, 16)[:, ::2]
    image = index_to_qimage(index, LIGHT.sequential)
    for y in range(16):
        for x in range(8):
            colour = image.pixelColor(x, y)
            assert (colour.red(), colour.green(), colour.blue()) == tuple(LIGHT.sequential[index[y, x], :3])


@given(step=st.integers(3, 9), seed=st.integers(0, 50), ratio=st.sampled_from([1.0, 2.0]))
def test_only_cells_without_a_colour_are_hatched_and_each_has_a_line(step: int, seed: int, ratio: float) -> None:
    marks = np.random.default_rng(seed).choice([0, 200, MASKED, NON_FINITE], (6, 5)).astype(np.uint8)
    size = round(step * ratio)
    pixels = np.repeat(np.repeat(marks, size, axis=0), size, axis=1)
    colours = {MASKED: QColor("#ff0000"), NON_FINITE: QColor("#0000ff")}
    image = hatching(pixels, ratio, step, colours)
    for i in range(6):
        for j in range(5):
            found = [image.pixelColor(j * size + x, i * size + y) for x in range(size) for y in range(size)]
            drawn = [colour for colour in found if colour.alpha() > 100]
            if marks[i, j] not in colours:
                assert all(colour.alpha() == 0 for colour in found)
            else:
                assert drawn
                assert len(drawn) < len(found) or size < 4
                assert all(abs(c.red() - colours[int(marks[i, j])].red()) < 8 for c in drawn)


@given(width=st.floats(0.1, 400), height=st.floats(0.1, 400))
def test_lines_are_close_enough_for_a_single_cell(width: float, height: float) -> None:
    step = spacing(width, height)
    assert 3 <= step <= 8
    if min(width, height) >= 3:
        assert step <= min(width, height)


@given(
    x=st.floats(-50, 50),
    y=st.floats(-50, 50),
    w=st.floats(1, 60),
    h=st.floats(1, 60),
    step=st.floats(2, 9),
    crossed=st.booleans(),
)
def test_lines_stay_within_their_cell(x: float, y: float, w: float, h: float, step: float, crossed: bool) -> None:
    cell = QRectF(x, y, w, h)
    around = cell.adjusted(-1e-6, -1e-6, 1e-6, 1e-6)
    lines = lines_in(cell, step, crossed)
    for line in lines:
        assert around.contains(line.p1())
        assert around.contains(line.p2())
    if min(w, h) >= step:
        assert len(lines) >= (2 if crossed else 1)


def test_ink_can_be_read_on_every_colour(qtbot: QtBot) -> None:
    def luminance(colour: QColor) -> float:
        parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour.getRgbF()[:3]]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    for theme in THEMES.values():
        for table in (theme.sequential, theme.diverging):
            for k, ink in enumerate(inks(table)[:254]):
                one, other = luminance(ink), luminance(QColor(*(int(c) for c in table[k, :3])))
                contrast = (max(one, other) + 0.05) / (min(one, other) + 0.05)
                assert contrast >= 4.2, (theme.name, k, contrast)


def test_numbers_get_fewer_decimals_then_none_as_cells_shrink(qtbot: QtBot) -> None:
    values = np.array([[0.12345, 0.98765], [0.5, 0.25]])
    assert fitting_style(values, 80, 40, 4).decimals == 4
    assert fitting_style(values, 34, 40, 4).decimals == 2
    assert fitting_style(values, 14, 40, 4).decimals == 1
    assert fitting_style(values, 9, 40, 4) is None
    assert fitting_style(values, 80, 8, 4) is None
    assert fitting_style(values, 80, 40, 1).decimals == 1
    assert fitting_style(np.array([[1.0, 2.0]]), 80, 40, 4).decimals == 1
    assert fitting_style(np.array([[np.nan, np.inf]]), 80, 40, 4) is None
    assert fitting_style(values * 1e30, 80, 40, 4) is None
    decimals = [style.decimals if (style := fitting_style(values, w, 40, 4)) else -1 for w in range(80, 8, -1)]
    assert decimals == sorted(decimals, reverse=True)


def test_one_long_number_costs_the_others_nothing(qtbot: QtBot) -> None:
    values = np.random.default_rng(0).uniform(0.1, 0.9, (9, 9))
    alone = fitting_style(values, 44, 30, 4)
    values[4, 4] = 112345.6
    style = fitting_style(values, 44, 30, 4)
    assert style is not None
    assert (style.decimals, style.bare, style.font) == (alone.decimals, alone.bare, alone.font)
    assert style.text(0.25, 44) == "0.2500"
    assert style.text(values[4, 4], 44) == TOO_LONG


def test_a_score_far_above_the_others_goes_without_its_decimals(qtbot: QtBot) -> None:
    values = np.random.default_rng(0).uniform(-2, 2, (9, 9))
    values[4, 4] = 112.0
    style = fitting_style(values, 24, 30, 4)
    assert style is not None
    assert style.text(-1.23, 24) == "-1.2"
    assert style.text(112.0, 24) == "112"


def test_numbers_that_would_all_read_as_zero_are_left_out(qtbot: QtBot) -> None:
    assert fitting_style(np.full((30, 30), 0.031), 14, 30, 4) is None
    assert fitting_style(np.full((30, 30), 0.31), 14, 30, 4).text(0.31, 14) == ".3"


@pytest.mark.usefixtures("qapp")
@given(
    values=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=12),
    width=st.floats(4, 120),
    decimals=st.integers(0, 6),
)
def test_what_is_written_fits_and_is_most_of_it(values: list[float], width: float, decimals: int) -> None:
    style = fitting_style(np.array(values), width, 40, decimals)
    if style is None:
        return
    metrics = QFontMetricsF(style.font)
    texts = [style.text(value, width) for value in values]
    for value, text in zip(values, texts, strict=True):
        if text != TOO_LONG:
            assert metrics.horizontalAdvance(text) <= width - 1
            written = float(text.replace("−", "-"))
            assert abs(written - value) <= max(0.5 * 10.0**-style.decimals, 0.05 * abs(value)) * 1.0001
    there = [text for value, text in zip(values, texts, strict=True) if value != 0]
    assert sum(text != TOO_LONG for text in there) >= len(there) / 2


def test_only_what_changed_flashes() -> None:
    before = picture(np.zeros((5, 5), np.uint8), (10, 15), (20, 25))
    values = before.values.copy()
    values[1, 2] = 1.0
    values[3, 3] = np.nan
    after = Picture(before.request, before.index, values, 0.0, 1.0, True)
    changes = changed_cells(before, after)
    assert changes is not None
    assert (changes.top, changes.left) == (11, 22)
    np.testing.assert_array_equal(changes.cells, [[1, 0], [0, 0], [0, 1]])
    assert changed_cells(after, Picture(after.request, after.index, values.copy(), 0.0, 1.0, True)) is None
    assert changed_cells(None, after) is None
    pooled = Picture(before.request, before.index, values, 0.0, 1.0, False)
    assert changed_cells(before, pooled) is None
    elsewhere = picture(np.ones((5, 5), np.uint8), (0, 5), (0, 5))
    assert changed_cells(before, elsewhere) is None


def test_a_masked_weight_of_zero_flashes_though_its_number_stays() -> None:
    before = picture(np.zeros((2, 2), np.uint8), (0, 2), (0, 2))
    index = before.index.copy()
    index[0, 1] = MASKED
    changes = changed_cells(before, Picture(before.request, index, before.values, 0.0, 1.0, True))
    assert changes is not None
    assert (changes.top, changes.left, changes.cells.tolist()) == (0, 1, [[1]])


def test_large_pictures_do_not_flash() -> None:
    before = picture(np.zeros((65, 2), np.uint8), (0, 65), (0, 2))
    after = picture(np.ones((65, 2), np.uint8), (0, 65), (0, 2))
    assert changed_cells(before, after) is None


def test_a_whole_number_is_written_without_decimals_where_there_is_no_room_for_them() -> None:
    values = np.array([[1.0, 0.5, 0.5, 0.25]])
    style = fitting_style(values, 14, 40, 4)
    assert style is not None and style.text(0.5, 14) == ".5"
    assert style.text(1.0, 14) == "1" and style.text(1.25, 14) == TOO_LONG


def test_a_number_that_is_rounded_to_one_is_told_with_one_decimal_less(qtbot: QtBot) -> None:
    values = np.full((9, 9), 0.05)
    values[0, :2] = 0.9986, 0.99
    style = next(s for w in range(16, 30) if (s := fitting_style(values, w, 30, 4)) and s.decimals == 2)
    width = next(w for w in range(12, 40) if style.text(0.99, w) == ".99")  # as narrow as it may be
    assert style.text(0.9986, width) == "1.0" and style.text(1.0, width) == "1"
    assert style.text(1.3, width) == TOO_LONG and style.text(0.9986, width - 1) == TOO_LONG
    assert style.text(-0.9986, 80) == "-1.00"
