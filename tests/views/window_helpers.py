"""Driving the real window as a person does, and reading what it drew."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from attn_gui.app import open_window
from attn_gui.files import examples
from attn_gui.model.picture import LAST_COLOUR
from attn_gui.model.session import Session
from attn_gui.views.heatmap.heatmap import Heatmap
from attn_gui.views.main_window import MainWindow
from attn_gui.views.token_table import TokenTable


@contextmanager
def karina_window(
    qtbot: QtBot, folder: Path, prepare: Callable[[MainWindow], object] | None = None
) -> Iterator[MainWindow]:
    """The program's window on the Karina example, computed and in sight; ``prepare`` is called before it is shown.

    At the end it is closed without a question about what a test has changed.
    """
    made = open_window(Session((examples.load("karina"),)), folder / "profile")
    if prepare is not None:
        prepare(made)
    made.show()
    qtbot.waitActive(made)
    settle(qtbot, made)
    yield made
    made.services.exports.cancel()
    qtbot.waitUntil(lambda: not made.context.worker.owing)
    made.context.document.open(made.context.document.session, None)
    made.close()
    made.context.worker.close()
    made.deleteLater()
    QApplication.processEvents()


def settle(qtbot: QtBot, window: MainWindow) -> None:
    """Wait until what is shown is what the document holds."""
    feed, document = window.context.feed, window.context.document

    def at_rest() -> bool:
        shown = feed.trace is not None and feed.trace.experiment is document.experiment
        return shown and not window.context.worker.busy

    qtbot.waitUntil(at_rest, timeout=60_000)
    QApplication.processEvents()


def type_in(qtbot: QtBot, table: TokenTable, row: int, column: int, text: str) -> None:
    """Go to a cell, type over it, press Enter."""
    table.setFocus()
    table.setCurrentIndex(table.model().index(row, column))
    qtbot.keyClicks(table, text[0])
    editor = table.findChild(QLineEdit)
    assert editor is not None, "typing opens an editor"
    qtbot.keyClicks(editor, text[1:])
    qtbot.keyClick(editor, Qt.Key.Key_Return)


def cell_rect(heatmap: Heatmap, i: int, j: int) -> QRect:
    """Where cell (query i, key j) lies in the plot widget."""
    plot = heatmap.plot
    grid = plot.grid
    corner = plot.canvas.geometry().topLeft()
    left, top = round(grid.x(j)), round(grid.y(i))
    return QRect(corner + QPoint(left, top), corner + QPoint(round(grid.x(j + 1)) - 1, round(grid.y(i + 1)) - 1))


def drawn_colours(heatmap: Heatmap, shape: tuple[int, int]) -> NDArray[Any]:
    """The colour at a place in each cell that neither its number nor a line covers: [rows, columns, 3]."""
    image = heatmap.plot.grab().toImage()
    ratio = image.devicePixelRatio()
    colours = np.empty((*shape, 3), np.uint8)
    for i in range(shape[0]):
        for j in range(shape[1]):
            at = cell_rect(heatmap, i, j).topLeft() + QPoint(6, 8)
            colours[i, j] = image.pixelColor(int(at.x() * ratio), int(at.y() * ratio)).getRgb()[:3]
    return colours


def expected_colours(values: NDArray[Any], low: float, high: float, table: NDArray[np.uint8]) -> NDArray[Any]:
    """What the colour table gives for ``values`` between ``low`` and ``high``."""
    position = (values - low) / (high - low)
    return table[np.clip(np.rint(position * LAST_COLOUR), 0, LAST_COLOUR).astype(int), :3]


def close_colours(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Whether colours agree within a step of the scale (the image rounds float32, the reference float64)."""
    return bool((np.abs(a.astype(int) - b.astype(int)) <= 4).all())


def as_rgb(colour: str) -> tuple[int, ...]:
    return QColor(colour).getRgb()[:3]
