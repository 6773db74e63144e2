"""What lies over the plain parts of a heatmap: the frame that shows the focus, and what its rows and columns are."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QRegion, QResizeEvent
from PySide6.QtWidgets import QWidget

from attn_gui.views.bands import HEADER
from attn_gui.views.look import Look, number_font
from attn_gui.views.painting import guarded

FRAME = 2
KEYS, QUERIES = "key →", "query ↓"
LARGEST, SMALLEST = 10, 7
PADDING = 8


class FocusFrame(QWidget):
    """A frame round its parent, of which it covers no more than that."""

    def __init__(self, look: Look, parent: QWidget) -> None:
        super().__init__(parent)
        self._look = look
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setVisible(False)

    def resizeEvent(self, event: QResizeEvent) -> None:
        inner = self.rect().adjusted(FRAME, FRAME, -FRAME, -FRAME)
        self.setMask(QRegion(self.rect()).subtracted(QRegion(inner)))

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), self._look.theme.colour("accent"))


class Corner(QWidget):
    """Stands above the names of the queries and left of those of the keys, and says that they are that."""

    def __init__(self, look: Look, parent: QWidget) -> None:
        super().__init__(parent)
        self._look = look
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(self._look.theme.colour("muted"))
        font, (upper, lower) = number_font(), self.places()
        font.setPixelSize(self.pixels())
        painter.setFont(font)
        side = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(upper, side, KEYS)
        painter.drawText(lower, side, QUERIES)

    def places(self) -> tuple[QRect, QRect]:
        """Where the two are written: as low as the headings of the other panels, however high the corner is."""
        line = QSize(self.width() - PADDING, HEADER // 2)
        upper = QRect(0, self.height() - HEADER, line.width(), line.height())
        return upper, upper.translated(0, line.height())

    def pixels(self) -> int:
        """The size at which both fit the corner's width."""
        room = self.places()[0].width()
        font = number_font()
        for pixels in range(LARGEST, SMALLEST, -1):
            font.setPixelSize(pixels)
            metrics = QFontMetrics(font)
            if max(metrics.horizontalAdvance(KEYS), metrics.horizontalAdvance(QUERIES)) <= room:
                return pixels
        return SMALLEST
