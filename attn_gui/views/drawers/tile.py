"""Tiles: heads as small pictures with a line below, as the grids of heads and of layers show them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QImage, QPainter, QPen
from PySide6.QtWidgets import QStyle

from attn_gui.model.picture import MASKED, NON_FINITE, Picture
from attn_gui.views.heatmap.hatch import hatching, line_colours, spacing
from attn_gui.views.look import Look, number_font
from attn_gui.views.theme import Theme

MARGIN = 8
CAPTION = 20
GAP = 4
# the thin side of a picture of many more keys than queries, or the other way round
LEAST_SIDE = 8
# of a tile that a filter leaves out
FAINT = 0.25
# images at the size of the screen that are kept; of more tiles, those longest out of use are drawn anew
KEPT = 2048


@dataclass(frozen=True, eq=False)
class Thumbnail:
    """A picture of one head, and the largest finite value among its allowed cells (None where there is none)."""

    picture: Picture
    largest: float | None

    @classmethod
    def of(cls, picture: Picture) -> Thumbnail:
        values = picture.values[(picture.index != MASKED) & (picture.index != NON_FINITE)]
        return cls(picture, float(values.max()) if values.size else None)


@dataclass(frozen=True, eq=False)
class Tile:
    """What a tile shows.

    key: of the head, under which its image is kept; short: the name where there is no room for the whole; opened:
    whether it is the head in the heatmaps; faint: whether a filter leaves it out.
    """

    key: Hashable
    thumbnail: Thumbnail | None
    name: str
    caption: str
    short: str
    opened: bool = False
    faint: bool = False


def tile_size(side: int, margin: int = MARGIN) -> QSize:
    """Of a tile with a picture of ``side`` pixels."""
    return QSize(side + 2 * margin, side + CAPTION + 2 * margin)


class TilePainter:
    """Paints tiles with pictures of ``side`` pixels, ``wider`` than those by so many pixels for the line below."""

    def __init__(self, look: Look, side: int, margin: int = MARGIN, wider: int = 0) -> None:
        self._look = look
        self._side, self._margin, self._wider = side, margin, wider
        self._font, self._bold = number_font(), number_font()
        self._bold.setBold(True)
        self._metrics, self._bold_metrics = QFontMetrics(self._font), QFontMetrics(self._bold)
        self._images: dict[Hashable, tuple[Thumbnail, str, float, QImage]] = {}

    def paint(self, painter: QPainter, corner: QPoint, state: QStyle.StateFlag, tile: Tile) -> None:
        """Paint ``tile`` at ``corner``; under the pointer or with the keyboard's focus as ``state`` says."""
        theme, margin, side = self._look.theme, self._margin, self._side
        whole = QRect(corner, tile_size(side, margin) + QSize(self._wider, 0))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        outline = QRectF(whole).adjusted(1, 1, -1, -1)
        if tile.opened or state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(QPen(theme.colour("accent"), 2) if tile.opened else Qt.PenStyle.NoPen)
            painter.setBrush(theme.colour("band"))
            painter.drawRoundedRect(outline, 4, 4)
        if state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(theme.colour("text"), 1, Qt.PenStyle.DashLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(outline.adjusted(3, 3, -3, -3), 2, 2)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setOpacity(FAINT if tile.faint else 1.0)
        left = whole.left() + margin + self._wider // 2
        self._paint_picture(painter, tile, QRect(left, whole.top() + margin, side, side))
        self._paint_caption(painter, tile, whole.adjusted(margin, margin + side, -margin, 4 - margin))
        painter.setOpacity(1.0)

    def _paint_picture(self, painter: QPainter, tile: Tile, place: QRect) -> None:
        theme, thumbnail = self._look.theme, tile.thumbnail
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if thumbnail is None:
            painter.setPen(QPen(theme.colour("line"), 1, Qt.PenStyle.DashLine))
            painter.drawRect(place.adjusted(0, 0, -1, -1))
            return
        request = thumbnail.picture.request
        rows, columns = request.rows[1] - request.rows[0], request.columns[1] - request.columns[0]
        unit = self._side / max(rows, columns)
        box = QRect(0, 0, max(LEAST_SIDE, round(columns * unit)), max(LEAST_SIDE, round(rows * unit)))
        box.moveCenter(place.center())
        painter.drawImage(box, self._image(tile.key, thumbnail, box.size(), painter.device().devicePixelRatio()))
        painter.setPen(theme.colour("line"))
        painter.drawRect(box.adjusted(0, 0, -1, -1))

    def _paint_caption(self, painter: QPainter, tile: Tile, place: QRect) -> None:
        theme = self._look.theme
        name, font = tile.name, self._bold if tile.opened else self._font
        metrics = self._bold_metrics if tile.opened else self._metrics
        room = place.width() - GAP - self._metrics.horizontalAdvance(tile.caption)
        if metrics.horizontalAdvance(name) > room:
            name = metrics.elidedText(tile.short, Qt.TextElideMode.ElideRight, room + GAP)
        painter.setFont(font)
        painter.setPen(theme.colour("text"))
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(place, middle | Qt.AlignmentFlag.AlignLeft, name)
        painter.setFont(self._font)
        painter.setPen(theme.colour("muted"))
        painter.drawText(place, middle | Qt.AlignmentFlag.AlignRight, tile.caption)

    def _image(self, key: Hashable, thumbnail: Thumbnail, size: QSize, ratio: float) -> QImage:
        theme = self._look.theme
        kept = self._images.pop(key, None)
        if kept is None or kept[0] is not thumbnail or kept[1:3] != (theme.name, ratio):
            kept = (thumbnail, theme.name, ratio, _drawn(thumbnail, size, ratio, theme))
        self._images[key] = kept  # last in use
        if len(self._images) > KEPT:
            del self._images[next(iter(self._images))]
        return kept[3]


def _drawn(thumbnail: Thumbnail, size: QSize, ratio: float, theme: Theme) -> QImage:
    """The picture at the size of its place on screen, masked cells hatched."""
    picture = thumbnail.picture
    width, height = round(size.width() * ratio), round(size.height() * ratio)
    rows = np.arange(height) * picture.index.shape[0] // height
    columns = np.arange(width) * picture.index.shape[1] // width
    pixels = picture.index[np.ix_(rows, columns)]
    r, g, b, _ = (theme.diverging if picture.request.diverging else theme.sequential).T.astype(np.uint32)
    colours = (0xFF000000 | r << 16 | g << 8 | b)[pixels]
    image = QImage(colours.data, width, height, 4 * width, QImage.Format.Format_RGB32).copy()  # QImage keeps no array
    if picture.has_signs:
        step = spacing(size.width() / picture.index.shape[1], size.height() / picture.index.shape[0])
        painter = QPainter(image)
        painter.drawImage(0, 0, hatching(pixels, ratio, step, line_colours(theme)))
        painter.end()
    return image
