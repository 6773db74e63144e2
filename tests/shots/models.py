"""What the scenes of real models do, on a tiny one that is made for them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QWidget

from attn_gui.views.capture.model_dialog import ModelDialog
from attn_gui.views.main_window import MainWindow

SHOWN = "models/tiny-gpt2"  # not a path of the machine that takes the picture


def offered(window: MainWindow, settle: Callable[[MainWindow], None]) -> QWidget:
    """A model is open, and has made tokens of a text."""
    with tempfile.TemporaryDirectory() as folder:
        dialog = _open(window, settle, Path(folder))
    with QSignalBlocker(dialog.path):
        dialog.path.setText(SHOWN)
    dialog.capture.setFocus()
    return dialog


def intervened(window: MainWindow, settle: Callable[[MainWindow], None]) -> None:
    """A head of what was captured is switched off, and in another one a weight forbidden."""
    with tempfile.TemporaryDirectory() as folder:
        dialog = _open(window, settle, Path(folder))
        dialog.capture.click()
        settle(window)
    changes = window.models.changes
    changes.off.trigger()
    settle(window)
    window.context.selection.set_head(1)
    window.context.selection.set_cell(4, 1)
    changes.forbid.trigger()
    for dock in window.docks:
        dock.setVisible(dock.objectName() == "intervene")
    settle(window)


def _open(window: MainWindow, settle: Callable[[MainWindow], None], folder: Path) -> ModelDialog:
    os.environ["HF_HUB_OFFLINE"] = "1"  # before transformers is imported
    from tests.views.models import tiny

    window.models.open.trigger()
    dialog = window.models.dialog
    assert dialog is not None
    named = folder / Path(SHOWN).name  # which titles the experiment
    named.mkdir()
    dialog.open_path(tiny.save("gpt2", named))
    settle(window)
    dialog.text.setPlainText(tiny.TEXT)
    while not dialog.capture.isEnabled():
        settle(window)  # the text is looked at a moment after it is typed
    return dialog
