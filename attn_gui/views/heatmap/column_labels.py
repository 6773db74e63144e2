"""ColumnLabels: the names of the keys, upright where they would not fit side by side, and thinned where dense."""

from __future__ import annotations

import math

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QWidget

from attn_gui.views.bands import HEADER, TALLEST_HEADER
from attn_gui.views.heatmap.label_strip import LabelStrip
from attn_gui.views.heatmap.labels import (
    LEAST_HEIGHT,
    LEAST_WIDTH,
    MARK,
    NOWHERE,
    PADDING,
    TICK,
    Span,
    pixels_between,
    stride,
    token_text,
    within,
)
from attn_gui.views.look import Look

# of header and rows together; less of it than rows could take is better left to the rows
LOW_PLOT = 200


class ColumnLabels(LabelStrip):
    """The keys, above the matrix: upright where the strip was made high because they would not fit side by side.

    Those before the present ones are the cache's, those after them no token's.
    """

    def __init__(self, look: Look, what: str, parent: QWidget) -> None:
        super().__init__(look, what, parent)
        self._present = (0, 0)

    def set_present(self, first: int, end: int) -> None:
        """Which keys are those of the present tokens."""
        if (first, end) != self._present:
            self._present = first, end
            self.update()

    def part(self, index: int) -> str:
        first, end = self._present
        return "cache" if index < first else "appended" if index >= end else ""

    def set_apart(self) -> list[Span]:
        assert self.grid is not None
        first, end = self._present
        parts = [(start, stop) for start, stop in ((0, first), (end, len(self._labels))) if start < stop]
        return [pixels_between(self.grid.x(start), self.grid.x(stop)) for start, stop in parts]

    gap = 4

    @property
    def upright(self) -> bool:
        return self.height() > HEADER and self.grid is not None and self.grid.cell_width < self.longest + 4

    def wanted_height(self, width: int, height: int, rows: int) -> int:
        """Pixels that the labels need where all of them share ``width``.

        ``height`` pixels are there for them and for the rows, which can use up to ``rows`` of them.
        """
        if height < min(LOW_PLOT, HEADER + rows):
            return HEADER
        each = width / max(1, len(self._labels))
        if each >= self.longest + 4 or each < LEAST_HEIGHT:
            return HEADER
        return max(HEADER, min(TALLEST_HEADER, math.ceil((self.longest + 2 * PADDING) / 4) * 4))

    def text(self, index: int, room: QRectF) -> str:
        if not self.upright:
            return super().text(index, room)
        return self._cut(index, self.height() - 2 * PADDING + 4)

    def write(self, painter: QPainter, index: int, room: QRectF) -> None:
        if not self.upright:
            # side by side they stand as low as the other panels' headings
            self._put(painter, index, room, self.height() - HEADER, HEADER)
            return
        painter.save()
        painter.translate(room.center().x(), room.bottom() - PADDING)
        painter.rotate(-90)
        line = self._writers[bool(self.part(index))].line(self.text(index, room))
        line.draw(painter, 0, -room.width() / 2, self.height(), room.width())
        painter.restore()

    def _span(self, index: int) -> Span:
        assert self.grid is not None
        return pixels_between(self.grid.x(index), self.grid.x(index + 1))

    def index_at(self, x: float, y: float) -> int | None:
        return None if self.grid is None else self.grid.key_at(x)

    @property
    def step(self) -> int:
        if self.grid is None:
            return 1
        return stride(self.grid.cell_width, LEAST_HEIGHT if self.upright else min(self.longest + 4, LEAST_WIDTH))

    def _spans(self) -> dict[int, Span]:
        assert self.grid is not None
        width, step, upright, strip = self.grid.cell_width, self.step, self.upright, self.width()
        # what a name that is cut to nothing, or one that stands upright, needs
        least = LEAST_HEIGHT - 1 if upright else self._writers[False].line("…").width

        def room(index: int) -> Span:
            span = self._span(index)
            if step > 1:
                # no wider than its text, so that at the strip's ends it moves no farther than it must
                text = math.ceil(self._writers[False].line(token_text(self._labels[index])).width) + 1
                size = min(LEAST_HEIGHT if upright else text, step * width - 4)
                return within(span, size, strip)
            # of a cell that is partly out of sight, the part that is not
            left, right = max(span.start + 2, 0), min(span.start + span.size - 2, strip)
            whole = span.start >= 0 and span.start + span.size <= strip
            return Span(left, right - left) if whole or right - left >= least else NOWHERE

        return self._thinned(self.grid.keys, step, room)

    def _box(self, span: Span) -> tuple[float, float, float, float]:
        return span.start, 0, span.size, self.height()

    def _across(self, span: Span) -> QRectF:
        return QRectF(span.start, 0, span.size, self.height())

    def _tick(self, index: int) -> tuple[int, int, int, int]:
        assert self.grid is not None
        middle = math.floor(self.grid.x(index + 0.5))
        return max(0, min(middle, self.width() - 1)), self.height() - TICK, 1, TICK

    def _mark(self, span: Span) -> QRectF:
        return QRectF(span.start, self.height() - MARK, span.size, MARK)
