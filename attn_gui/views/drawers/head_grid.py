"""HeadGrid: all heads as small pictures; only those in sight are painted and asked for."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QImage, QKeyEvent, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from attn_gui.model.trace import Head
from attn_gui.views.drawers.heads_model import HeadsModel, Thumbnail
from attn_gui.views.heatmap.hatch import hatching, line_colours, spacing
from attn_gui.views.heatmap.image import index_to_qimage
from attn_gui.views.look import Look, number_font
from attn_gui.views.painting import guarded
from attn_gui.views.theme import Theme

SIDE = 96
MARGIN = 8
CAPTION = 20
GAP = 4
TILE = QSize(SIDE + 2 * MARGIN, SIDE + CAPTION + 2 * MARGIN)
GRID = TILE + QSize(4, 4)
# the thin side of a picture of many more keys than queries, or the other way round
LEAST_SIDE = 8


class HeadGrid(QListView):
    """Arrow keys move, Enter, Space or a click opens the head (``opened``)."""

    opened = Signal(object)
    sight_changed = Signal()

    def __init__(self, look: Look, model: HeadsModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._heads = model
        self.setAccessibleName("Heads")
        self.setModel(model)
        self.setItemDelegate(HeadDelegate(look, model, self))
        self.setViewMode(QListView.ViewMode.IconMode)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setMovement(QListView.Movement.Static)
        self.setUniformItemSizes(True)
        self.setGridSize(GRID)
        self.setSelectionMode(QListView.SelectionMode.NoSelection)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.verticalScrollBar().setSingleStep(24)
        self.setFrameShape(QListView.Shape.NoFrame)
        self.setMouseTracking(True)
        self.viewport().setAutoFillBackground(False)
        self.clicked.connect(self._open)
        self.verticalScrollBar().valueChanged.connect(self.sight_changed)
        model.modelReset.connect(self.sight_changed)
        look.changed.connect(self.viewport().update)

    def height_for(self, width: int) -> int:
        """Pixels for every tile where the grid is ``width`` wide."""
        across = max(1, width // GRID.width())
        return -(-self._heads.rowCount() // across) * GRID.height()

    def in_sight(self) -> list[Head]:
        """The heads whose pictures are in sight, and those one row further on either side."""
        near = self.viewport().rect().adjusted(0, -TILE.height(), 0, TILE.height())
        model = self._heads
        return [
            model.head(row) for row in range(model.rowCount()) if self.visualRect(model.index(row)).intersects(near)
        ]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self._open(self.currentIndex())
            return
        super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.sight_changed.emit()

    def _open(self, index: QModelIndex) -> None:
        if index.isValid():
            self.opened.emit(self._heads.head(index.row()))


class HeadDelegate(QStyledItemDelegate):
    """Paints a tile: the picture, and under it the head's name and its largest value."""

    def __init__(self, look: Look, model: HeadsModel, view: HeadGrid) -> None:
        super().__init__(view)
        self._look = look
        self._model = model
        self._font, self._bold = number_font(), number_font()
        self._bold.setBold(True)
        self._images: dict[Head, tuple[Thumbnail, str, float, QImage]] = {}

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return TILE

    @guarded
    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        theme = self._look.theme
        head = self._model.head(index.row())
        state, whole = option.state, QRect(option.rect.topLeft(), TILE)
        opened = self._model.is_open(head)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        outline = QRectF(whole).adjusted(1, 1, -1, -1)
        if opened or state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(QPen(theme.colour("accent"), 2) if opened else Qt.PenStyle.NoPen)
            painter.setBrush(theme.colour("band"))
            painter.drawRoundedRect(outline, 4, 4)
        if state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(theme.colour("text"), 1, Qt.PenStyle.DashLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(outline.adjusted(3, 3, -3, -3), 2, 2)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        self._paint_picture(painter, head, QRect(whole.left() + MARGIN, whole.top() + MARGIN, SIDE, SIDE))
        self._paint_caption(painter, head, opened, whole.adjusted(MARGIN, MARGIN + SIDE, -MARGIN, -MARGIN + 4))

    def _paint_picture(self, painter: QPainter, head: Head, place: QRect) -> None:
        theme = self._look.theme
        thumbnail = self._model.thumbnail(head)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if thumbnail is None:
            painter.setPen(QPen(theme.colour("line"), 1, Qt.PenStyle.DashLine))
            painter.drawRect(place.adjusted(0, 0, -1, -1))
            return
        request = thumbnail.picture.request
        rows, columns = request.rows[1] - request.rows[0], request.columns[1] - request.columns[0]
        unit = SIDE / max(rows, columns)
        box = QRect(0, 0, max(LEAST_SIDE, round(columns * unit)), max(LEAST_SIDE, round(rows * unit)))
        box.moveCenter(place.center())
        painter.drawImage(box, self._image(head, thumbnail, box.size(), painter.device().devicePixelRatio()))
        painter.setPen(theme.colour("line"))
        painter.drawRect(box.adjusted(0, 0, -1, -1))

    def _paint_caption(self, painter: QPainter, head: Head, opened: bool, place: QRect) -> None:
        theme = self._look.theme
        font, name, caption = self._bold if opened else self._font, self._model.name(head), self._model.caption(head)
        room = place.width() - GAP - QFontMetrics(self._font).horizontalAdvance(caption)
        if QFontMetrics(font).horizontalAdvance(name) > room:
            name = name.removeprefix("Head ")  # of a hundred heads, beside a long number
        painter.setFont(font)
        painter.setPen(theme.colour("text"))
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(place, middle | Qt.AlignmentFlag.AlignLeft, name)
        painter.setFont(self._font)
        painter.setPen(theme.colour("muted"))
        painter.drawText(place, middle | Qt.AlignmentFlag.AlignRight, caption)

    def _image(self, head: Head, thumbnail: Thumbnail, size: QSize, ratio: float) -> QImage:
        theme = self._look.theme
        kept = self._images.get(head)
        if kept is None or kept[0] is not thumbnail or kept[1:3] != (theme.name, ratio):
            kept = (thumbnail, theme.name, ratio, _drawn(thumbnail, size, ratio, theme))
            self._images[head] = kept
        return kept[3]


def _drawn(thumbnail: Thumbnail, size: QSize, ratio: float, theme: Theme) -> QImage:
    """The picture at the size of its place on screen, masked cells hatched."""
    picture = thumbnail.picture
    width, height = round(size.width() * ratio), round(size.height() * ratio)
    rows = np.arange(height) * picture.index.shape[0] // height
    columns = np.arange(width) * picture.index.shape[1] // width
    pixels = picture.index[np.ix_(rows, columns)]
    image = index_to_qimage(pixels, theme.diverging if picture.request.diverging else theme.sequential)
    image = image.convertToFormat(QImage.Format.Format_RGB32)
    step = spacing(size.width() / picture.index.shape[1], size.height() / picture.index.shape[0])
    painter = QPainter(image)
    painter.drawImage(0, 0, hatching(pixels, ratio, step, line_colours(theme)))
    painter.end()
    return image
