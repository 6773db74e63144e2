"""HeadGrid: all heads as small pictures; only those in sight are painted and asked for."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import QListView, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from attn_gui.model.trace import Head
from attn_gui.views.drawers.heads_model import HeadsModel
from attn_gui.views.drawers.tile import Tile, TilePainter, tile_size
from attn_gui.views.look import Look
from attn_gui.views.painting import guarded

SIDE = 96
TILE = tile_size(SIDE)
GRID = TILE + QSize(4, 4)


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
        self._model = model
        self._tiles = TilePainter(look, SIDE)

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return TILE

    @guarded
    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        head, model = self._model.head(index.row()), self._model
        name, caption = model.name(head), model.caption(head)
        short = name.removeprefix("Head ")  # of a hundred heads, beside a long number
        tile = Tile(head, model.thumbnail(head), name, caption, short, model.is_open(head))
        self._tiles.paint(painter, option.rect.topLeft(), option.state, tile)
