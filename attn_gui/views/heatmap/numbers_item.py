"""NumbersItem: the numbers in the cells, drawn by one item, only those in sight and only while they fit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QFont, QFontInfo, QFontMetricsF, QPainter
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from attn_gui.model.picture import MASKED, Picture
from attn_gui.views.figures import MINUS, common_decimals, shown
from attn_gui.views.heatmap.grid import Grid
from attn_gui.views.look import number_font
from attn_gui.views.theme import ColourTable, Theme

CROWDED_DECIMALS = 2
SMALLEST_PIXELS = 9
SIZES_BELOW = 3
MARGIN = 3.0
# the part of a hatched cell that its number may cover
ROOM_FOR_SIGNS = 0.6
# pictures of more cells are not searched for how few decimals would do
SEARCHED_CELLS = 1 << 16

# figures are of one width
_ALIKE = str.maketrans("123456789", "000000000")

DARK_INK, LIGHT_INK = QColor("#10151b"), QColor("#ffffff")


@dataclass(frozen=True)
class Style:
    """How the numbers are written while they fit; ``bare``: without the 0 before the point."""

    font: QFont
    metrics: QFontMetricsF
    decimals: int
    bare: bool

    def text(self, value: float) -> str:
        """The number of a cell: exactly 0, as masked weights are, is told from what is only rounded to it."""
        return "0" if value == 0 else _written(value, self.decimals, self.bare)


def fitting_style(values: np.ndarray[Any, Any], cell_width: float, cell_height: float, decimals: int) -> Style | None:
    """How ``values`` are written in cells of this size: with ``decimals``, with fewer if crowded, or not at all."""
    finite = values[np.isfinite(values)] if cell_width > MARGIN and cell_height > SMALLEST_PIXELS else ()
    if len(finite) == 0:
        return None
    extremes = float(np.min(finite)), float(np.max(finite))
    base = _base_size()
    crowded = min(decimals, CROWDED_DECIMALS)
    for most, bare in dict.fromkeys(((decimals, False), (crowded, False), (crowded, True))):
        places = common_decimals(finite, most, min(1, most)) if len(finite) <= SEARCHED_CELLS else most
        longest = max((_written(value, places, bare) for value in extremes), key=len)
        for pixels in range(base, max(SMALLEST_PIXELS, base - SIZES_BELOW) - 1, -1):
            width, height = _extent(pixels, longest.translate(_ALIKE))
            if width + 2 * MARGIN <= cell_width and height <= cell_height:
                return _style(pixels, places, bare)
    return None


def _written(value: float, decimals: int, bare: bool) -> str:
    text = shown(value, decimals)
    return text.replace("0.", ".", 1) if bare and abs(value) < 1 and text.lstrip(MINUS).startswith("0.") else text


def inks(table: ColourTable) -> list[QColor]:
    """For each colour of ``table`` the ink that is the more readable on it."""
    luminance = _luminance(table[:, :3] / 255.0)  # [256]
    dark = float(_luminance(np.array([DARK_INK.redF(), DARK_INK.greenF(), DARK_INK.blueF()])))
    light_contrast = 1.05 / (luminance + 0.05)
    dark_contrast = (luminance + 0.05) / (dark + 0.05)
    return [LIGHT_INK if light else DARK_INK for light in light_contrast > dark_contrast]


class NumbersItem(QGraphicsItem):
    """Writes the values of an exact picture into its cells."""

    def __init__(self) -> None:
        super().__init__()
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemUsesExtendedStyleOption)
        self.style: Style | None = None
        self._picture: Picture | None = None
        self._grid: Grid | None = None
        self._inks: list[QColor] = []
        self._masked_fill = QColor()
        self._masked_ink = QColor()
        self._widths: dict[object, float] = {}
        self._texts: list[list[str]] = []
        self._shown: tuple[range, range] = (range(0), range(0))

    def set_theme(self, theme: Theme, table: ColourTable) -> None:
        self._inks = inks(table)
        self._masked_fill, self._masked_ink = theme.colour("masked"), theme.colour("muted")
        self.update()

    def show_picture(self, picture: Picture | None, grid: Grid, decimals: int) -> None:
        """Write the numbers of ``picture``, if it is exact and they fit the cells of ``grid``."""
        if self._grid is None or (grid.width, grid.height) != (self._grid.width, self._grid.height):
            self.prepareGeometryChange()
        before, self.style = self.style, None
        self._picture, self._grid = picture, grid
        if picture is not None and picture.exact:
            self.style = fitting_style(picture.values, grid.cell_width, grid.cell_height, decimals)
        self._texts = []
        self.setVisible(self.style is not None)
        if before is not self.style:
            self._widths = {}
        self.update()

    def boundingRect(self) -> QRectF:
        return QRectF() if self._grid is None else QRectF(0, 0, self._grid.width, self._grid.height)

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        style, picture, grid = self.style, self._picture, self._grid
        if style is None or picture is None or grid is None:
            return
        if not self._texts:
            self._write(style, picture, grid)
        rows, columns = self._shown
        exposed = option.exposedRect
        rows = _common(rows, grid.queries_between(exposed.top(), exposed.bottom()))
        columns = _common(columns, grid.keys_between(exposed.left(), exposed.right()))
        (top, _), (left, _) = picture.request.rows, picture.request.columns
        metrics = style.metrics
        rise = (grid.cell_height + metrics.ascent() - metrics.descent()) / 2
        painter.setFont(style.font)
        last: QColor | None = None
        first_row, first_column = self._shown[0].start, self._shown[1].start
        for i in rows:
            texts = self._texts[i - first_row]
            indices = picture.index[i - top, columns.start - left : columns.stop - left].tolist()
            baseline = round(grid.y(i) + rise)
            for j, index in zip(columns, indices, strict=True):
                text = texts[j - first_column]
                width = self._width(text)
                x = grid.x(j) + (grid.cell_width - width) / 2
                ink = self._inks[index]
                if index == MASKED:
                    if width + 4 > ROOM_FOR_SIGNS * grid.cell_width:
                        continue  # the hatching says it
                    ink = self._masked_ink
                    space = QRectF(x - 2, baseline - metrics.ascent(), width + 4, metrics.height())
                    painter.fillRect(space, self._masked_fill)
                if ink is not last:
                    painter.setPen(ink)
                    last = ink
                painter.drawText(QPointF(x, baseline), text)

    def _write(self, style: Style, picture: Picture, grid: Grid) -> None:
        (top, bottom), (left, right) = picture.request.rows, picture.request.columns
        rows, columns = _common(grid.queries, range(top, bottom)), _common(grid.keys, range(left, right))
        self._shown = rows, columns
        inside = slice(rows.start - top, rows.stop - top), slice(columns.start - left, columns.stop - left)
        block = picture.values[inside].tolist()
        self._texts = [[style.text(value) for value in row] for row in block]

    def _width(self, text: str) -> float:
        # figures are of one width, so numbers of one length that begin alike are as wide as one another
        key = (text[0].isdigit(), len(text)) if text[-1].isdigit() else text
        width = self._widths.get(key)
        if width is None and self.style is not None:
            width = self._widths[key] = self.style.metrics.horizontalAdvance(text)
        return width or 0.0


@cache
def _base_size() -> int:
    return QFontInfo(number_font()).pixelSize()


@lru_cache(maxsize=1024)
def _extent(pixels: int, text: str) -> tuple[float, float]:
    metrics = _style(pixels, 0, False).metrics
    return metrics.horizontalAdvance(text), metrics.ascent() + metrics.descent()


@cache
def _style(pixels: int, decimals: int, bare: bool) -> Style:
    font = number_font()
    font.setPixelSize(pixels)
    return Style(font, QFontMetricsF(font), decimals, bare)


def _luminance(colours: NDArray[np.float64]) -> NDArray[np.float64]:
    """Relative luminance (WCAG 2.1) of sRGB colours [.., 3] from 0 to 1."""
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    luminance: NDArray[np.float64] = linear @ np.array([0.2126, 0.7152, 0.0722])
    return luminance


def _common(one: range, other: range) -> range:
    start = max(one.start, other.start)
    return range(start, max(start, min(one.stop, other.stop)))
