"""LitFrames: the parts of a heatmap that are pointed out, each framed; its colours are data, and stay as they are."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QGraphicsItem

from attn_gui.model.lit import Lit
from attn_gui.views.heatmap.cursor import ORDER, SMALLEST_OUTLINE, frame, put, sharp
from attn_gui.views.heatmap.grid import Grid
from attn_gui.views.theme import Theme

# more are never pointed out at once in one heatmap
MOST = 2


class LitFrames:
    """A frame for each part, thick round the number in question; they lie below the cursor."""

    def __init__(self) -> None:
        self._frames = [frame(ORDER - 1) for _ in range(MOST)]
        self.items: list[QGraphicsItem] = list(self._frames)
        self._parts: list[Lit] = []
        self._accent = QColor()

    def set_theme(self, theme: Theme) -> None:
        self._accent = theme.colour("accent")
        self._dress()

    def show_parts(self, parts: Sequence[Lit]) -> None:
        self._parts = list(parts[:MOST])
        self._dress()

    def place(self, grid: Grid) -> None:
        """Put the frames where their parts lie in ``grid``."""
        for item in self._frames[len(self._parts) :]:
            item.setVisible(False)
        for part, item in zip(self._parts, self._frames, strict=False):
            top, bottom = (0, grid.n_q) if part.row is None else (part.row, part.row + 1)
            left, right = (0, grid.n_k) if part.column is None else (part.column, part.column + 1)
            box = QRectF(grid.x(left), grid.y(top), (right - left) * grid.cell_width, (bottom - top) * grid.cell_height)
            # a frame round less would hide it, and an edge on the border of the area is seen whole
            dx, dy = (max(0.0, SMALLEST_OUTLINE - size) / 2 for size in (box.width(), box.height()))
            put(item, box.adjusted(-dx, -dy, dx, dy) & grid.covered.adjusted(1, 1, -1, -1), grid.covered)

    def _dress(self) -> None:
        for part, item in zip(self._parts, self._frames, strict=False):
            item.setPen(sharp(self._accent, 3 if part.result else 2))
