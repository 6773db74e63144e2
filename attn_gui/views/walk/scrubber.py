"""Scrubber: the stages as ticks on a line, to go to any of them."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QSlider, QToolTip, QWidget

from attn_gui.views.look import Look
from attn_gui.views.painting import guarded

# pixels: the whole, the line, and the tops of the names
HEIGHT = 48
LINE = 14
NAMES = 28
TICK, PRESENT = 4, 7
# between two names, and on both sides of the line
GAP, SIDE = 12, 28


class Scrubber(QSlider):
    """A slider with a named tick for each stage; where the names have no room, those nearest to the present stay."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._look = look
        self._names: list[str] = []
        self._titles: list[str] = []
        self.setAccessibleName("Stage")
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.valueChanged.connect(lambda value: self.tell())
        look.changed.connect(self.update)

    def show_stops(self, names: Sequence[str], titles: Sequence[str]) -> None:
        """Have a tick for each of ``names``; ``titles`` say them in full."""
        if list(names) == self._names and list(titles) == self._titles:
            return
        self._names, self._titles = list(names), list(titles)
        blocked = self.blockSignals(True)  # another number of stops is no step to another one
        self.setRange(0, len(names) - 1)
        self.blockSignals(blocked)
        self.tell()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(480, HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return QSize(160, HEIGHT)

    def x_of(self, stop: int) -> int:
        """Where the tick of a stop is."""
        return SIDE + round(stop * (self.width() - 2 * SIDE) / max(1, self.maximum()))

    def places(self) -> list[tuple[int, QRect]]:
        """The stops whose names are written, and where; never one over another."""
        metrics, found = self.fontMetrics(), list[tuple[int, QRect]]()
        for stop in sorted(range(len(self._names)), key=lambda stop: abs(stop - self.value())):
            width = metrics.horizontalAdvance(self._names[stop])
            left = max(0, min(self.x_of(stop) - width // 2, self.width() - width))
            place = QRect(left, NAMES, width + 1, metrics.height())
            spaced = place.adjusted(-GAP, 0, GAP, 0)
            if not any(spaced.intersects(other) for _, other in found):
                found.append((stop, place))
        return sorted(found)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.setValue(self._nearest(event.position().x()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self.setValue(self._nearest(event.position().x()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        event.accept()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent) and self._titles:
            stop = self._nearest(event.pos().x())
            QToolTip.showText(event.globalPos(), f"{stop + 1}. {self._titles[stop]}", self)
            return True
        return super().event(event)

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme = QPainter(self), self._look.theme
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        first, last, present = self.x_of(0), self.x_of(self.maximum()), self.x_of(self.value())
        for left, right, role in ((first, present, "accent"), (present, last, "line")):
            painter.setPen(QPen(theme.colour(role), 2))
            painter.drawLine(left, LINE, right, LINE)
        for stop in range(len(self._names)):
            passed, here = stop <= self.value(), stop == self.value()
            painter.setPen(QPen(theme.colour("accent" if passed else "muted"), 2))
            painter.setBrush(theme.colour("accent" if passed else "panel"))
            size = PRESENT if here else TICK
            painter.drawEllipse(QPointF(self.x_of(stop), LINE), size, size)
        if self.hasFocus():
            painter.setPen(QPen(theme.colour("accent"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(QPointF(present, LINE), PRESENT + 4, PRESENT + 4)
        for stop, place in self.places():
            painter.setPen(theme.colour("accent" if stop == self.value() else "muted"))
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, self._names[stop])

    def _nearest(self, x: float) -> int:
        return min(range(len(self._names)), key=lambda stop: abs(self.x_of(stop) - x))

    def tell(self) -> None:
        """Say where it stands to a screen reader."""
        if self._titles:
            said = f"{self.value() + 1} of {len(self._titles)}: {self._titles[self.value()]}"
            self.setAccessibleDescription(said)
