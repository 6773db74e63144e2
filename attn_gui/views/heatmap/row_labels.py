"""RowLabels: the names of the queries, elided to their room and thinned where they are dense."""

from __future__ import annotations

import math

from PySide6.QtCore import QRect, QRectF

from attn_gui.views.heatmap.label_strip import LabelStrip
from attn_gui.views.heatmap.labels import (
    LEAST_HEIGHT,
    MARK,
    NOWHERE,
    PADDING,
    TICK,
    Span,
    line_in_sight,
    pixels_between,
    stride,
    within,
)
from attn_gui.views.writer import RIGHT

NARROWEST_STRIP, WIDEST_STRIP, LARGEST_PART = 56, 96, 0.3


class RowLabels(LabelStrip):
    """The queries, left of the matrix; the strip begins where the matrix does."""

    along = RIGHT

    def strip_width(self, whole: int) -> int:
        """Pixels for the longest label, within limits; of ``whole``, the width of all, the cells need most."""
        widest = max(NARROWEST_STRIP, min(WIDEST_STRIP, whole * LARGEST_PART))
        return math.ceil(max(NARROWEST_STRIP, min(self._longest + 2 * PADDING, widest)) / 4) * 4

    def place(self, index: int) -> QRectF:
        top, height = self._span(index)
        return QRectF(0, top, self.width(), height)

    def _span(self, index: int) -> Span:
        assert self.grid is not None
        return pixels_between(self.grid.y(index), self.grid.y(index + 1))

    def index_at(self, x: float, y: float) -> int | None:
        return None if self.grid is None else self.grid.query_at(y)

    @property
    def step(self) -> int:
        return 1 if self.grid is None else stride(self.grid.cell_height, LEAST_HEIGHT)

    def drawn(self) -> dict[int, QRectF]:
        assert self.grid is not None
        step, height = self.step, self.height()

        def room(index: int) -> Span:
            span = self._span(index)
            if step > 1:
                return within(span, LEAST_HEIGHT, height)
            return span if line_in_sight(span, 0, height) else NOWHERE

        width = self.width() - 2 * PADDING
        spans = self._thinned(self.grid.queries, step, room)
        return {index: QRectF(PADDING, top, width, size) for index, (top, size) in spans.items()}

    def tick_of(self, index: int) -> QRect:
        top, height = self._span(index)
        return QRect(self.width() - TICK, min(round(top + height / 2), self.height() - 1), TICK, 1)

    def mark_of(self, place: QRectF) -> QRectF:
        return QRectF(0, place.top(), MARK, place.height())
