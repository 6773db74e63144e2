"""Minimap: the whole matrix in a corner of the heatmap, and which part of it is in sight."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QImage, QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap
from PySide6.QtWidgets import QWidget

from attn_gui.control.feed import Feed
from attn_gui.model.asks import PictureAsk
from attn_gui.model.picture import Picture
from attn_gui.views.heatmap.grid import Grid
from attn_gui.views.heatmap.image import index_to_qimage
from attn_gui.views.heatmap.pictures import Pictures
from attn_gui.views.heatmap.plot import Plot
from attn_gui.views.look import Look
from attn_gui.views.painting import guarded

LONG_SIDES, SHORT_SIDE = (48, 96), 24
MARGIN = 8
# shown once no more of the rows or columns than this is in sight
PART = 0.5
# of the area it takes no more than this along either side, and stays away where that is too little
SHARE = 3
LEAST_FRAME = 6


class Minimap(QWidget):
    """Comes into sight where one has zoomed in; a click or a drag takes one to the place."""

    def __init__(self, look: Look, feed: Feed, plot: Plot, pictures: Pictures, slot: str) -> None:
        super().__init__(plot)
        self._look = look
        self._feed = feed
        self._plot = plot
        self._pictures = pictures
        self._slot = f"{slot}.minimap"
        self._image: QImage | None = None
        self._ground: QPixmap | None = None  # the picture without the frame
        self._picture: Picture | None = None
        self.setAccessibleName("Minimap")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.hide()
        plot.grid_changed.connect(self.follow)
        pictures.changed.connect(lambda before: self._ask())
        feed.answered.connect(self._on_answer)
        look.changed.connect(self._draw)

    def follow(self) -> None:
        """Be there or not, and show the part that is in sight now."""
        grid = self._plot.grid
        place = self._place(grid)
        wanted = place is not None
        if place is not None and place != self.geometry():
            self.setGeometry(place)
            self._draw()
        if wanted != self.isVisibleTo(self._plot):
            self.setVisible(wanted)
            self.raise_()
            self._ask()
        self.update()

    def frame(self) -> QRectF:
        """The part in sight, on the minimap."""
        grid = self._plot.grid
        x, y = self.width() / grid.n_k, self.height() / grid.n_q
        seen = QRectF(-grid.x0 / grid.cell_width * x, -grid.y0 / grid.cell_height * y, 0, 0)
        seen.setSize(QRectF(0, 0, grid.width / grid.cell_width * x, grid.height / grid.cell_height * y).size())
        middle = seen.center()
        seen.setWidth(max(LEAST_FRAME, min(seen.width(), self.width())))
        seen.setHeight(max(LEAST_FRAME, min(seen.height(), self.height())))
        seen.moveCenter(middle)
        seen.moveLeft(max(0.0, min(seen.left(), self.width() - seen.width())))
        seen.moveTop(max(0.0, min(seen.top(), self.height() - seen.height())))
        return seen

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._go_to(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._go_to(event)

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme = QPainter(self), self._look.theme
        painter.drawPixmap(0, 0, self._grounded())
        frame = self.frame().adjusted(1, 1, -1, -1)
        painter.setPen(QPen(theme.colour("panel"), 4))
        painter.drawRect(frame)
        painter.setPen(QPen(theme.colour("accent"), 2))
        painter.drawRect(frame)
        painter.setPen(QPen(theme.colour("muted"), 1))
        painter.drawRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5))

    def _grounded(self) -> QPixmap:
        """The picture at the size that it is drawn at, made when it is another or the screen is."""
        ratio = self.devicePixelRatioF()
        size = self.size() * ratio
        if self._ground is None or (self._ground.size(), self._ground.devicePixelRatio()) != (size, ratio):
            self._ground = ground = QPixmap(size)
            ground.setDevicePixelRatio(ratio)
            painter = QPainter(ground)
            painter.fillRect(self.rect(), self._look.theme.colour("panel"))
            if self._image is not None:
                painter.drawImage(self.rect(), self._image)
            painter.end()
        return self._ground

    def _place(self, grid: Grid) -> QRect | None:
        """Where it lies in the plot; None where it is not wanted."""
        area = self._plot.area
        if area.isEmpty():
            return None
        seen = len(grid.queries) / grid.n_q, len(grid.keys) / grid.n_k
        long = min(area.width() // SHARE, area.height() // SHARE, LONG_SIDES[1])
        if min(seen) > PART or long < LONG_SIDES[0] or not self._pictures.layers:
            return None
        size = QSize(long, long)
        if grid.n_q >= grid.n_k:
            size.setWidth(max(SHORT_SIDE, long * grid.n_k // grid.n_q))
        else:
            size.setHeight(max(SHORT_SIDE, long * grid.n_q // grid.n_k))
        place = QRect(0, 0, size.width(), size.height())
        place.moveBottomRight(area.bottomRight())
        return place.translated(-MARGIN, -MARGIN)

    def _ask(self) -> None:
        """Have a picture of the whole while it is in sight, in the colours of the heatmap."""
        if not self.isVisibleTo(self._plot):
            self._feed.ask(self._slot, None)
            return
        drawn = self._pictures
        size = LONG_SIDES[1], LONG_SIDES[1]
        self._feed.ask(
            self._slot,
            PictureAsk(drawn.stage, drawn.head, None, size, drawn.pooling, drawn.mapping, drawn.diverging),
        )

    def _on_answer(self, slot: str, answer: object) -> None:
        if slot == self._slot and isinstance(answer, Picture):
            self._picture = answer
            self._draw()

    def _draw(self) -> None:
        if self._picture is not None:
            theme = self._look.theme
            table = theme.diverging if self._pictures.diverging else theme.sequential
            self._image = index_to_qimage(self._picture.index, table)
        self._ground = None
        self.update()

    def _go_to(self, event: QMouseEvent) -> None:
        grid = self._plot.grid
        key = event.position().x() / self.width() * grid.n_k
        query = event.position().y() / self.height() * grid.n_q
        self._plot.centre_on(query, key)
