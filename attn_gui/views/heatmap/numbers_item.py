"""NumbersItem: the numbers in the cells, drawn by one item, only those in sight and only while they fit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QFont, QFontInfo, QFontMetricsF, QPainter
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from attn_gui.model.picture import MASKED, NON_FINITE, Picture
from attn_gui.views.figures import MINUS, common_decimals, shown
from attn_gui.views.heatmap.grid import Grid
from attn_gui.views.look import number_font
from attn_gui.views.painting import guarded
from attn_gui.views.theme import ColourTable, Theme

CROWDED_DECIMALS = 2
FEWEST_DECIMALS = 1
SMALLEST_PIXELS = 9
SIZES_BELOW = 3
MARGIN, TIGHT_MARGIN = 3.0, 1.5
TOO_LONG = "…"
# a number from here on, or a whole one, is still told to two figures without its decimals
STILL_EXACT = 10
# the part of the numbers that must fit, so that those that do not are exceptions
MOST = 0.5
# the part of a hatched cell that its number may cover
ROOM_FOR_SIGNS = 0.6
# of a number at all
MOST_FIGURES = 300
# pictures of more cells are not searched for how few decimals would do
SEARCHED_CELLS = 1 << 16

# figures are of one width
_ALIKE = str.maketrans("123456789", "000000000")

DARK_INK, LIGHT_INK = QColor("#10151b"), QColor("#ffffff")


@dataclass(frozen=True)
class Style:
    """How numbers are written.

    most: the decimals allowed, of which no more are written than it takes. bare: without the 0 before the point.
    tight: closer to the cell's sides, and with the shorter of the two minuses.
    """

    font: QFont
    metrics: QFontMetricsF
    decimals: int
    most: int
    bare: bool
    tight: bool
    _widths: dict[str, float] = field(default_factory=dict, compare=False)

    def text(self, value: float, cell_width: float) -> str:
        """The number of a cell: exactly 0, as masked weights are, is told from what is only rounded to it.

        One that is too long for the cell goes without its decimals, or if that does not help is only marked.
        """
        if value == 0:
            return "0"
        room = self.room(cell_width)
        text = self._signed(_written(value, self.decimals, self.bare))
        if self.width(text) <= room:
            return text
        if abs(value) < 1 and self.decimals > 1:
            # 0.998 to two decimals is 1.00, of one figure more than 0.99
            shorter = self._signed(_written(value, self.decimals - 1, self.bare))
            if shorter.strip("-" + MINUS).startswith("1") and self.width(shorter) <= room:
                return shorter
        whole = self._signed(shown(value, 0))
        told = abs(value) >= STILL_EXACT or value == round(value)
        return whole if told and self.width(whole) <= room else TOO_LONG

    def width(self, text: str) -> float:
        """Pixels that ``text`` takes; figures are of one width."""
        alike = text.translate(_ALIKE)
        width = self._widths.get(alike)
        if width is None:
            width = self._widths[alike] = self.metrics.horizontalAdvance(alike)
        return width

    @property
    def height(self) -> float:
        return self.metrics.ascent() + self.metrics.descent()

    def room(self, cell_width: float) -> float:
        """Pixels for a number in a cell of this width."""
        return cell_width - 2 * (TIGHT_MARGIN if self.tight else MARGIN) + 0.5

    def limits(self, cell_width: float) -> tuple[float, float]:
        """Numbers between these are written in full in a cell of this width."""
        room = self.room(cell_width)
        return -self._limit(room, self._signed(MINUS)), self._limit(room, "")

    def _signed(self, text: str) -> str:
        return text.replace(MINUS, "-") if self.tight else text

    def _limit(self, room: float, sign: str) -> float:
        rest = sign + ("." + "0" * self.decimals if self.decimals else "")
        figures = math.floor((room - self.width(rest)) / self.width("0"))
        if figures < (0 if self.bare and self.decimals else 1):
            return 0.0
        return 10.0 ** min(figures, MOST_FIGURES) - 0.5 * 10.0**-self.decimals


def fitting_style(values: np.ndarray[Any, Any], cell_width: float, cell_height: float, decimals: int) -> Style | None:
    """How ``values`` are written in cells of this size: with ``decimals``, with fewer if crowded, or not at all.

    It is the fullest style in which as many numbers fit as in the shortest one; None where most fit in none.
    """
    if min(cell_width, cell_height) <= SMALLEST_PIXELS:
        return None
    finite = values[np.isfinite(values)]
    if len(finite) == 0:
        return None
    # a 0 is one figure in every style
    numbers = finite[finite != 0]
    extremes = (float(np.min(numbers)), float(np.max(numbers))) if len(numbers) else (0.0, 0.0)
    tried: list[tuple[Style, int]] = []
    for style in _styles(finite, decimals):
        if style.height > cell_height or style.width("0") > style.room(cell_width):
            continue
        fitting = _fitting(numbers, extremes, style.limits(cell_width)) if len(numbers) else 0
        if fitting == len(numbers):
            return style  # nothing shorter can do better
        tried.append((style, fitting))
    most = tried[-1][1] if tried else 0
    if most < MOST * len(numbers):
        return None
    return next((style for style, fitting in tried if fitting >= most), None)


def _styles(finite: NDArray[Any], decimals: int) -> Iterator[Style]:
    """The ways to write ``finite``, from the fullest to the shortest."""
    base = _base_size()
    crowded, fewest = min(decimals, CROWDED_DECIMALS), min(decimals, FEWEST_DECIMALS)
    ways = (
        (decimals, False, False),
        (crowded, False, False),
        (crowded, True, False),
        (crowded, True, True),
        (fewest, True, True),
    )
    for most, bare, tight in dict.fromkeys(ways):
        if most < crowded and not _tell(finite, most):
            return
        places = common_decimals(finite, most, min(1, most)) if len(finite) <= SEARCHED_CELLS else most
        for pixels in range(base, max(SMALLEST_PIXELS, base - SIZES_BELOW) - 1, -1):
            yield _style(pixels, places, most, bare, tight)


def _tell(finite: NDArray[Any], decimals: int) -> bool:
    """Whether most numbers that are not 0 are not written as 0 with so few decimals."""
    there = np.count_nonzero(finite)
    return bool(np.count_nonzero(np.abs(finite) >= 0.5 * 10.0**-decimals) >= MOST * there)


def _fitting(finite: NDArray[Any], extremes: tuple[float, float], limits: tuple[float, float]) -> int:
    """How many of ``finite`` lie between ``limits``."""
    if limits[0] < extremes[0] and extremes[1] < limits[1]:
        return len(finite)
    return int(np.count_nonzero((limits[0] < finite) & (finite < limits[1])))


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
        self.possible: int | None = None
        self._picture: Picture | None = None
        self._grid: Grid | None = None
        self._inks: list[QColor] = []
        self._masked_fill = QColor()
        self._masked_ink = QColor()
        self._texts: list[list[str]] = []
        self._shown: tuple[range, range] = (range(0), range(0))

    def set_theme(self, theme: Theme, table: ColourTable) -> None:
        self._inks = inks(table)
        self._masked_fill, self._masked_ink = theme.colour("masked"), theme.colour("muted")
        self.update()

    def show_picture(self, picture: Picture | None, grid: Grid, decimals: int, beside: int | None) -> None:
        """Write the numbers of ``picture``, if it is exact and they fit the cells of ``grid``.

        ``beside`` is :attr:`possible` of the numbers beside these, which are to look alike; ``possible`` becomes how
        many decimals there is room for here, at least CROWDED_DECIMALS, or None without numbers.
        """
        if self._grid is None or (grid.width, grid.height) != (self._grid.width, self._grid.height):
            self.prepareGeometryChange()
        self.style = style = None
        self._picture, self._grid = picture, grid
        if picture is not None and picture.exact:
            cell = grid.cell_width, grid.cell_height
            self.style = style = fitting_style(picture.values, *cell, decimals)
            if style is not None and beside is not None and beside < style.most:
                self.style = fitting_style(picture.values, *cell, beside)
        self.possible = None if style is None else max(style.most, min(decimals, CROWDED_DECIMALS))
        self._texts = []
        self.setVisible(self.style is not None)
        self.update()

    def boundingRect(self) -> QRectF:
        return QRectF() if self._grid is None else QRectF(0, 0, self._grid.width, self._grid.height)

    @guarded
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
            if baseline < metrics.capHeight() - 0.5 or baseline > grid.height + 0.5:
                continue
            for j, index in zip(columns, indices, strict=True):
                text = texts[j - first_column]
                width = style.width(text)
                x = grid.x(j) + (grid.cell_width - width) / 2
                # a part of a number would be read as another number
                if x < -0.5 or x + width > grid.width + 0.5 or (text == TOO_LONG and index in (MASKED, NON_FINITE)):
                    continue
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
        self._texts = [[style.text(value, grid.cell_width) for value in row] for row in block]


@cache
def _base_size() -> int:
    return QFontInfo(number_font()).pixelSize()


@cache
def _style(pixels: int, decimals: int, most: int, bare: bool, tight: bool) -> Style:
    font = number_font()
    font.setPixelSize(pixels)
    return Style(font, QFontMetricsF(font), decimals, most, bare, tight)


def _luminance(colours: NDArray[np.float64]) -> NDArray[np.float64]:
    """Relative luminance (WCAG 2.1) of sRGB colours [.., 3] from 0 to 1."""
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    luminance: NDArray[np.float64] = linear @ np.array([0.2126, 0.7152, 0.0722])
    return luminance


def _common(one: range, other: range) -> range:
    start = max(one.start, other.start)
    return range(start, max(start, min(one.stop, other.stop)))
