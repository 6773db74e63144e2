"""What the scenes of opened tensors do."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PySide6.QtWidgets import QWidget

from attn_gui.views.main_window import MainWindow


def offered(window: MainWindow, settle: Callable[[MainWindow], None], page: int) -> QWidget | None:
    """Look into a file with Q, K and V of a few tokens, and a mask, and show one of the pages."""
    random = np.random.RandomState(0)
    arrays = {
        name: random.standard_normal((4, heads, 8, 16)).astype(np.float16)
        for name, heads in (("query", 8), ("key", 2), ("value", 2))
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "layer_7.npz")
        np.savez(path, **arrays, attn_mask=np.tril(np.ones((8, 8), bool)))  # type: ignore[arg-type]
        window.files.show_tensors([path])
        settle(window)
    dialog = window.files.tensors
    if dialog is not None:
        dialog.tabs.setCurrentIndex(page)
        settle(window)
    return dialog
