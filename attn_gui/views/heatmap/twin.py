"""The table twin of a heatmap: the same numbers, the same selection, in a table that a screen reader reads."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from PySide6.QtCore import QModelIndex, QObject, QRect, Qt, Signal
from PySide6.QtGui import QFontInfo, QFontMetricsF, QKeyEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QFrame, QHeaderView, QWidget

from attn_gui.control.settings import Settings
from attn_gui.model.answers import Block
from attn_gui.model.asks import BlockAsk
from attn_gui.model.experiment import Experiment
from attn_gui.model.precision import Precision
from attn_gui.model.trace import Head
from attn_gui.views.array_model import ArrayModel
from attn_gui.views.block_sight import BlockSight
from attn_gui.views.context import Context
from attn_gui.views.grid import Index
from attn_gui.views.heatmap.frame import Corner
from attn_gui.views.heatmap.labels import longest_text
from attn_gui.views.heatmap.numbers_item import SIZES_BELOW, SMALLEST_PIXELS
from attn_gui.views.heatmap.words import cell_description
from attn_gui.views.number_delegate import SPACE
from attn_gui.views.painting import guarded
from attn_gui.views.spreadsheet import SpreadsheetView

ROW_LABELS = 96
NARROWEST, WIDEST = 64, 120
NOT_ALLOWED = "masked"

# experiment, stage, head, cell, its value and whether it is allowed (None while unknown), decimals
Described = Callable[[Experiment, str, Head, tuple[int, int], tuple[float, bool] | None, int], str]


class TwinModel(ArrayModel):
    """A square stage whose cells also say of which tokens they are and whether the mask allows them."""

    def __init__(self, settings: Settings, described: Described, parent: QObject | None = None) -> None:
        super().__init__(settings, parent)
        self._described = described
        self._experiment: Experiment | None = None
        self._stage = "N"
        self._head: Head = 0
        self._allowed: np.ndarray[Any, Any] = np.zeros((0, 0), bool)

    def show_answer(self, answer: Block, experiment: Experiment) -> None:
        self._experiment, self._stage, self._head = experiment, answer.ask.stage, answer.ask.head
        self._allowed = answer.allowed
        origin = answer.rows[0], answer.columns[0]
        tokens, keys = experiment.tokens.tokens, experiment.keys.tokens
        self.show_block(answer.values, origin, tokens, keys, experiment.precision)

    def forget(self) -> None:
        """Let go of the numbers."""
        self._experiment = None
        self.show(np.zeros((0, 0)), (), (), Precision.FLOAT64)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if index.isValid() and self._experiment is not None:
            if role == Qt.ItemDataRole.AccessibleTextRole:
                return self.description(index.row(), index.column())
            if role == Qt.ItemDataRole.DisplayRole and self.allowed(index.row(), index.column()) is False:
                return NOT_ALLOWED
        return super().data(index, role)

    def allowed(self, i: int, j: int) -> bool | None:
        """Whether the mask lets query ``i`` attend to key ``j`` in the head shown; None while that is to come."""
        if self.value(i, j) is None:
            return None
        return bool(self._allowed[i - self.origin[0], j - self.origin[1]])

    def description(self, i: int, j: int) -> str:
        """``query is, key the, head 1, weight 0.2226, allowed``, or what else is said of such a cell."""
        assert self._experiment is not None
        value = self.value(i, j)
        found = None if value is None else (value, bool(self.allowed(i, j)))
        return self._described(self._experiment, self._stage, self._head, (i, j), found, self._settings.decimals)


class Twin(SpreadsheetView):
    """Has the stage asked for while it is in sight. ``left``: the person goes back to the heatmap.

    described: the words for a cell, as :func:`cell_description`.
    """

    left = Signal()
    corner: Corner | None = None  # headers are placed before there is one

    def __init__(
        self, context: Context, slot: str, described: Described = cell_description, parent: QWidget | None = None
    ) -> None:
        super().__init__(context, parent)
        self.values = TwinModel(context.settings, described, self)
        self.setModel(self.values)
        self._sight = BlockSight(self, self.values)
        self._sight.wanted.connect(self._ask)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self._slot = f"{slot}.table"
        self._stage = ""
        self._following = self._sought = False
        self._font_size = QFontInfo(self.font()).pixelSize()
        header = self.horizontalHeader()
        header.setFont(header.font())  # its own, whatever that of the numbers is
        self.corner = Corner(context.look, self)
        self.setCornerWidget(QWidget(self))  # else the style draws a square between the scroll bars
        self.verticalHeader().setMaximumWidth(ROW_LABELS)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        context.feed.answered.connect(self._on_answer)
        context.selection.cell_changed.connect(lambda query, key: self._go_to_selected())
        context.selection.head_changed.connect(lambda head: self._ask())
        context.bands.changed.connect(self._size_rows)
        self.values.figures_changed.connect(self._size_columns)
        self.selectionModel().currentChanged.connect(self._select)
        self._size_rows()

    def open(self, stage: str) -> None:
        """Show ``stage`` from now on."""
        self._stage, self._sought = stage, False
        self._ask()
        self._go_to_selected()

    def close_table(self) -> None:
        """Let go of the numbers."""
        self._stage = ""
        self.context.feed.ask(self._slot, None)
        self.values.forget()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._size_columns()

    def updateGeometries(self) -> None:
        super().updateGeometries()
        if self.corner is not None:
            self.corner.setGeometry(0, 0, self.verticalHeader().width(), self.horizontalHeader().height())

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        theme, row = self.context.look.theme, self.context.selection.query
        viewport = self.viewport()
        if row < self.values.rowCount():
            top, height = self.rowViewportPosition(row), self.rowHeight(row)
            QPainter(viewport).fillRect(QRect(0, top, viewport.width(), height), theme.colour("band"))
        super().paintEvent(event)
        if self.currentIndex().isValid() and not self.hasFocus():
            painter = QPainter(viewport)
            painter.setPen(QPen(theme.colour("accent"), 1))
            painter.drawRect(self.visualRect(self.currentIndex()).adjusted(0, 0, -1, -1))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
            return
        super().keyPressEvent(event)

    def _ask(self) -> None:
        if self._stage:
            e = self.context.feed.experiment or self.context.feed.framed(self.context.document.experiment)
            block = self._sight.block((e.n_q, e.n_k))
            self.context.feed.ask(self._slot, BlockAsk(self._stage, self.context.selection.head, *block))

    def _on_answer(self, slot: str, answer: object) -> None:
        experiment = self.context.feed.experiment
        if slot == self._slot and isinstance(answer, Block) and experiment is not None:
            self.values.show_answer(answer, experiment)
            if not self._sought:
                self._sought = True
                self._go_to_selected()
            self._ask()

    def _go_to_selected(self) -> None:
        selection = self.context.selection
        index = self.values.index(selection.query, selection.key)
        if index.isValid() and index != self.currentIndex():
            self._following = True
            self.go_to(selection.query, selection.key)
            self._following = False
            self.executeDelayedItemsLayout()
            self.scrollTo(index)
        self.viewport().update()

    def _select(self, now: QModelIndex, before: QModelIndex) -> None:
        if now.isValid() and not self._following:
            self.context.selection.set_cell(now.row(), now.column())

    def _size_columns(self) -> None:
        """Columns of one width, wide enough for every number.

        All of them are in sight, if need be in a smaller font, down to that of the heatmap's numbers; where that does
        not do, they are wide enough for names as well unless those are very long.
        """
        values, header, font = self.values, self.horizontalHeader(), self.font()
        share = self.viewport().width() // max(1, values.columnCount())
        sizes = range(self._font_size, max(SMALLEST_PIXELS, self._font_size - SIZES_BELOW) - 1, -1)
        size = next((size for size in sizes if self._number_width(size) <= share), None)
        font.setPixelSize(size or self._font_size)
        self.setFont(font)
        name = longest_text(QFontMetricsF(header.font()), values.column_labels)
        width = min(share, WIDEST) if size else max(NARROWEST, min(name + SPACE, WIDEST))
        header.setDefaultSectionSize(math.ceil(max(width, self._number_width(font.pixelSize()))))

    def _number_width(self, size: int) -> float:
        """Pixels that the widest number needs in a font of ``size`` pixels."""
        font = self.font()
        font.setPixelSize(size)
        metrics = QFontMetricsF(font)
        return SPACE + max(metrics.horizontalAdvance(text) for text in (*self.values.figures.widest, NOT_ALLOWED))

    def _size_rows(self) -> None:
        self.verticalHeader().setDefaultSectionSize(self.context.bands.row_height)
        self.horizontalHeader().setFixedHeight(self.context.bands.header)
