"""Heatmaps as PNG and SVG files, and as an image on the clipboard."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication

from attn_gui.model.asks import PictureAsk
from attn_gui.model.picture import Picture
from attn_gui.views.context import Context
from attn_gui.views.drawing_file import CLIPBOARD_SCALE, DrawingFiles, png_image
from attn_gui.views.heatmap.arranged_words import arranged_words
from attn_gui.views.heatmap.figure import MOST_CELLS, Figure
from attn_gui.views.heatmap.words import head_name


class ImageExport(QObject):
    """Draws the whole matrix, whatever part of it is in sight."""

    def __init__(self, context: Context, name: str, slot: str, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self._name = name
        self._slot = f"{slot}.export"
        self._topic = f"{slot} picture"
        self._then: Callable[[Figure], None] | None = None
        self._files = DrawingFiles(context, self._topic, self)
        self.written = self._files.written
        context.feed.answered.connect(self._on_answer)

    def save(self, ask: PictureAsk, path: Path, scale: int) -> None:
        """Write ``ask``, with everything in sight, to ``path``: .png at ``scale`` pixels a pixel, or .svg."""
        if self._files.takes(path):
            self._request(ask, lambda figure: self._files.write(figure, path, scale))

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
        experiment, arranged = self._context.feed.experiment, self._context.feed.arranged
        if slot != self._slot or not isinstance(answer, Picture) or experiment is None or self._then is None:
            return
        self._context.feed.ask(self._slot, None)
        then, self._then = self._then, None
        name = self._context.document.session.named.name
        told = "" if arranged is None else arranged_words(arranged, answer.request.stage)
        then(
            Figure(
                f"{self._name}, {head_name(answer.request.head)}",
                f"{name}; {told}" if told else name,
                experiment,
                answer,
                self._context.look.theme,
                self._context.settings.decimals,
            )
        )
