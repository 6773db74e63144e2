"""The window with the dialog that opens tensors, and files as programs write them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from attn_gui.views.main_window import MainWindow
from attn_gui.views.tensors.dialog import TensorsDialog
from tests.views.window_helpers import karina_window

Look = Callable[..., TensorsDialog]


def softmaxed(seed: int, *shape: int) -> NDArray[np.float32]:
    """Weights whose rows along the last axis sum to 1."""
    numbers = np.exp(np.random.RandomState(seed).standard_normal(shape))
    return (numbers / numbers.sum(-1, keepdims=True)).astype(np.float32)


def normal(seed: int, *shape: int) -> NDArray[np.float32]:
    return np.random.RandomState(seed).standard_normal(shape).astype(np.float32)


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    with karina_window(qtbot, tmp_path) as made:
        yield made
        if made.files.tensors is not None:
            made.files.tensors.close()


@pytest.fixture
def look(window: MainWindow, qtbot: QtBot) -> Look:
    """Has the window look into files, and waits until it has."""

    def open_paths(*paths: Path) -> TensorsDialog:
        window.files.show_tensors(paths)
        at_rest(qtbot, window)
        dialog = window.files.tensors
        assert dialog is not None
        return dialog

    return open_paths


def at_rest(qtbot: QtBot, window: MainWindow) -> None:
    qtbot.waitUntil(lambda: not window.context.worker.busy, timeout=30_000)


def press(qtbot: QtBot, window: MainWindow, key: Qt.Key = Qt.Key.Key_Return) -> None:
    """Press ``key`` in the dialog, on whatever has the focus, and wait."""
    dialog = window.files.tensors
    assert dialog is not None
    qtbot.keyClick(dialog.focusWidget() or dialog, key)
    at_rest(qtbot, window)


def choose(qtbot: QtBot, box: QComboBox, text: str) -> None:
    """Go to an entry of ``box`` by the keyboard alone."""
    assert box.isVisible() and box.isEnabled()
    box.setFocus()
    place = box.findText(text)
    assert place >= 0, [box.itemText(k) for k in range(box.count())]
    while box.currentIndex() != place:
        qtbot.keyClick(box, Qt.Key.Key_Down if box.currentIndex() < place else Qt.Key.Key_Up)


def drop(window: MainWindow, *paths: Path) -> QDropEvent:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    event = QDropEvent(
        QPoint(5, 5), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    )
    window.dropEvent(event)
    return event


def cells(model: Any) -> list[list[str]]:
    return [[model.index(r, c).data() for c in range(model.columnCount())] for r in range(model.rowCount())]
