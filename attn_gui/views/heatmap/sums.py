"""SumColumn: the sum of each row of weights, with a sign and a word where it is not what it should be."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QEvent, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QToolTip, QWidget

from attn_gui.model.answers import RowSums
from attn_gui.views.bands import HEADER
from attn_gui.views.figures import shown
from attn_gui.views.heatmap.grid import Grid
from attn_gui.views.heatmap.labels import (
    LEAST_HEIGHT,
    MARK,
    NOWHERE,
    Span,
    line_in_sight,
    pixels_between,
    spaced,
    within,
)
from attn_gui.views.heatmap.stamps import Stamps
from attn_gui.views.look import Look, number_font
from attn_gui.views.painting import guarded
from attn_gui.views.writer import CENTRE, writer

PADDING = 8
NARROWEST = 44
MEASURED = 32
SIGN = "⚠"
# the second where some keys are not drawn; of one line, for the header has room for no more
HEADS = ("sum", "sum of all")


def sum_text(sums: RowSums, i: int, decimals: int) -> str:
    """What stands beside row ``i``."""
    if sums.empty[i]:
        return f"{SIGN} all masked"
    value = float(sums.sums[i])
    one = round(value, decimals) == 1
    if sums.off[i]:
        return f"{SIGN} off: {f'{value:.9g}' if one else shown(value, decimals)}"
    return "1" if one else shown(value, decimals)


class SumColumn(QWidget):
    """Stands right of the matrix, row by row at its height; its header says what it is."""

    def __init__(self, look: Look, parent: QWidget) -> None:
        super().__init__(parent)
        self._look = look
        self._sums: RowSums | None = None
        self._grid: Grid | None = None
        self._decimals = 4
        self._header = HEADER
        self._selected = 0
        self._stamps = Stamps()
        self.needed_width = NARROWEST
        self.setFont(number_font())
        self.setAccessibleName("Sums of the rows")
        # the ground is drawn with the sums: nothing below needs painting
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)

    def show_sums(self, sums: RowSums, decimals: int) -> None:
        before, before_decimals = self._sums, self._decimals
        self._sums, self._decimals = sums, decimals
        if before is not None and before_decimals == decimals and _look_alike(before, sums, decimals):
            return
        flagged = [int(i) for i in (sums.empty | sums.off).nonzero()[0]]
        # of rows that are right, one is as wide as another; where none is, the extremes are as wide as any
        rows = [*flagged[:MEASURED], 0, len(sums.sums) - 1, int(sums.sums.argmin()), int(sums.sums.argmax())]
        metrics = QFontMetricsF(self.font())
        widest = max(metrics.horizontalAdvance(sum_text(sums, i, decimals)) for i in rows)
        if sums.hidden_keys:
            widest = max(widest, metrics.horizontalAdvance(HEADS[True]))
        self.needed_width = max(NARROWEST, math.ceil((widest + 2 * PADDING) / 4) * 4)
        words = f"{len(flagged)} of {len(sums.sums)} rows do not sum to 1" if flagged else "every row sums to 1"
        words = words if sums.judged else "rows need not sum to 1"
        self.setAccessibleDescription(f"{words}; {_hidden(sums)}" if sums.hidden_keys else words)
        self.update()

    def forget(self) -> None:
        """Show no sums until there are others."""
        self._sums = None
        self.update()

    def show_grid(self, grid: Grid, selected: int) -> None:
        if (grid, selected) != (self._grid, self._selected):
            self._grid, self._selected = grid, selected
            self.update()

    def set_header(self, height: int) -> None:
        """Pixels above the first row."""
        if height != self._header:
            self._header = height
            self.update()

    def text(self, i: int) -> str:
        return "" if self._sums is None or i >= len(self._sums.sums) else sum_text(self._sums, i, self._decimals)

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme, stamps = QPainter(self), self._look.theme, self._stamps
        stamps.use(self.devicePixelRatioF(), theme.colour("panel"), theme.colour("muted"), self.font().key())
        stamps.begin(self.size())
        grid, sums, width = self._grid, self._sums, self.width()
        others: list[tuple[int, QRectF]] = []
        if grid is not None and sums is not None:
            wrong, band = sums.empty | sums.off, self._span(grid, self._selected)
            for i, span in self._spans(grid, len(wrong)).items():
                box = (0, span.start, width, span.size)
                if wrong[i] or span.near(band, 0):
                    others.append((i, QRectF(*box)))
                else:
                    stamps.put(self.text(i), box, self._write)
        # after the rows, of which the first may reach under it
        head = HEADS[sums is not None and sums.hidden_keys > 0]
        stamps.put(head, (0, self._header - HEADER, width, HEADER), self._write)
        stamps.draw(painter)
        if grid is None or sums is None:
            return
        painter.setClipRect(QRectF(0, self._header, width, self.height() - self._header))
        if self._selected in grid.queries:
            painter.fillRect(QRectF(0, band.start, width, band.size), theme.colour("band"))
        if spaced(grid.cell_height, LEAST_HEIGHT) > 1:
            # where there is no room for words, a mark beside each row that is wrong
            seen = grid.queries
            for i in wrong[seen.start : seen.stop].nonzero()[0].tolist():
                top, height = self._span(grid, seen.start + i)
                painter.fillRect(QRectF(0, top, MARK, max(2.0, height)), theme.colour("warning"))
        for i, room in others:
            painter.setPen(theme.colour("warning" if wrong[i] else "muted"))
            self._write(painter, self.text(i), room)

    def _spans(self, grid: Grid, count: int) -> dict[int, Span]:
        """The rows beside which a sum is written, of ``count``, and where."""
        step = spaced(grid.cell_height, LEAST_HEIGHT)
        spans: dict[int, Span] = {}
        last = NOWHERE
        for i in range(-(-grid.queries.start // step) * step, min(grid.queries.stop, count), step):
            span = self._span(grid, i)
            if step > 1:
                span = within(span, LEAST_HEIGHT, self.height())
                span = Span(max(span.start, self._header), span.size)
            if not span.near(last, 0) and line_in_sight(span, self._header, self.height()):
                spans[i] = last = span
        return spans

    def _write(self, painter: QPainter, text: str, room: QRectF) -> None:
        line = writer(self.font()).line(text)
        line.draw(painter, room.left(), room.top(), room.width(), room.height(), CENTRE)

    def _span(self, grid: Grid, i: int) -> Span:
        top, height = pixels_between(grid.y(i), grid.y(i + 1))
        return Span(self._header + top, height)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent) and self._grid is not None:
            i = self._grid.query_at(event.pos().y() - self._header)
            if event.pos().y() < self._header and self._sums is not None and self._sums.hidden_keys:
                QToolTip.showText(event.globalPos(), f"Sums of the rows: {_hidden(self._sums)}", self)
            elif i is None or self._sums is None or i >= len(self._sums.sums):
                QToolTip.hideText()
            else:
                QToolTip.showText(event.globalPos(), self._explained(self._sums, i), self)
            return True
        return super().event(event)

    def _explained(self, sums: RowSums, i: int) -> str:
        value = float(sums.sums[i])
        if sums.empty[i]:
            return "Every key of this query is masked: its weights are 0, and so is what it gathers"
        told = f"The weights of this query sum to {value!r}"
        if sums.off[i]:
            told += ", which rounding does not explain"
        return f"{told}; {_hidden(sums)}" if sums.hidden_keys else told


def _hidden(sums: RowSums) -> str:
    """What a sum has that the cells beside it lack."""
    keys = "the hidden key" if sums.hidden_keys == 1 else f"the {sums.hidden_keys:,} hidden keys"
    return f"of every key, {keys} too"


def _look_alike(one: RowSums, other: RowSums, decimals: int) -> bool:
    """Whether both are written in the same words."""
    return (
        (one.judged, one.hidden_keys) == (other.judged, other.hidden_keys)
        and np.array_equal(one.empty, other.empty)
        and not (one.off.any() or other.off.any())
        and np.array_equal(one.sums.round(decimals), other.sums.round(decimals))
    )
