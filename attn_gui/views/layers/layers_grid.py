"""LayersGrid: the tiles of all layers; only those in sight are painted and computed."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QPainter, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from attn_gui.model.layers import HeadAt
from attn_gui.views.drawers.tile import TilePainter, tile_size
from attn_gui.views.layers.layers_model import LayersModel
from attn_gui.views.look import Look
from attn_gui.views.painting import guarded

SIDE, MARGIN = 64, 3
TILE = tile_size(SIDE, MARGIN)
GRID = TILE + QSize(2, 2)
# of ranked tiles, whose line names the layer too
WIDER = 16
WIDEST_NAME = 144


class LayersGrid(QTableView):
    """Arrow keys move; Enter, Space or a click opens a head, a click on a layer's name that layer (``opened``)."""

    opened = Signal(int, object)
    sight_changed = Signal()

    def __init__(self, look: Look, model: LayersModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._layers = model
        self.setAccessibleName("Heads of all layers")
        self.setModel(model)
        self.setItemDelegate(LayersDelegate(look, model, self))
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        for bar in (self.verticalScrollBar(), self.horizontalScrollBar()):
            bar.setSingleStep(24)
            bar.valueChanged.connect(self.sight_changed)
            bar.actionTriggered.connect(self._stop_following)
        self.setFrameShape(QTableView.Shape.NoFrame)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.setMouseTracking(True)
        for header, size in ((self.horizontalHeader(), GRID.width()), (self.verticalHeader(), GRID.height())):
            header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
            header.setDefaultSectionSize(size)
            header.setHighlightSections(False)
        self.horizontalHeader().setSectionsClickable(False)
        self.verticalHeader().setMaximumWidth(WIDEST_NAME)
        self.verticalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.verticalHeader().sectionClicked.connect(lambda layer: self.opened.emit(layer, None))
        self.clicked.connect(self._open)
        self._current: HeadAt | None = None
        self._follows = True  # until the person scrolls, the head that is opened is kept in sight
        model.modelAboutToBeReset.connect(self._keep_current)
        model.modelReset.connect(self._on_reset)
        look.changed.connect(self.viewport().update)

    def height_for(self, width: int) -> int:
        """Pixels for every tile where the grid is ``width`` wide."""
        model = self._layers
        if model.sieve.ranks:
            return model.rowCount() * GRID.height()
        height = model.rowCount() * GRID.height() + self.horizontalHeader().sizeHint().height()
        if self.verticalHeader().sizeHint().width() + model.columnCount() * GRID.width() > width:
            height += self.horizontalScrollBar().sizeHint().height()
        return height

    def in_sight(self) -> list[HeadAt]:
        """The heads whose tiles are in sight, and after them those of one more row and column on either side."""
        model, view = self._layers, self.viewport()
        rows = _span(self.rowAt(0), self.rowAt(view.height() - 1), model.rowCount())
        columns = _span(self.columnAt(0), self.columnAt(view.width() - 1), model.columnCount())
        cells = [(row, column) for row in rows for column in columns]
        near = [
            (row, column)
            for row in _wider(rows, model.rowCount())
            for column in _wider(columns, model.columnCount())
            if row not in rows or column not in columns
        ]
        places = (model.place(*cell) for cell in (*cells, *near))
        return [place for place in places if place is not None]

    def show_place(self, at: HeadAt) -> None:
        """Bring the tile of a head into sight, and the keyboard there; it is kept there until the person scrolls."""
        index = self._layers.index_of(at)
        if index.isValid():
            self._follows = True
            self.setCurrentIndex(index)
            self.scrollTo(index)

    def show_first(self) -> None:
        """Bring the first tile into sight."""
        self._follows = False
        self.scrollToTop()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self._open(self.currentIndex())
            return
        super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if not self.currentIndex().isValid() and self._layers.rowCount():
            self.setCurrentIndex(self._layers.index(0, 0))

    def wheelEvent(self, event: QWheelEvent) -> None:
        self._stop_following()
        super().wheelEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._follows:
            self.scrollTo(self.currentIndex())
        self._layers.set_across(max(1, self.viewport().width() // (GRID.width() + WIDER)))
        self.sight_changed.emit()

    def _stop_following(self) -> None:
        self._follows = False

    def _keep_current(self) -> None:
        index = self.currentIndex()
        self._current = self._layers.place(index.row(), index.column()) if index.isValid() else None

    def _on_reset(self) -> None:
        if self._current is not None:
            self.setAutoScroll(False)  # what comes in meanwhile does not move what is looked at
            self.setCurrentIndex(self._layers.index_of(self._current))
            self.setAutoScroll(True)
        ranks = self._layers.sieve.ranks
        self.horizontalHeader().setDefaultSectionSize(GRID.width() + (WIDER if ranks else 0))
        self.horizontalHeader().setVisible(not ranks)
        self.verticalHeader().setVisible(not ranks)
        self.sight_changed.emit()

    def _open(self, index: QModelIndex) -> None:
        at = self._layers.place(index.row(), index.column()) if index.isValid() else None
        if at is not None:
            self.opened.emit(at.layer, at.head)


class LayersDelegate(QStyledItemDelegate):
    """Paints the tiles."""

    def __init__(self, look: Look, model: LayersModel, view: LayersGrid) -> None:
        super().__init__(view)
        self._model = model
        self._tiles, self._ranked = (TilePainter(look, SIDE, MARGIN, wider) for wider in (0, WIDER))

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return GRID

    @guarded
    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        at = self._model.place(index.row(), index.column())
        if at is not None:
            corner = option.rect.topLeft() + QPoint(1, 1)
            tiles = self._ranked if self._model.sieve.ranks else self._tiles
            tiles.paint(painter, corner, option.state, self._model.tile(at))


def _span(first: int, last: int, count: int) -> range:
    """From ``first`` to ``last``, where -1 stands for beyond the end."""
    if not count or first < 0:
        return range(0)
    return range(first, (count - 1 if last < 0 else last) + 1)


def _wider(span: range, count: int) -> range:
    return range(max(0, span.start - 1), min(count, span.stop + 1))
