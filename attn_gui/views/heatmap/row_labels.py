"""RowLabels: the names of the queries, elided to their room and thinned where they are dense."""

from __future__ import annotations

import math

from PySide6.QtCore import QRectF

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
    spaced,
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

    def _span(self, index: int) -> Span:
        assert self.grid is not None
        return pixels_between(self.grid.y(index), self.grid.y(index + 1))

    def index_at(self, x: float, y: float) -> int | None:
        return None if self.grid is None else self.grid.query_at(y)

    @property
    def step(self) -> int:
        return 1 if self.grid is None else spaced(self.grid.cell_height, LEAST_HEIGHT)

    def _spans(self) -> dict[int, Span]:
        assert self.grid is not None
        step, height = self.step, self.height()

        def room(index: int) -> Span:
            span = self._span(index)
            if step > 1:
                return within(span, LEAST_HEIGHT, height)
            return span if line_in_sight(span, 0, height) else NOWHERE

        return self._thinned(self.grid.queries, step, room)

    def _box(self, span: Span) -> tuple[float, float, float, float]:
        return PADDING, span.start, self.width() - 2 * PADDING, span.size

    def _across(self, span: Span) -> QRectF:
        return QRectF(0, span.start, self.width(), span.size)

    def _tick(self, index: int) -> tuple[int, int, int, int]:
        assert self.grid is not None
        middle = math.floor(self.grid.y(index + 0.5))
        return self.width() - TICK, max(0, min(middle, self.height() - 1)), TICK, 1

    def _mark(self, span: Span) -> QRectF:
        return QRectF(0, span.start, MARK, span.size)
