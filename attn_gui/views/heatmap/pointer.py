"""Pointer: what the mouse does on a heatmap."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, Qt
from PySide6.QtGui import QHelpEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QToolTip

from attn_gui.control.document import Document
from attn_gui.control.notices import Notices
from attn_gui.control.selection import Selection
from attn_gui.views.bands import Bands
from attn_gui.views.heatmap.painting import Stroke
from attn_gui.views.heatmap.plot import Plot

# one notch of the wheel, 120 eighths of a degree
NOTCH = 120.0
ZOOM_A_NOTCH = 1.25


class Pointer(QObject):
    """Watches a plot's mouse events: the wheel zooms at the pointer, a drag pans or paints, a click selects."""

    def __init__(
        self,
        plot: Plot,
        document: Document,
        notices: Notices,
        selection: Selection,
        bands: Bands,
        *,
        paintable: Callable[[], bool],
        editable: Callable[[], bool],
        clicked: Callable[[int, int], None],
        told: Callable[[], str],
    ) -> None:
        super().__init__(plot)
        self._plot = plot
        self._document = document
        self._notices = notices
        self._selection = selection
        self._bands = bands
        self._paintable = paintable
        self._editable = editable
        self._clicked = clicked
        self._told = told
        self._pressed: QPoint | None = None
        self._from = (0.0, 0.0)  # the first row and column in sight when the button was pressed
        self._panning = False
        self._stroke: Stroke | None = None
        plot.installEventFilter(self)
        selection.painting_changed.connect(lambda on: self.show_shape())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if isinstance(event, QWheelEvent):
            self._wheel(event)
        elif isinstance(event, QHelpEvent) and kind == QEvent.Type.ToolTip:
            self._explain(event)
        elif kind == QEvent.Type.Leave:
            self._selection.set_hover(None)
            return False
        elif not isinstance(event, QMouseEvent):
            return False
        elif kind == QEvent.Type.MouseButtonPress:
            return self._press(event)
        elif kind == QEvent.Type.MouseMove:
            self._move(event)
        elif kind == QEvent.Type.MouseButtonRelease:
            self._release(event)
        elif kind == QEvent.Type.MouseButtonDblClick:
            return self._double_click(event)
        else:
            return False
        return True

    def show_shape(self) -> None:
        """Give the pointer the shape of what it does now."""
        if self._panning:
            self._plot.setCursor(Qt.CursorShape.ClosedHandCursor)
        elif self._paintable():
            self._plot.setCursor(Qt.CursorShape.CrossCursor)
        else:
            self._plot.unsetCursor()

    def zoom(self, factor: float, at: QPointF) -> None:
        """Make cells ``factor`` times as large, leaving the point ``at`` of the matrix where it is."""
        bands, columns, grid = self._bands, self._plot.columns, self._plot.grid
        area = self._plot.area
        x, y = at.x() - area.left(), at.y() - area.top()
        query, key = (y - grid.y0) / grid.cell_height, (x - grid.x0) / grid.cell_width
        rows = bands.height / bands.pitch / factor
        bands.show_rows(query - y / bands.height * rows, query + (1 - y / bands.height) * rows, (query, y))
        keys = (columns.right - columns.left) / factor
        columns.show_keys(key - x / grid.width * keys, key + (1 - x / grid.width) * keys)

    def fit(self) -> None:
        """Bring everything into sight."""
        self._bands.fit()
        self._plot.columns.fit()

    def _wheel(self, event: QWheelEvent) -> None:
        delta = event.angleDelta().y() or event.angleDelta().x()
        if delta:
            self.zoom(ZOOM_A_NOTCH ** (delta / NOTCH), event.position())
        event.accept()

    def _press(self, event: QMouseEvent) -> bool:
        if event.button() not in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            return False
        self._plot.setFocus(Qt.FocusReason.MouseFocusReason)
        point = event.position().toPoint()
        cell = self._plot.at(point)
        if event.button() == Qt.MouseButton.LeftButton and self._paintable():
            if cell is not None:
                self._clicked(*cell)
            if cell is not None and self._editable():
                self._stroke = Stroke(self._document, self._notices, *cell, self._selection.head)
            return True
        self._pressed = point
        self._from = self._bands.top, self._plot.columns.left
        return True

    def _move(self, event: QMouseEvent) -> None:
        point = event.position().toPoint()
        self._selection.set_hover(self._plot.at(point))
        if self._stroke is not None:
            place = point - self._plot.area.topLeft()
            self._stroke.move_to(*self._plot.grid.nearest(place.x() + 0.5, place.y() + 0.5))
        elif self._pressed is not None:
            moved = point - self._pressed
            if not self._panning and moved.manhattanLength() >= QApplication.startDragDistance():
                self._panning = True
                self.show_shape()
            if self._panning:
                self._bands.scroll(self._from[0] - moved.y() / self._bands.pitch)
                self._plot.columns.scroll(self._from[1] - moved.x() / self._plot.grid.cell_width)

    def _release(self, event: QMouseEvent) -> None:
        clicked = self._pressed is not None and not self._panning and event.button() == Qt.MouseButton.LeftButton
        self._pressed, self._panning, self._stroke = None, False, None
        self.show_shape()
        if clicked and (cell := self._plot.at(event.position().toPoint())) is not None:
            self._clicked(*cell)

    def _double_click(self, event: QMouseEvent) -> bool:
        # while painting, two quick clicks are two clicks
        if self._paintable():
            return self._press(event)
        if event.button() == Qt.MouseButton.LeftButton:
            self.fit()
        return True

    def _explain(self, event: QHelpEvent) -> None:
        cell = self._plot.at(event.pos())
        if cell is None:
            QToolTip.hideText()
            return
        self._selection.set_hover(cell)
        place = self._plot.grid.cell(*cell).toAlignedRect().translated(self._plot.area.topLeft())
        # a token may look like markup
        QToolTip.showText(event.globalPos(), f"<span>{escape(self._told())}</span>", self._plot, place)
