"""Figure: a heatmap for paper: title, labels on both axes, the matrix, the colour bar."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from attn_gui.model.experiment import Experiment
from attn_gui.model.picture import LAST_COLOUR, MASKED, NON_FINITE, Picture
from attn_gui.views.heatmap.colour_bar import paint_bar
from attn_gui.views.heatmap.grid import Grid
from attn_gui.views.heatmap.hatch import hatch_pen, hatching, line_colours, lines_in, spacing
from attn_gui.views.heatmap.image import index_to_qimage, sampled
from attn_gui.views.heatmap.labels import longest_text, stride, token_text
from attn_gui.views.heatmap.numbers_item import fitting_style, inks
from attn_gui.views.heatmap.parts_item import paint_parts, parts_of
from attn_gui.views.heatmap.scale import scale_of
from attn_gui.views.look import number_font
from attn_gui.views.theme import ColourTable, Theme

MARGIN = 24
GAP = 8
LINE = 20
BAR = 16
WIDEST_CELL, HIGHEST_CELL = 64, 36
# what a matrix of many tokens measures at least, and the most cells that are drawn one pixel wide
SIDE, MOST_CELLS = 720, 2048
LONGEST_LABEL = 160
LABEL_ROOM = 14
# a matrix of so many cells is drawn as an image, of fewer as rectangles that stay sharp at any size
DRAWN_CELLS = 4096
LEAST_WIDTH = 320


@dataclass(frozen=True)
class Figure:
    """What to draw; ``picture`` shows the whole matrix."""

    title: str
    subtitle: str
    experiment: Experiment
    picture: Picture
    theme: Theme
    decimals: int

    @property
    def description(self) -> str:
        """For who cannot see it."""
        return f"{self.title}, {self.subtitle}: rows are queries, columns are keys"

    @property
    def table(self) -> ColourTable:
        return self.theme.diverging if self.picture.request.diverging else self.theme.sequential

    @property
    def size(self) -> QSize:
        """Width and height in pixels at scale 1."""
        grid, (left, top) = self.grid, self._strips()
        height = MARGIN + 2 * LINE + GAP + top + grid.height + GAP + BAR + MARGIN
        return QSize(max(LEAST_WIDTH, MARGIN + left + grid.width + MARGIN), height)

    def paint(self, painter: QPainter, ratio: float) -> None:
        """Draw at the origin of ``painter``; ``ratio`` is device pixels a pixel."""
        size, grid, (left, top) = self.size, self.grid, self._strips()
        painter.fillRect(QRectF(0, 0, size.width(), size.height()), self.theme.colour("panel"))
        bold = number_font()
        bold.setWeight(QFont.Weight.DemiBold)
        bold.setPixelSize(15)
        self._write(painter, QRectF(MARGIN, MARGIN, size.width() - 2 * MARGIN, LINE), self.title, bold, "text")
        below = QRectF(MARGIN, MARGIN + LINE, size.width() - 2 * MARGIN, LINE)
        self._write(painter, below, self.subtitle, _font(), "muted")
        origin = self.origin
        corner = QRectF(MARGIN, origin.y() - LINE, left - GAP, LINE)
        self._write(painter, corner, "query ↓ key →", _font(10), "muted")
        painter.save()
        painter.translate(origin)
        self._paint_labels(painter, grid, left, top)
        if grid.n_q * grid.n_k <= DRAWN_CELLS:
            self._paint_cells(painter, grid)
        else:
            self._paint_image(painter, grid, ratio)
        gap, line = self.theme.colour("panel"), self.theme.colour("muted")
        paint_parts(painter, grid, parts_of(self.experiment), gap, line)
        painter.restore()
        bar = QRectF(MARGIN, origin.y() + grid.height + GAP, size.width() - 2 * MARGIN, BAR)
        gradient = index_to_qimage(np.arange(LAST_COLOUR + 1, dtype=np.uint8)[np.newaxis], self.table)
        scale = scale_of(self.picture, self.decimals)
        paint_bar(painter, bar, scale, gradient, self.picture.request.diverging, self.theme, _font(11))

    @property
    def origin(self) -> QPointF:
        """The top left corner of the matrix."""
        left, top = self._strips()
        return QPointF(MARGIN + left, MARGIN + 2 * LINE + GAP + top)

    @property
    def grid(self) -> Grid:
        """Where the cells lie from there."""
        n_q, n_k = self.experiment.n_q, self.experiment.n_k
        width, height = _cell(n_k, WIDEST_CELL), _cell(n_q, HIGHEST_CELL)
        return Grid(n_q, n_k, math.ceil(n_k * width), math.ceil(n_q * height), 0.0, 0.0, width, height)

    def _strips(self) -> tuple[int, int]:
        """Room for the row labels at the left and the column labels at the top."""
        metrics = QFontMetricsF(_font())
        longest_query = longest_text(metrics, self.experiment.tokens.tokens)
        longest_key = longest_text(metrics, self.experiment.keys.tokens)
        upright = longest_key + GAP <= self.grid.cell_width
        corner = QFontMetricsF(_font(10)).horizontalAdvance("query ↓ key →")
        left = max(min(longest_query, LONGEST_LABEL), corner) + GAP
        return math.ceil(left), LINE if upright else max(LINE, math.ceil(min(longest_key, LONGEST_LABEL)) + GAP)

    def _paint_labels(self, painter: QPainter, grid: Grid, left: int, top: int) -> None:
        font = _font()
        metrics = QFontMetricsF(font)
        for i in range(0, grid.n_q, stride(grid.cell_height, LABEL_ROOM)):
            spare = max(0.0, LABEL_ROOM - grid.cell_height) / 2
            room = QRectF(-left, grid.y(i) - spare, left - GAP, grid.cell_height + 2 * spare)
            text = _cut(metrics, self.experiment.tokens.tokens[i], room.width())
            self._write(painter, room, text, font, "text", Qt.AlignmentFlag.AlignRight)
        upright = top == LINE
        for j in range(0, grid.n_k, 1 if upright else stride(grid.cell_width, LABEL_ROOM)):
            text = _cut(metrics, self.experiment.keys.tokens[j], grid.cell_width if upright else top - GAP)
            if upright:
                room = QRectF(grid.x(j), -top, grid.cell_width, top)
                self._write(painter, room, text, font, "text", Qt.AlignmentFlag.AlignHCenter)
                continue
            painter.save()
            painter.translate(grid.x(j + 0.5), -GAP / 2)
            painter.rotate(-90)
            self._write(painter, QRectF(0, -LABEL_ROOM / 2, top - GAP, LABEL_ROOM), text, font, "text")
            painter.restore()

    def _paint_cells(self, painter: QPainter, grid: Grid) -> None:
        picture, theme = self.picture, self.theme
        colours = [QColor(int(r), int(g), int(b)) for r, g, b, _ in self.table]
        lines, step = line_colours(theme), spacing(grid.cell_width, grid.cell_height)
        style = fitting_style(picture.values, grid.cell_width, grid.cell_height, self.decimals)
        ink = inks(self.table)
        apart = 1 if min(grid.cell_width, grid.cell_height) >= 12 else 0
        for i, row in enumerate(picture.index.tolist()):
            for j, index in enumerate(row):
                cell = grid.cell(i, j).adjusted(0, 0, -apart, -apart)
                painter.fillRect(cell, colours[index])
                if index in (MASKED, NON_FINITE):
                    painter.setPen(hatch_pen(lines[index], 1.0))
                    painter.drawLines(lines_in(cell, step, crossed=index == NON_FINITE))
                elif style is not None:
                    painter.setFont(style.font)
                    painter.setPen(ink[index])
                    text = style.text(float(picture.values[i, j]), grid.cell_width)
                    painter.drawText(cell, Qt.AlignmentFlag.AlignCenter, text)

    def _paint_image(self, painter: QPainter, grid: Grid, ratio: float) -> None:
        pixels, place = sampled([self.picture], grid, ratio)
        painter.drawImage(place, index_to_qimage(pixels, self.table))
        if int(pixels.max()) >= MASKED:
            step = spacing(grid.cell_width, grid.cell_height)
            painter.drawImage(place, hatching(pixels, ratio, step, line_colours(self.theme)))

    def _write(
        self,
        painter: QPainter,
        room: QRectF,
        text: str,
        font: QFont,
        colour: str,
        side: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
    ) -> None:
        painter.setFont(font)
        painter.setPen(self.theme.colour(colour))
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | side | Qt.AlignmentFlag.AlignAbsolute, text)


def _cell(count: int, largest: int) -> float:
    """Pixels of one cell along an axis of ``count``: whole ones unless there are too many."""
    if count > MOST_CELLS:
        return MOST_CELLS / count
    return float(max(1, min(largest, SIDE // count)))


def _cut(metrics: QFontMetricsF, token: str, width: float) -> str:
    return metrics.elidedText(token_text(token), Qt.TextElideMode.ElideRight, width)


def _font(pixels: int = 12) -> QFont:
    font = number_font()
    font.setPixelSize(pixels)
    return font
