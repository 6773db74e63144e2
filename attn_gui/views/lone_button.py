"""LoneButton: at the end of a panel's title, has the panel alone or brings the others back."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QAction, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QToolButton

from attn_gui.views.look import Look
from attn_gui.views.painting import guarded

SIDE = 20
# of the square whose corners are drawn, and of the lines that meet in them
CORNERS, ARM = 10, 3.5
ROUND = 4


class LoneButton(QToolButton):
    """Four corners that point out, or in where the panel is alone already; does what ``action`` does."""

    def __init__(self, action: QAction, look: Look) -> None:
        super().__init__()
        self._look = look
        self.setDefaultAction(action)
        self.setFixedSize(SIDE, SIDE)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        look.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(SIDE, SIDE)

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme = QPainter(self), self._look.theme
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.isEnabled() and (self.underMouse() or self.isDown()):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.colour("band"))
            painter.drawRoundedRect(self.rect(), ROUND, ROUND)
            painter.setBrush(Qt.BrushStyle.NoBrush)
        if self.hasFocus():
            painter.setPen(QPen(theme.colour("accent"), 2))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), ROUND, ROUND)
        ink = "line" if not self.isEnabled() else "text" if self.underMouse() or self.hasFocus() else "muted"
        painter.setPen(QPen(theme.colour(ink), 1.5, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap))
        painter.translate(SIDE / 2, SIDE / 2)
        for corner in corners(inwards=self.isChecked()):
            painter.drawPolyline(corner)


def corners(inwards: bool) -> list[QPolygonF]:
    """The four corners of a square about (0, 0), each as the three points of two lines that meet."""
    far, drawn = CORNERS / 2, []
    # what points in has its corner where the lines of what points out end
    meet, end = (far - ARM, far) if inwards else (far, far - ARM)
    for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
        points = (end, meet), (meet, meet), (meet, end)
        drawn.append(QPolygonF([QPointF(x * across, y * down) for across, down in points]))
    return drawn
