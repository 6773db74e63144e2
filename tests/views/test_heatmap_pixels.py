"""What is drawn: every cell in its colour, masked cells hatched, rows where the tables' rows are."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QFontMetricsF, QImage
from pytestqt.qtbot import QtBot

from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal
from attn_gui.model.painted import Painted
from attn_gui.views.context import Context
from attn_gui.views.heatmap.heatmap import Heatmap
from attn_gui.views.heatmap.numbers_item import DARK_INK, LIGHT_INK
from tests.views.heatmaps import LEFT, Pair, grabbed, is_one_of, place, random_experiment, reference

SMALL = [
    pytest.param(random_experiment(5), id="5x5"),
    pytest.param(random_experiment(1), id="1x1"),
    pytest.param(random_experiment(7, 3), id="7x3"),
    pytest.param(random_experiment(13), id="13x13"),
    pytest.param(random_experiment(30, 41), id="30x41"),
    pytest.param(random_experiment(90), id="90x90"),
]


def where(values: np.ndarray, allowed: np.ndarray, diverging: bool) -> np.ndarray:
    """Where on the colour scale each value lies, 0 to 253."""
    low, high = float(values[allowed].min()), float(values[allowed].max())
    if diverging:
        high = max(abs(low), abs(high))
        low = -high
    else:
        low = min(low, 0.0)
    return (values - low) / (high - low) * 253


def sample(heatmap: Heatmap, image: QImage, i: int, j: int) -> QColor | None:
    """A pixel of the cell that no number covers: its middle if small, else one near a corner.

    None where the outline of the selected cell, or the edges of its band, come too close.
    """
    small = min(heatmap.plot.grid.cell_height, heatmap.plot.grid.cell_width) < 12
    point = place(heatmap, i, j, 0.5 if small else 0.2, 0.5 if small else 0.22) - heatmap.plot.area.topLeft()
    selection = heatmap.context.selection
    cell = heatmap.plot.grid.cell(selection.query, selection.key)
    x, y = point.x() + 0.5, point.y() + 0.5
    if min(abs(y - cell.top()), abs(y - cell.bottom())) < 2:
        return None
    border = 6 if small else 4
    outside = cell.adjusted(-border, -border, border, border)
    inside = cell.adjusted(border, border, -border, -border)
    if outside.contains(x, y) and not (inside.isValid() and inside.contains(x, y)):
        return None
    return image.pixelColor(point)


@pytest.mark.parametrize("experiment", SMALL)
def test_every_cell_has_its_colour(qtbot: QtBot, context: Context, experiment: Experiment) -> None:
    pair = Pair(qtbot, context, (1003, 517))
    pair.show_experiment(experiment)
    A, N, allowed = reference(experiment)
    theme = context.look.theme
    n_q, n_k = experiment.n_q, experiment.n_k
    for heatmap, values, table, diverging in (
        (pair.A.heatmap, A, theme.diverging, True),
        (pair.N.heatmap, N, theme.sequential, False),
    ):
        seen = np.zeros((n_q, n_k), bool)
        expected = where(values, allowed, diverging)
        for selected in ((0, 0), (n_q - 1, n_k - 1)):
            context.selection.set_cell(*selected)
            image = grabbed(heatmap)
            for i in range(n_q):
                for j in range(n_k):
                    colour = sample(heatmap, image, i, j)
                    if colour is not None:
                        seen[i, j] = True
                        assert is_one_of(colour, table, expected[i, j]), (heatmap.name, i, j)
        assert seen.all()


@pytest.mark.parametrize("theme", ["light", "dark", "contrast"])
def test_colours_follow_the_theme(qtbot: QtBot, context: Context, theme: str) -> None:
    pair = Pair(qtbot, context)
    experiment = random_experiment(6)
    pair.show_experiment(experiment)
    context.settings.theme = theme
    _, N, allowed = reference(experiment)
    image, expected = grabbed(pair.N.heatmap), where(N, allowed, False)
    for i in range(6):
        for j in range(6):
            colour = sample(pair.N.heatmap, image, i, j)
            assert colour is not None
            assert is_one_of(colour, context.look.theme.sequential, expected[i, j])


def test_zoomed_cells_have_their_colours(qtbot: QtBot, context: Context) -> None:
    pair = Pair(qtbot, context)
    experiment = random_experiment(40)
    pair.show_experiment(experiment)
    context.bands.show_rows(11.3, 20)
    pair.A.heatmap.plot.columns.show_keys(7.6, 15.1)
    pair.settle()
    A, _, allowed = reference(experiment)
    image, expected = grabbed(pair.A.heatmap), where(A, allowed, True)
    for i in range(13, 19):
        for j in range(8, 15):
            colour = sample(pair.A.heatmap, image, i, j)
            assert colour is not None
            assert is_one_of(colour, context.look.theme.diverging, expected[i, j]), (i, j)


def test_many_rows_show_the_largest_of_each_pixel(qtbot: QtBot, context: Context) -> None:
    pair = Pair(qtbot, context)
    experiment = random_experiment(2000, 3)
    pair.show_experiment(experiment)
    A, _, allowed = reference(experiment)
    heatmap = pair.A.heatmap
    image, height = grabbed(heatmap), heatmap.plot.area.height()
    low, high = -np.abs(A).max(), np.abs(A).max()
    for j in range(3):
        x = place(heatmap, 0, j).x() - heatmap.plot.area.left()
        for y in range(20, height):  # below the outline of the selected cell
            block = A[y * 2000 // height : (y + 1) * 2000 // height, j]
            index = (block.max() - low) / (high - low) * 253
            assert is_one_of(image.pixelColor(x, y), context.look.theme.diverging, index), (y, j)
    assert allowed.all()


def test_many_columns_reach_the_right_edge(qtbot: QtBot, context: Context) -> None:
    pair = Pair(qtbot, context)
    experiment = random_experiment(1, 2000)
    pair.show_experiment(experiment)
    A, _, _ = reference(experiment)
    heatmap = pair.A.heatmap
    image, width = grabbed(heatmap), heatmap.plot.area.width()
    bound = np.abs(A).max()
    for x in range(20, width):
        block = A[0, x * 2000 // width : (x + 1) * 2000 // width]
        index = (block.max() + bound) / (2 * bound) * 253
        assert is_one_of(image.pixelColor(x, 26), context.look.theme.diverging, index), x


@pytest.mark.parametrize("rows", [5, 9, 14])
def test_rows_lie_where_the_bands_say_to_the_pixel(qtbot: QtBot, context: Context, rows: int) -> None:
    pair = Pair(qtbot, context)
    pair.show_experiment(random_experiment(rows))
    bands = context.bands
    assert bands.aligned
    assert bands.height == pair.A.heatmap.height() - bands.header
    for zoom in (None, (1.0, rows / 2), (2.5, rows / 2 + 2)):
        if zoom is not None:
            bands.show_rows(*zoom)
            pair.settle()
        offset = round(bands.top * bands.pitch)
        for heatmap in (pair.A.heatmap, pair.N.heatmap):
            image = heatmap.grab().toImage()
            area = heatmap.plot.area
            # the first pixel of every row but the first is a hairline between it and the row above
            x = area.left() + area.width() // rows // 2 // 4
            hairline = context.look.theme.colour("panel").rgb()
            for i in range(1, rows):
                y = bands.header + i * int(bands.pitch) - offset
                if i in (context.selection.query, context.selection.query + 1):
                    continue
                if bands.header < y < heatmap.height() - 1:
                    assert image.pixel(x, y) == hairline, (heatmap.name, zoom, i)
                    assert image.pixel(x, y + 1) != hairline, (heatmap.name, zoom, i)
                    assert image.pixel(x, y - 1) != hairline, (heatmap.name, zoom, i)


def colours(heatmap: Heatmap, image: QImage, i: int, j: int) -> set[int]:
    """The colours of the middle half of a cell."""
    top, bottom = place(heatmap, i, j, 0.1, 0.1), place(heatmap, i, j, 0.9, 0.9)
    area = heatmap.plot.area
    return {
        image.pixel(x - area.left(), y - area.top())
        for x in range(top.x(), bottom.x())
        for y in range(top.y(), bottom.y())
    }


@pytest.mark.parametrize("count", [5, 24])
def test_masked_cells_are_hatched_and_no_others(qtbot: QtBot, context: Context, count: int) -> None:
    pair = Pair(qtbot, context, (1000, 720))  # high enough for every row
    experiment = random_experiment(count, rule=Causal())
    experiment = Experiment.from_tokens(
        experiment.tokens.tokens,
        experiment.tokens.embeddings.array(),
        rule=Causal(),
        painted=Painted().with_cells([(count - 1, 1)], False),
    )
    pair.show_experiment(experiment)
    theme = context.look.theme
    fill, line = theme.colour("masked").rgb(), theme.colour("hatch")
    _, _, allowed = reference(experiment)
    for heatmap in (pair.A.heatmap, pair.N.heatmap):
        image = grabbed(heatmap)
        for i in range(count):
            for j in range(count):
                found = colours(heatmap, image, i, j)
                # lines are antialiased, so some pixels are nearly of their colour
                hatched = fill in found and any(_close(QColor(c), line) for c in found)
                assert hatched == (not allowed[i, j]), (heatmap.name, i, j)
        assert heatmap.footer.bar.scale is not None
        assert heatmap.footer.bar.scale.masked


def _close(one: QColor, other: QColor) -> bool:
    return max(abs(a - b) for a, b in zip(one.getRgb(), other.getRgb(), strict=True)) < 40


def test_a_whole_triangle_of_small_cells_is_hatched(qtbot: QtBot, context: Context) -> None:
    pair = Pair(qtbot, context)
    pair.show_experiment(random_experiment(300, rule=Causal()))
    heatmap = pair.A.heatmap
    image = grabbed(heatmap)
    theme = context.look.theme
    for i, j in ((20, 200), (150, 280), (100, 130)):
        point = place(heatmap, i, j) - heatmap.plot.area.topLeft()
        around = {image.pixel(point.x() + dx, point.y() + dy) for dx in range(7) for dy in range(7)}
        assert theme.colour("masked").rgb() in around
        assert any(_close(QColor(c), theme.colour("hatch")) for c in around)


def test_what_is_not_finite_has_a_sign_of_its_own(qtbot: QtBot, context: Context) -> None:
    random = np.random.default_rng(1)
    Q = random.standard_normal((4, 3))
    Q[2] = [np.inf, 1.0, 1.0]
    K = np.abs(random.standard_normal((4, 3)))
    pair = Pair(qtbot, context)
    pair.show_experiment(Experiment.from_qkv(Q, K, random.standard_normal((4, 2))))
    theme = context.look.theme
    image = grabbed(pair.A.heatmap)
    for j in range(4):
        found = colours(pair.A.heatmap, image, 2, j)
        assert theme.colour("non_finite").rgb() in found
        assert any(_close(QColor(c), theme.colour("panel")) for c in found)  # the crossed lines
    finite = np.delete(Q, 2, axis=0) @ K.T / np.sqrt(3)
    bound = np.abs(finite).max()
    for row, i in enumerate((0, 1, 3)):
        for j in range(4):
            index = (finite[row, j] + bound) / (2 * bound) * 253
            colour = sample(pair.A.heatmap, image, i, j)
            assert colour is not None
            assert is_one_of(colour, theme.diverging, index)
    scale = pair.A.heatmap.footer.bar.scale
    assert scale is not None
    assert scale.non_finite


def test_before_torch_is_there_it_says_so(qtbot: QtBot, context: Context) -> None:
    pair = Pair(qtbot, context)
    for heatmap in (pair.A.heatmap, pair.N.heatmap):
        assert heatmap.plot.message.isVisible()
        assert heatmap.plot.message.text() == "starting torch"
        assert heatmap.plot.message.geometry() == heatmap.plot.area
    context.document.start()
    pair.settle()
    assert not pair.A.heatmap.plot.message.isVisible()


def test_a_trace_that_takes_long_dims_the_picture(qtbot: QtBot, context: Context) -> None:
    pair = Pair(qtbot, context)
    pair.show_experiment(random_experiment(5))
    image = pair.A.heatmap.plot.canvas.image
    context.feed.busy_changed.emit(True)
    assert image.opacity() == 1
    pair.A.heatmap._busy_timer.timeout.emit()
    assert image.opacity() < 1
    context.feed.busy_changed.emit(False)
    assert image.opacity() == 1


def test_a_new_picture_is_never_blank_and_never_misplaced(qtbot: QtBot, context: Context) -> None:
    pair = Pair(qtbot, context)
    experiment = random_experiment(900)
    pair.show_experiment(experiment)
    A, _, _ = reference(experiment)
    bound = np.abs(A).max()
    heatmap = pair.A.heatmap
    table = context.look.theme.diverging
    context.bands.show_rows(100, 130)
    heatmap.plot.columns.show_keys(500, 540)
    pair.settle()
    # at once, before any answer: what was there stands at its place, the exact part amid the pooled whole
    context.bands.show_rows(60, 170)
    heatmap.plot.columns.show_keys(470, 570)
    image = grabbed(heatmap)
    for i, j in ((101, 502), (120, 530), (129, 539)):
        point = place(heatmap, i, j) - heatmap.plot.area.topLeft()
        assert is_one_of(image.pixelColor(point), table, (A[i, j] + bound) / (2 * bound) * 253)
    in_table = {tuple(row[:3]) for row in table[:254]}
    for y in range(10, image.height() - 10, 7):
        for x in range(10, image.width() - 10, 7):
            colour = image.pixelColor(x, y)
            assert (colour.red(), colour.green(), colour.blue()) in in_table
    pair.settle()
    image = grabbed(heatmap)
    for i, j in ((62, 472), (101, 502), (168, 565)):
        point = place(heatmap, i, j) - heatmap.plot.area.topLeft()
        assert is_one_of(image.pixelColor(point), table, (A[i, j] + bound) / (2 * bound) * 253)


@pytest.mark.parametrize("theme", ["light", "dark", "contrast"])
def test_the_focus_has_a_frame(qtbot: QtBot, context: Context, theme: str) -> None:
    context.settings.theme = theme
    pair = Pair(qtbot, context)
    pair.show_experiment(random_experiment(5))
    pair.activateWindow()
    accent = context.look.theme.colour("accent")
    for focused, other in ((pair.A.heatmap, pair.N.heatmap), (pair.N.heatmap, pair.A.heatmap)):
        focused.plot.setFocus()
        qtbot.waitUntil(focused.plot.hasFocus)
        for heatmap in (focused, other):
            image = heatmap.plot.grab().toImage()
            width, height = image.width(), image.height()
            top = [image.pixelColor(x, y) == accent for x in range(width) for y in (0, 1)]
            right = [image.pixelColor(x, y) == accent for y in range(height) for x in (width - 2, width - 1)]
            bottom = [image.pixelColor(x, y) == accent for x in range(width) for y in (height - 2, height - 1)]
            assert all((*top, *right, *bottom)) == (heatmap is focused)
            assert image.pixelColor(width // 3, 3) != accent
        # what lies under the frame is still there to be pressed
        qtbot.mouseClick(focused.plot, LEFT, pos=place(focused, 4, 4))
        assert (context.selection.query, context.selection.key) == (4, 4)
        context.selection.set_cell(0, 0)


def test_no_number_is_cut_at_the_edges(qtbot: QtBot, context: Context) -> None:
    pair = Pair(qtbot, context, (1000, 640))
    pair.show_experiment(random_experiment(20))
    context.selection.set_cell(19, 19)  # out of the way
    heatmap = pair.N.heatmap
    ink = {colour.rgb() for colour in (DARK_INK, LIGHT_INK)}
    seen = {True: 0, False: 0}
    for eighths in range(9):
        shift = eighths / 8
        heatmap.plot.columns.show_keys(3 + shift, 9 + shift)
        context.bands.show_rows(2 + shift, 10 + shift)
        pair.settle()
        grid, style, latest = heatmap.plot.grid, heatmap.plot.numbers.style, heatmap.pictures.latest
        assert style is not None
        assert latest is not None
        (top, _), (left, _) = latest.request.rows, latest.request.columns
        view, image = QRectF(0, 0, grid.width, grid.height), grabbed(heatmap)
        for i, j in product(grid.queries, grid.keys):
            text = style.text(float(latest.values[i - top, j - left]), grid.cell_width)
            cell = grid.cell(i, j)
            box = QRectF(0, 0, QFontMetricsF(style.font).horizontalAdvance(text), style.metrics.capHeight())
            box.moveCenter(cell.center())
            whole = view.contains(box)
            # not so near the edge that rounding decides
            if view.contains(box.adjusted(-2, -2, 2, 2)) == view.contains(box.adjusted(2, 2, -2, -2)):
                part = (cell.adjusted(3, 3, -3, -3) & view).toRect()
                pixels = product(range(part.left(), part.right()), range(part.top(), part.bottom()))
                assert any(image.pixel(*pixel) in ink for pixel in pixels) == whole, (i, j, text)
                seen[whole] += 1
    assert min(seen.values()) > 20


@pytest.mark.parametrize("count", [9, 12])
def test_scores_of_both_signs_are_written_where_weights_are(qtbot: QtBot, context: Context, count: int) -> None:
    pair = Pair(qtbot, context, (700, 640))
    base = random_experiment(count)
    pair.show_experiment(base)
    assert pair.N.heatmap.plot.numbers.style is not None
    assert pair.A.heatmap.plot.numbers.style is not None
    X = base.tokens.embeddings.array().copy()
    X[3] = [16.6, 0, 0, 0, 0, 0]  # a score of 112
    pair.show_experiment(Experiment.from_tokens(base.tokens.tokens, X))
    assert pair.A.heatmap.plot.numbers.isVisible()
    assert pair.N.heatmap.plot.numbers.isVisible()
