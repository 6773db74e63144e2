"""Outlet: the flow view as a PNG or SVG file, and as an image on the clipboard."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QObject, QRect, Qt, Signal
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QFileDialog, QWidget

from attn_gui.control.worker import Priority, at_once
from attn_gui.files.atomic import write_bytes
from attn_gui.files.errors import FileError
from attn_gui.views.context import Context
from attn_gui.views.flow.figure import FlowFigure
from attn_gui.views.heatmap.image_export import (
    CLIPBOARD_SCALE,
    DPI,
    INCH_PER_METRE,
    SVG_RATIO,
    filters,
    format_of,
    png_bytes,
)

TOPIC = "flow picture"
NOTHING = "There is nothing to draw yet"


class Outlet(QObject):
    """``figure()`` is what is in sight, None where nothing is. ``written(path)`` tells of a file that is there."""

    written = Signal(object)

    def __init__(self, context: Context, figure: Callable[[], FlowFigure | None], owner: QWidget) -> None:
        super().__init__(owner)
        self._context, self._figure, self._owner = context, figure, owner

    def copy(self) -> None:
        """Put what is in sight on the clipboard as an image."""
        figure = self._there()
        if figure is not None:
            QGuiApplication.clipboard().setImage(png_image(figure, CLIPBOARD_SCALE))
            self._context.notices.info(f"Copied {figure.title.lower()} as an image", TOPIC)

    def ask_and_save(self) -> None:
        """Ask for a place and save what is in sight there."""
        dialog = QFileDialog(self._owner, "Save the flow as an image")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters(filters())
        dialog.setDefaultSuffix("png")
        dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix(format_of(chosen)[0][1:]))
        dialog.setDirectory(str(self._context.settings.export_folder))
        dialog.selectFile(f"{self._context.document.title}, flow".replace("/", "-"))
        dialog.fileSelected.connect(lambda path: self.save(Path(path), format_of(dialog.selectedNameFilter())[1]))
        dialog.open()

    def save(self, path: Path, scale: int = 1) -> None:
        """Write what is in sight to ``path``: .png at ``scale`` pixels a pixel, or .svg."""
        kind, figure = path.suffix.lower(), self._there()
        if figure is None:
            return
        if kind == ".png":
            image = png_image(figure, scale)
            make = at_once(lambda: write_bytes(path, png_bytes(image)))
        elif kind == ".svg":
            data = svg_bytes(figure)
            make = at_once(lambda: write_bytes(path, data))
        else:
            text = f"{path.name}: expected a name that ends in .png or .svg, received {kind or 'one without an ending'}"
            self._context.notices.error(text, TOPIC)
            return
        done, failed = (lambda _: self._on_written(path)), (lambda error: self._on_failure(path, error))
        self._context.worker.submit(TOPIC, make, Priority.BACKGROUND, done, failed, owed=True)

    def _there(self) -> FlowFigure | None:
        figure = self._figure()
        if figure is None:
            self._context.notices.error(NOTHING, TOPIC)
        return figure

    def _on_written(self, path: Path) -> None:
        self._context.notices.info(f"Saved {path.name}", TOPIC)
        self._context.settings.export_folder = path.parent
        self.written.emit(path)

    def _on_failure(self, path: Path, error: BaseException) -> None:
        text = str(error) if isinstance(error, FileError) else f"{path.name} could not be written: {error}"
        self._context.notices.error(text, TOPIC)


def png_image(figure: FlowFigure, scale: int) -> QImage:
    """``figure`` drawn at ``scale`` pixels a pixel."""
    image = QImage(figure.size * scale, QImage.Format.Format_RGB32)
    for set_density in (image.setDotsPerMeterX, image.setDotsPerMeterY):
        set_density(round(DPI * scale * INCH_PER_METRE))
    with QPainter(image) as painter:
        painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
        painter.scale(scale, scale)
        figure.paint(painter, scale)
    return image


def svg_bytes(figure: FlowFigure) -> bytes:
    data = QByteArray()
    buffer = QBuffer(data)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setResolution(DPI)
    generator.setSize(figure.size)
    generator.setViewBox(QRect(0, 0, figure.size.width(), figure.size.height()))
    generator.setTitle(figure.title)
    generator.setDescription(figure.description)
    with QPainter(generator) as painter:
        figure.paint(painter, SVG_RATIO)
    return bytes(data.data())
