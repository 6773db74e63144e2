"""Drawings as PNG and SVG files, and as images."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QObject, QRect, QSize, Qt, Signal
from PySide6.QtGui import QImage, QImageWriter, QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QFileDialog, QWidget

from attn_gui.control.worker import Priority, at_once
from attn_gui.files.atomic import write_bytes
from attn_gui.files.errors import FileError
from attn_gui.views.context import Context

SCALES = (1, 2, 4)
CLIPBOARD_SCALE = 2
# of what is an image within an SVG drawing
SVG_RATIO = 2.0
INCH_PER_METRE = 39.37
DPI = 96
ENDINGS = (".png", ".svg")


class Drawing(Protocol):
    """What can be drawn on paper."""

    @property
    def title(self) -> str: ...

    @property
    def description(self) -> str:
        """For who cannot see it."""
        ...

    @property
    def size(self) -> QSize:
        """Width and height in pixels at scale 1."""
        ...

    def paint(self, painter: QPainter, ratio: float) -> None:
        """Draw at the origin of ``painter``; ``ratio`` is device pixels a pixel."""
        ...


class DrawingFiles(QObject):
    """Writes drawings to files and tells about it under ``topic``; ``written(path)`` tells of a file that is there."""

    written = Signal(object)

    def __init__(self, context: Context, topic: str, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self._topic = topic

    def takes(self, path: Path) -> bool:
        """Whether the ending of ``path`` says how to write it; if not, that is said."""
        kind = path.suffix.lower()
        if kind not in ENDINGS:
            text = f"{path.name}: expected a name that ends in .png or .svg, received {kind or 'one without an ending'}"
            self._context.notices.error(text, self._topic)
        return kind in ENDINGS

    def write(self, drawing: Drawing, path: Path, scale: int) -> None:
        """To ``path``: .png at ``scale`` pixels a pixel, or .svg; compressed and written by the worker."""
        if path.suffix.lower() == ".svg":
            data = svg_bytes(drawing)
            make = at_once(lambda: write_bytes(path, data))
        else:
            image = png_image(drawing, scale)
            make = at_once(lambda: write_bytes(path, png_bytes(image)))
        self._context.worker.submit(
            self._topic,
            make,
            Priority.BACKGROUND,
            lambda _: self._on_written(path),
            lambda error: self._on_failure(path, error),
            owed=True,
        )

    def _on_written(self, path: Path) -> None:
        self._context.notices.info(f"Saved {path.name}", self._topic)
        self._context.settings.export_folder = path.parent
        self.written.emit(path)

    def _on_failure(self, path: Path, error: BaseException) -> None:
        text = str(error) if isinstance(error, FileError) else f"{path.name} could not be written: {error}"
        self._context.notices.error(text, self._topic)


class DrawingDialog(QFileDialog):
    """Asks for a place for a drawing called ``name``, in one of the formats; it goes once it is closed."""

    def __init__(self, owner: QWidget, title: str, folder: Path, name: str) -> None:
        super().__init__(owner, title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        self.setNameFilters(filters())
        self.setDefaultSuffix("png")
        self.filterSelected.connect(lambda chosen: self.setDefaultSuffix(format_of(chosen)[0][1:]))
        self.setDirectory(str(folder))
        self.selectFile(name.replace("/", "-"))

    @property
    def scale(self) -> int:
        """Pixels a pixel, as chosen."""
        return format_of(self.selectedNameFilter())[1]


def png_image(drawing: Drawing, scale: int) -> QImage:
    """``drawing`` at ``scale`` pixels a pixel."""
    image = QImage(drawing.size * scale, QImage.Format.Format_RGB32)
    for set_density in (image.setDotsPerMeterX, image.setDotsPerMeterY):
        set_density(round(DPI * scale * INCH_PER_METRE))
    with QPainter(image) as painter:
        painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
        painter.scale(scale, scale)
        drawing.paint(painter, scale)
    return image


def png_bytes(image: QImage) -> bytes:
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QImageWriter(buffer, QByteArray(b"PNG"))
    if not writer.write(image):
        raise MemoryError(writer.errorString())
    buffer.close()
    return bytes(data.data())


def svg_bytes(drawing: Drawing) -> bytes:
    data = QByteArray()
    buffer = QBuffer(data)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setResolution(DPI)
    generator.setSize(drawing.size)
    generator.setViewBox(QRect(0, 0, drawing.size.width(), drawing.size.height()))
    generator.setTitle(drawing.title)
    generator.setDescription(drawing.description)
    with QPainter(generator) as painter:
        drawing.paint(painter, SVG_RATIO)
    return bytes(data.data())


def format_of(filter_text: str) -> tuple[str, int]:
    """The ending and the scale of a choice of :func:`filters`."""
    if ".svg" in filter_text:
        return ".svg", 1
    return ".png", next(scale for scale in SCALES if f"{scale}×" in filter_text)


def filters() -> list[str]:
    """What a file dialog offers."""
    return [*(f"PNG image, {scale}× (*.png)" for scale in SCALES), "SVG drawing (*.svg)"]
