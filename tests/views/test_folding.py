"""A low window: nothing lies over anything else, whatever is open at once, and all comes back with the room."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from attn_gui.files import examples
from attn_gui.views.main_window import LEAST_SIZE, MainWindow
from tests.views.window_helpers import karina_window, settle


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    def prepare(made: MainWindow) -> None:
        made.context.settings.reduced_motion = True

    with karina_window(qtbot, tmp_path, prepare) as made:
        yield made


def laid_out(qtbot: QtBot, window: MainWindow) -> None:
    settle(qtbot, window)
    for _ in range(3):
        QApplication.processEvents()


def lines_of(window: MainWindow) -> list[QWidget]:
    """What is in sight in the middle of the window, from above."""
    column = window.centralWidget().layout()
    assert column is not None
    widgets = [item.widget() for item in (column.itemAt(k) for k in range(column.count())) if item is not None]
    return [widget for widget in widgets if widget is not None and widget.isVisible()]


def assert_nothing_is_covered(window: MainWindow) -> None:
    lines = lines_of(window)
    for above, below in pairwise(lines):
        assert above.geometry().bottom() < below.geometry().top(), (type(above).__name__, type(below).__name__)
    for line in lines:
        assert line.height() >= line.minimumSizeHint().height() or line.height() >= line.minimumHeight() > 0
        assert window.centralWidget().rect().contains(line.geometry())
    formula = window.formula
    for panel in (formula.tokens, formula.scores, formula.weights, formula.output):
        assert panel.width() >= panel.minimumSizeHint().width()
    assert formula.weights.width() >= formula.scores.width() - 16
    assert formula.scores.heatmap.plot.height() >= 20


@pytest.mark.parametrize("size", [LEAST_SIZE, (1280, 720)])
@pytest.mark.parametrize("open_at_once", ["", "walk", "tour", "tour walk"])
def test_with_any_drawer_open_nothing_is_covered(
    qtbot: QtBot, window: MainWindow, size: tuple[int, int], open_at_once: str
) -> None:
    window.resize(*size)
    if "tour" in open_at_once:
        window.tours.start(2)
    else:
        window.open_example("cat")
    if "walk" in open_at_once:
        window.walk_through()
    laid_out(qtbot, window)
    for dock in window.docks:
        dock.toggleViewAction().trigger()
        laid_out(qtbot, window)
        assert_nothing_is_covered(window)
        dock.toggleViewAction().trigger()
    laid_out(qtbot, window)
    assert_nothing_is_covered(window)


@pytest.mark.parametrize("size", [LEAST_SIZE, (1280, 800)])
def test_titles_of_many_heads_come_to_rest(qtbot: QtBot, window: MainWindow, size: tuple[int, int]) -> None:
    window.resize(*size)
    for name in examples.names():
        window.open_example(name)
        laid_out(qtbot, window)
        laid_out(qtbot, window)
        formula, seen = window.formula, []
        for _ in range(10):
            QApplication.processEvents()
            seen.append((formula.sizes(), formula.height(), formula.heads.brief, formula.scores.title_room))
        assert seen == seen[:1] * 10, name
        assert formula.scores.title_width(titled=False) <= formula.scores.width()


def test_what_gave_way_comes_back_with_the_room(qtbot: QtBot, window: MainWindow) -> None:
    window.resize(1280, 720)
    window.open_example("cat")
    laid_out(qtbot, window)
    note, hint, rows = window.sentence.note, window.hint, window.formula.minimumHeight()
    assert note.isVisible() and hint.isVisible()
    window.walk_through()
    window.docks[1].toggleViewAction().trigger()
    laid_out(qtbot, window)
    assert window.walk is not None
    assert not hint.isVisible()
    window.resize(*LEAST_SIZE)
    laid_out(qtbot, window)
    assert not hint.isVisible() and not note.isVisible()
    window.open_example("karina")  # whose note is another
    laid_out(qtbot, window)
    assert not note.isVisible()
    assert_nothing_is_covered(window)
    window.resize(1280, 1000)
    laid_out(qtbot, window)
    assert hint.isVisible() and note.isVisible() and window.formula.minimumHeight() == rows
    window.resize(1280, 720)
    laid_out(qtbot, window)
    assert_nothing_is_covered(window)
    window.walk_through()
    window.docks[1].toggleViewAction().trigger()
    laid_out(qtbot, window)
    assert hint.isVisible() and note.isVisible()
