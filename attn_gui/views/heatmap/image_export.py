"""Heatmaps as PNG and SVG files, and as an image on the clipboard."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QObject, QRect, Signal
from PySide6.QtGui import QGuiApplication, QImage, QImageWriter, QPainter
from PySide6.QtSvg import QSvgGenerator

from attn_gui.control.worker import Priority, at_once
from attn_gui.files.atomic import write_bytes
from attn_gui.files.errors import FileError
from attn_gui.model.asks import PictureAsk
from attn_gui.model.picture import Picture
from attn_gui.views.context import Context
from attn_gui.views.heatmap.figure import MOST_CELLS, Figure
from attn_gui.views.heatmap.words import head_name

SCALES = (1, 2, 4)
CLIPBOARD_SCALE = 2
# of a matrix that is an image within the drawing
SVG_RATIO = 2.0
INCH_PER_METRE = 39.37
DPI = 96


class ImageExport(QObject):
    """Draws the whole matrix, whatever part of it is in sight. ``written(path)`` tells of a file that is there."""

    written = Signal(object)

    def __init__(self, context: Context, name: str, slot: str, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self._name = name
        self._slot = f"{slot}.export"
        self._topic = f"{slot} picture"
        self._then: Callable[[Figure], None] | None = None
        context.feed.answered.connect(self._on_answer)

    def save(self, ask: PictureAsk, path: Path, scale: int) -> None:
        """Write ``ask``, with everything in sight, to ``path``: .png at ``scale`` pixels a pixel, or .svg."""
        kind = path.suffix.lower()
        if kind not in (".png", ".svg"):
            text = f"{path.name}: expected a name that ends in .png or .svg, received {kind or 'one without an ending'}"
            self._context.notices.error(text, self._topic)
            return
        self._request(ask, lambda figure: self._write(figure, path, 0 if kind == ".svg" else scale))

    def copy(self, ask: PictureAsk) -> None:
        """Put ``ask``, with everything in sight, on the clipboard as an image."""

        def put(figure: Figure) -> None:
            QGuiApplication.clipboard().setImage(png_image(figure, CLIPBOARD_SCALE))
            self._context.notices.info(f"Copied {figure.title} as an image", self._topic)

        self._request(ask, put)

    def _request(self, ask: PictureAsk, then: Callable[[Figure], None]) -> None:
        self._then = then
        whole = PictureAsk(ask.stage, ask.head, None, (MOST_CELLS, MOST_CELLS), ask.pooling, ask.mapping, ask.diverging)
        self._context.feed.ask(self._slot, None)
        self._context.feed.ask(self._slot, whole)

    def _on_answer(self, slot: str, answer: object) -> None:
        trace = self._context.feed.trace
        if slot != self._slot or not isinstance(answer, Picture) or trace is None or self._then is None:
            return
        self._context.feed.ask(self._slot, None)
        then, self._then = self._then, None
        then(
            Figure(
                f"{self._name}, {head_name(answer.request.head)}",
                self._context.document.session.named.name,
                trace.experiment,
                answer,
                self._context.look.theme,
                self._context.settings.decimals,
            )
        )

    def _write(self, figure: Figure, path: Path, scale: int) -> None:
        """To ``path``, as PNG at ``scale``, or as SVG where that is 0; compressed and written by the worker."""
        if scale == 0:
            data = svg_bytes(figure)
            make = at_once(lambda: write_bytes(path, data))
        else:
            image = png_image(figure, scale)
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
        self.written.emit(path)

    def _on_failure(self, path: Path, error: BaseException) -> None:
        text = str(error) if isinstance(error, FileError) else f"{path.name} could not be written: {error}"
        self._context.notices.error(text, self._topic)


def png_image(figure: Figure, scale: int) -> QImage:
    """``figure`` drawn at ``scale`` pixels a pixel."""
    image = QImage(figure.size * scale, QImage.Format.Format_RGB32)
    for set_density in (image.setDotsPerMeterX, image.setDotsPerMeterY):
        set_density(round(DPI * scale * INCH_PER_METRE))
    with QPainter(image) as painter:
        painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
        painter.scale(scale, scale)
        figure.paint(painter, scale)
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


def svg_bytes(figure: Figure) -> bytes:
    data = QByteArray()
    buffer = QBuffer(data)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setResolution(DPI)
    generator.setSize(figure.size)
    generator.setViewBox(QRect(0, 0, figure.size.width(), figure.size.height()))
    generator.setTitle(figure.title)
    generator.setDescription(f"{figure.title}, {figure.subtitle}: rows are queries, columns are keys")
    with QPainter(generator) as painter:
        figure.paint(painter, SVG_RATIO)
    return bytes(data.data())


def format_of(filter_text: str) -> tuple[str, int]:
    """The ending and the scale of a choice of :func:`filters`."""
    if ".svg" in filter_text:
        return ".svg", 1
    return ".png", next(scale for scale in SCALES if f"{scale}×" in filter_text)


def filters() -> list[str]:
    """What a file dialog offers."""
    return [*(f"PNG image, {scale}× (*.png)" for scale in SCALES), "SVG drawing (*.svg)"]
