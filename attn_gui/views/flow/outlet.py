"""Outlet: the flow view as a PNG or SVG file, and as an image on the clipboard."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from attn_gui.views.context import Context
from attn_gui.views.drawing_file import CLIPBOARD_SCALE, DrawingDialog, DrawingFiles, png_image
from attn_gui.views.flow.figure import FlowFigure

TOPIC = "flow picture"
NOTHING = "There is nothing to draw yet"


class Outlet(QObject):
    """``figure()`` is what is in sight, None where nothing is. ``written(path)`` tells of a file that is there."""

    def __init__(self, context: Context, figure: Callable[[], FlowFigure | None], owner: QWidget) -> None:
        super().__init__(owner)
        self._context, self._figure, self._owner = context, figure, owner
        self._files = DrawingFiles(context, TOPIC, self)
        self.written = self._files.written

    def copy(self) -> None:
        """Put what is in sight on the clipboard as an image."""
        figure = self._there()
        if figure is not None:
            QGuiApplication.clipboard().setImage(png_image(figure, CLIPBOARD_SCALE))
            self._context.notices.info(f"Copied {figure.title.lower()} as an image", TOPIC)

    def ask_and_save(self) -> None:
        """Ask for a place and save what is in sight there."""
        name = f"{self._context.document.title}, flow"
        dialog = DrawingDialog(self._owner, "Save the flow as an image", self._context.settings.export_folder, name)
        dialog.fileSelected.connect(lambda path: self.save(Path(path), dialog.scale))
        dialog.open()

    def save(self, path: Path, scale: int = 1) -> None:
        """Write what is in sight to ``path``: .png at ``scale`` pixels a pixel, or .svg."""
        figure = self._there()
        if figure is not None and self._files.takes(path):
            self._files.write(figure, path, scale)

    def _there(self) -> FlowFigure | None:
        figure = self._figure()
        if figure is None:
            self._context.notices.error(NOTHING, TOPIC)
        return figure
