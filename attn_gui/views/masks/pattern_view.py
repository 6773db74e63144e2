"""PatternView: a mask as a picture in a panel or dialog."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from attn_gui.views.look import Look
from attn_gui.views.masks.cells import Cells
from attn_gui.views.masks.pattern import draw
from attn_gui.views.painting import guarded


class PatternView(QWidget):
    """Draws cells as large as ``side`` pixels have room for, cells alike where there are few."""

    def __init__(self, look: Look, side: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._cells: Cells = np.ones((1, 1), bool)
        self.setFixedSize(side, side)
        look.changed.connect(self.update)

    def show_cells(self, cells: Cells, name: str) -> None:
        """Draw ``cells``, which a screen reader calls ``name``."""
        self._cells = cells
        count = int(cells.sum())
        self.setAccessibleName(f"{name}: {count} of {cells.size} cells allowed")
        self.update()

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        height, width = self._cells.shape
        room = self.width() - 2
        each = room / max(height, width)
        each = float(int(each)) if each >= 1 else each
        place = QRectF(0, 0, max(3.0, width * each + 2), max(3.0, height * each + 2))
        draw(QPainter(self), place, self._cells, self._look.theme)
