"""Canvas: the matrix as pyqtgraph draws it.

Imported when there is one to draw: the first paint does not wait for pyqtgraph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QCoreApplication, QEvent, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QGraphicsItem, QGraphicsView, QWidget

from attn_gui.views.heatmap.image import Indices, packed_colours
from attn_gui.views.painting import guarded
from attn_gui.views.theme import ColourTable, Theme


class MatrixImage(pg.ImageItem):
    """The ImageItem of a heatmap; what it shows are the pixels of :func:`sampled`."""

    image: Any

    def __init__(self) -> None:
        super().__init__(axisOrder="row-major")
        # indices are colours already: nothing may be measured or scaled
        self.setAutoLevels(False)
        self.setAutoDownsample(False)
        self.setLevels((0, 255), update=False)
        self.place = QRectF()
        self._bounds = QRectF()
        self._colours: list[int] = []

    def show_pixels(self, pixels: Indices, place: QRectF) -> None:
        """Draw ``pixels``, which must not change any more, at ``place``."""
        resized = self.image is None or pixels.shape != self.image.shape
        if resized:
            self.setImage(pixels, autoLevels=False, autoDownsample=False)
            self._bounds = QRectF(0, 0, pixels.shape[1], pixels.shape[0])
        else:  # the rest of setImage is about levels, which are set
            self.image = pixels
            self._renderRequired = True
            self.update()
        if resized or place != self.place:
            self.place = place
            self.setRect(place)

    def boundingRect(self) -> QRectF:
        return self._bounds

    def set_table(self, table: ColourTable) -> None:
        self._colours = packed_colours(table)
        self.setLookupTable(table)

    @guarded
    def paint(self, painter: QPainter, *options: Any) -> None:
        if self.image is not None:
            if self._renderRequired:
                self.render()
            painter.drawImage(self._bounds, self.qimage)

    def render(self) -> None:
        """Make the QImage that is painted: ImageItem's own way works out levels and table anew for every picture."""
        height, width = self.image.shape
        indexed = QImage(self.image.data, width, height, width, QImage.Format.Format_Indexed8)
        indexed.setColorTable(self._colours)
        # painted as it is, several times over while changed cells flash
        self.qimage = indexed.convertToFormat(QImage.Format.Format_RGB32)
        self._renderRequired = self._unrenderable = False


class Canvas(pg.GraphicsView):
    """The image, and ``above`` it whatever else is drawn in its place."""

    def __init__(self, above: Sequence[QGraphicsItem], parent: QWidget) -> None:
        super().__init__(parent, useOpenGL=False, background=None)
        self.setCacheMode(QGraphicsView.CacheModeFlag.CacheNone)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        # the background is drawn with the rest: nothing below needs painting
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._ground = QColor()
        self.image = MatrixImage()
        for item in (self.image, *above):
            self.addItem(item)

    def set_theme(self, theme: Theme, table: ColourTable) -> None:
        self._ground = theme.colour("panel")
        self.viewport().update()
        self.image.set_table(table)

    @guarded
    def drawBackground(self, painter: QPainter, rect: QRectF | QRect) -> None:
        # the image mostly covers all of it
        if not (self.image.isVisible() and self.image.opacity() == 1.0 and self.image.place.contains(rect)):
            painter.fillRect(rect, self._ground)

    def repaint_changes(self) -> None:
        """Repaint now what has changed: a scene by itself tells its view of it a turn later."""
        QCoreApplication.sendPostedEvents(self.scene(), QEvent.Type.MetaCall.value)
