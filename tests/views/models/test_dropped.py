"""A model's folder that is dropped on the window is a model to open, and no file of tensors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from pytestqt.qtbot import QtBot

from attn_gui.control.notices import Notice
from attn_gui.views.main_window import MainWindow
from tests.views.models.tiny import save
from tests.views.window_helpers import karina_window

pytest.importorskip("transformers")


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[MainWindow]:
    with karina_window(qtbot, tmp_path) as made:
        yield made


def drop(window: MainWindow, path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    window.dropEvent(QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, data, left, none, QEvent.Type.Drop))


def test_open_model_opens_it(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    folder = save("gpt2", tmp_path / "model")
    with qtbot.waitSignal(window.models.modelling.opened, timeout=60_000):
        drop(window, folder)
    assert window.files.tensors is None
    dialog = window.models.dialog
    assert dialog is not None and dialog.isVisible() and dialog.path.text() == str(folder)


def test_where_no_model_can_be_opened_it_is_said(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    folder = save("gpt2", tmp_path / "model")
    window.models.open.setEnabled(False)
    window.models.open.setStatusTip("Opening a model needs the package transformers")
    said: list[Notice] = []
    window.context.notices.said.connect(said.append)
    with qtbot.waitSignal(window.files.arriving.model):
        drop(window, folder)
    assert said[-1].text == "model was not opened. Opening a model needs the package transformers"
    assert window.models.dialog is None and window.files.tensors is None
