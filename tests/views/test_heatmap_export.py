"""Heatmaps as files: opened again, they show what the matrix holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from attn_gui.control.notices import Kind, Notice
from attn_gui.model.experiment import Experiment
from attn_gui.model.masks import Causal
from attn_gui.model.session import NamedExperiment, Session
from attn_gui.views.context import Context
from attn_gui.views.drawing_file import SCALES, filters, format_of
from attn_gui.views.heatmap.figure import Figure
from tests.views.heatmaps import Pair, is_one_of, random_experiment, reference


def opened(path: Path) -> QImage:
    """A picture file as an image, an SVG at its own size."""
    if path.suffix == ".png":
        return QImage(str(path))
    renderer = QSvgRenderer(str(path))
    assert renderer.isValid()
    image = QImage(renderer.defaultSize(), QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    renderer.render(painter, QRectF(image.rect()))
    painter.end()
    return image


def save(qtbot: QtBot, pair: Pair, which: str, path: Path, scale: int = 1) -> QImage:
    outlet = (pair.A if which == "A" else pair.N).heatmap.outlet
    with qtbot.waitSignal(outlet.images.written, timeout=20_000):
        outlet.save(path, scale)
    return opened(path)


def figure_of(pair: Pair, which: str) -> Figure:
    """The figure that is drawn, for where its cells lie."""
    heatmap = (pair.A if which == "A" else pair.N).heatmap
    latest = heatmap.pictures.latest
    assert latest is not None
    context = pair.context
    return Figure(f"{heatmap.name}, head 1", "test", context.document.experiment, latest, context.look.theme, 4)


def centre(figure: Figure, i: int, j: int, scale: float, shift: float) -> tuple[int, int]:
    origin, grid = figure.origin, figure.grid
    x, y = origin.x() + (j + 0.5 + shift) * grid.cell_width, origin.y() + (i + 0.5 + shift) * grid.cell_height
    return int(x * scale), int(y * scale)


@pytest.mark.parametrize(("name", "scale"), [("a.png", 1), ("a.png", 2), ("a.png", 4), ("a.svg", 1)])
@pytest.mark.parametrize("which", ["A", "N"])
def test_a_saved_heatmap_shows_every_cell(
    qtbot: QtBot, context: Context, tmp_path: Path, name: str, scale: int, which: str
) -> None:
    pair = Pair(qtbot, context)
    experiment = random_experiment(6, rule=Causal())
    pair.show_experiment(experiment)
    image = save(qtbot, pair, which, tmp_path / name, scale)
    figure = figure_of(pair, which)
    times = scale if name.endswith("png") else image.width() / figure.size.width()
    A, N, allowed = reference(experiment)
    if which == "A":
        bound = np.abs(A[allowed]).max()
        position = (A + bound) / (2 * bound) * 253
    else:
        position = N / N.max() * 253
    table = figure.table
    for i in range(6):
        for j in range(6):
            colour = image.pixelColor(*centre(figure, i, j, times, -0.35))
            if allowed[i, j]:
                assert is_one_of(colour, table, position[i, j]), (i, j)
            else:
                assert not any(tuple(row[:3]) == (colour.red(), colour.green(), colour.blue()) for row in table[5:249])
    if name.endswith("png"):
        assert (image.width(), image.height()) == (figure.size.width() * scale, figure.size.height() * scale)


def ink(image: QImage, box: QRectF, background: QColor) -> int:
    """How many pixels of ``box`` are not of the background."""
    rect = box.toAlignedRect()
    return sum(
        image.pixelColor(x, y) != background
        for x in range(rect.left(), rect.right())
        for y in range(rect.top(), rect.bottom())
    )


def test_title_labels_and_colour_bar_are_there(qtbot: QtBot, context: Context, tmp_path: Path) -> None:
    pair = Pair(qtbot, context)
    pair.show_experiment(random_experiment(5))
    image = save(qtbot, pair, "N", tmp_path / "n.png")
    figure = figure_of(pair, "N")
    background, origin, grid = context.look.theme.colour("panel"), figure.origin, figure.grid
    assert ink(image, QRectF(24, 24, 200, 20), background) > 200
    for i in range(5):
        row = QRectF(24, origin.y() + i * grid.cell_height, origin.x() - 32, grid.cell_height)
        assert ink(image, row, background) > 15
        column = QRectF(origin.x() + i * grid.cell_width, origin.y() - 18, grid.cell_width, 16)
        assert ink(image, column, background) > 15
    below = QRectF(24, origin.y() + grid.height + 8, 200, 16)
    assert ink(image, below, background) > 1000


def test_svg_holds_the_tokens_as_text(qtbot: QtBot, context: Context, tmp_path: Path) -> None:
    pair = Pair(qtbot, context)
    names = ["<b>&", "naïve", "🙂"]
    pair.show_experiment(Experiment.from_tokens(names, np.eye(3)))
    save(qtbot, pair, "N", tmp_path / "n.svg")
    text = (tmp_path / "n.svg").read_text(encoding="utf-8")
    assert "&lt;b&gt;&amp;" in text
    assert "naïve" in text
    assert "Weights N, head 1" in text


@pytest.mark.parametrize("name", ["large.png", "large.svg"])
def test_a_matrix_of_many_tokens_is_saved_whole(qtbot: QtBot, context: Context, tmp_path: Path, name: str) -> None:
    pair = Pair(qtbot, context)
    experiment = random_experiment(900, rule=Causal())
    pair.show_experiment(experiment)
    image = save(qtbot, pair, "A", tmp_path / name)
    figure = figure_of(pair, "A")
    A, _, allowed = reference(experiment)
    bound = np.abs(A[allowed]).max()
    times = image.width() / figure.size.width() if name.endswith("svg") else 1
    assert figure.grid.cell_width == 1
    hits = 0
    for i in range(5, 900, 31):
        for j in range(3, i, 37):
            colour = image.pixelColor(*centre(figure, i, j, times, 0.0))
            hits += is_one_of(colour, figure.table, (A[i, j] + bound) / (2 * bound) * 253)
    total = sum(len(range(3, i, 37)) for i in range(5, 900, 31))
    # an SVG is scaled by whoever draws it
    assert hits == total if times == 1 else hits > 0.5 * total


def test_one_row_of_many_keys_can_be_saved(qtbot: QtBot, context: Context, tmp_path: Path) -> None:
    pair = Pair(qtbot, context)
    for shape in ((1, 2000), (2000, 1), (1, 1)):
        pair.show_experiment(random_experiment(*shape))
        image = save(qtbot, pair, "N", tmp_path / "n.png")
        assert not image.isNull()


def test_what_cannot_be_written_is_said_and_nothing_is_lost(qtbot: QtBot, context: Context, tmp_path: Path) -> None:
    pair = Pair(qtbot, context)
    pair.show_experiment(random_experiment(4))
    said: list[Notice] = []
    context.notices.said.connect(said.append)
    kept = tmp_path / "kept.png"
    kept.write_bytes(b"before")
    outlet = pair.N.heatmap.outlet
    outlet.save(tmp_path / "missing" / "n.png")
    qtbot.waitUntil(lambda: bool(said))
    assert said[-1].kind is Kind.ERROR
    assert "folder that exists" in said[-1].text
    outlet.save(tmp_path / "kept.gif")
    assert said[-1].kind is Kind.ERROR
    assert ".png or .svg" in said[-1].text
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file() and path.suffix != ".ini") == ["kept.png"]
    assert kept.read_bytes() == b"before"


def test_the_dialog_offers_scales_and_formats(qtbot: QtBot, context: Context) -> None:
    assert [format_of(text) for text in filters()] == [(".png", scale) for scale in SCALES] + [(".svg", 1)]
    pair = Pair(qtbot, context)
    context.document.open(Session((NamedExperiment("a/b", random_experiment(3)),)), None)
    context.document.start()
    pair.settle()
    (action,) = pair.N.picture_actions()
    action.trigger()
    dialog = pair.N.heatmap.findChild(QFileDialog)
    assert dialog is not None
    assert dialog.nameFilters() == filters()
    assert "/" not in Path(dialog.selectedFiles()[0]).name
    dialog.reject()


def test_pictures_go_where_the_last_export_went(qtbot: QtBot, context: Context, tmp_path: Path) -> None:
    pair = Pair(qtbot, context)
    pair.show_experiment(random_experiment(3))
    folder = tmp_path / "pictures"
    folder.mkdir()
    save(qtbot, pair, "N", folder / "one.png")
    assert context.settings.export_folder == folder
    pair.N.heatmap.outlet.ask_and_save()
    dialog = pair.N.findChild(QFileDialog)
    assert dialog is not None
    assert Path(dialog.directory().absolutePath()) == folder
    assert dialog.selectedFiles()[0].startswith(f"{folder}/{context.document.title}, ")
    dialog.reject()
