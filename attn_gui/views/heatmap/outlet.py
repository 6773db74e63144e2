"""Outlet: what can be taken out of a heatmap, to the clipboard or to an image file."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QWidget

from attn_gui.views.context import Context
from attn_gui.views.drawing_file import DrawingDialog
from attn_gui.views.heatmap.copying import Copying
from attn_gui.views.heatmap.image_export import ImageExport
from attn_gui.views.heatmap.pictures import Pictures
from attn_gui.views.heatmap.words import head_name


class Outlet:
    """Copies and saves of the head that is looked at; before there is a trace they do nothing."""

    def __init__(self, context: Context, name: str, slot: str, pictures: Pictures, owner: QWidget) -> None:
        self._context = context
        self._name = name
        self._pictures = pictures
        self._owner = owner
        self.copying = Copying(context.feed, context.worker, context.notices, slot, owner)
        self.images = ImageExport(context, name, slot, owner)

    def copy_value(self) -> None:
        """Put the selected cell's number on the clipboard, in full precision."""
        i, j = self._context.selection.query, self._context.selection.key
        self._copy("the value", slice(i, i + 1), slice(j, j + 1))

    def copy_row(self) -> None:
        i = self._context.selection.query
        self._copy("the row", slice(i, i + 1), slice(None))

    def copy_matrix(self) -> None:
        self._copy("the matrix", slice(None), slice(None))

    def copy_picture(self) -> None:
        self.images.copy(self._pictures.ask)

    def ask_and_save(self) -> None:
        """Ask for a place and save the whole matrix as an image there."""
        name = f"{self._context.document.title}, {self._name}, {head_name(self._pictures.head)}"
        title = f"Save {self._name} as an image"
        dialog = DrawingDialog(self._owner, title, self._context.settings.export_folder, name)
        dialog.fileSelected.connect(lambda path: self.save(Path(path), dialog.scale))
        dialog.open()

    def save(self, path: Path, scale: int = 1) -> None:
        """Save the whole matrix as .png at ``scale`` pixels a pixel, or as .svg."""
        self.images.save(self._pictures.ask, path, scale)

    def _copy(self, what: str, rows: slice, columns: slice) -> None:
        if self._context.feed.trace is not None:
            self.copying.copy(what, self._pictures.stage, self._pictures.head, rows, columns)
