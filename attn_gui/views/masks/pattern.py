"""Small pictures of masks: filled where a query may attend to a key."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QLineF, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QImage, QPainter, QPen, QPixmap

from attn_gui.model.masks import Columns, Imported, MaskRule
from attn_gui.views.masks.cells import Cells
from attn_gui.views.theme import Theme

SIDE = 7
# pixels of an icon: two a cell, and the frame
ICON = QSize(2 * SIDE + 2, 2 * SIDE + 2)
RATIOS = (1.0, 2.0)
# pixels of a cell that a stroke has room in
STROKED = 6

# a sequence on which each column shows what it does
_COLUMNS = {
    "pad": np.arange(SIDE) >= SIDE - 2,
    "segment": np.arange(SIDE) * 3 // SIDE,
    "parent": (np.arange(SIDE) + 1) // 2 - 1,
    "position": np.arange(SIDE),
}


def sample(rule: MaskRule) -> Cells:
    """What ``rule`` allows on a sequence of SIDE tokens, [SIDE, SIDE]; of a mask given cell by cell, its cells."""
    i, j = np.arange(SIDE)[:, np.newaxis], np.arange(SIDE)[np.newaxis, :]
    if isinstance(rule, Imported):
        n_q, n_k = rule.cells.shape[-2:]
        i, j = i * n_q // SIDE, j * n_k // SIDE
    allowed = rule.allowed(i, j, Columns(SIDE, SIDE, key=_COLUMNS | rule.derived(_COLUMNS), query=_COLUMNS))
    return np.array(np.broadcast_to(allowed, (SIDE, SIDE)))


def by_hand() -> Cells:
    """A mask as it may be painted, [SIDE, SIDE]."""
    cells = np.ones((SIDE, SIDE), bool)
    cells[1:3, 2:6] = cells[3:6, 2:4] = cells[5:6, 5:6] = False
    return cells


def draw(painter: QPainter, place: QRectF, cells: Cells, theme: Theme) -> None:
    """``cells`` in ``place``, within a frame: filled where allowed, where not with a stroke if there is room for it."""
    height, width = cells.shape
    inner = place.adjusted(1, 1, -1, -1)
    packed = np.ascontiguousarray(cells, np.uint8)
    image = QImage(packed.data, width, height, width, QImage.Format.Format_Indexed8).copy()
    image.setColorTable([theme.colour("masked").rgba(), theme.colour("accent").rgba()])
    painter.drawImage(inner, image)
    across, down = inner.width() / width, inner.height() / height
    if min(across, down) >= STROKED:
        painter.setPen(QPen(theme.colour("hatch"), 1))
        for i, j in np.argwhere(~cells).tolist():
            left, bottom = inner.left() + j * across, inner.top() + (i + 1) * down
            painter.drawLine(QLineF(left + 2, bottom - 2, left + across - 2, bottom - down + 2))
    painter.setPen(QPen(theme.colour("muted"), 1))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(place.adjusted(0.5, 0.5, -0.5, -0.5))


def icon(cells: Cells | None, theme: Theme) -> QIcon:
    """``cells``, [SIDE, SIDE], as an icon of size ICON; of None as much room with nothing in it."""
    made = QIcon()
    for ratio in RATIOS:
        pixmap = QPixmap(ICON * ratio)
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(Qt.GlobalColor.transparent)
        if cells is not None:
            painter = QPainter(pixmap)
            draw(painter, QRectF(0, 0, ICON.width(), ICON.height()), cells, theme)
            painter.end()
        made.addPixmap(pixmap)
    return made
