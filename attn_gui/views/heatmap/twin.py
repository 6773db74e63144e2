"""The table twin of a heatmap: the same numbers, the same selection, in a table that a screen reader reads."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QModelIndex, QObject, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHeaderView, QWidget

from attn_gui.control.settings import Settings
from attn_gui.model.answers import StageValues
from attn_gui.model.asks import StageAsk
from attn_gui.model.experiment import Experiment
from attn_gui.model.precision import Precision
from attn_gui.views.array_model import ArrayModel
from attn_gui.views.context import Context
from attn_gui.views.grid import Index
from attn_gui.views.heatmap.words import cell_description
from attn_gui.views.spreadsheet import SpreadsheetView

ROW_LABELS = 96
NARROWEST, WIDEST = 64, 120


class TwinModel(ArrayModel):
    """A square stage whose cells also say of which tokens they are and whether the mask allows them."""

    def __init__(self, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(settings, parent)
        self._experiment: Experiment | None = None
        self._ask = StageAsk("N")
        self._rows: dict[int, np.ndarray[Any, Any]] = {}  # what the mask allows, of the rows looked at

    def show_stage(self, answer: StageValues, experiment: Experiment) -> None:
        self._experiment, self._ask, self._rows = experiment, answer.ask, {}
        self.show(answer.values, experiment.tokens.tokens, experiment.keys.tokens, experiment.precision)

    def forget(self) -> None:
        """Let go of the numbers."""
        self._experiment = None
        self.show(np.zeros((0, 0)), (), (), Precision.FLOAT64)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if index.isValid() and self._experiment is not None:
            if role == Qt.ItemDataRole.AccessibleTextRole:
                return self.description(index.row(), index.column())
            if role == Qt.ItemDataRole.DisplayRole and not self.allowed(index.row(), index.column()):
                return "masked"
        return super().data(index, role)

    def allowed(self, i: int, j: int) -> bool:
        """Whether the mask lets query ``i`` attend to key ``j``."""
        assert self._experiment is not None
        if i not in self._rows:
            self._rows[i] = self._experiment.allowed(slice(i, i + 1), slice(0, self._experiment.n_k))[0]
        return bool(self._rows[i][j])

    def description(self, i: int, j: int) -> str:
        """``query is, key the, head 1, weight 0.2226, allowed``."""
        assert self._experiment is not None
        found = float(self.values[i, j]), self.allowed(i, j)
        return cell_description(
            self._experiment, self._ask.stage, self._ask.head, (i, j), found, self._settings.decimals
        )


class Twin(SpreadsheetView):
    """Has the stage asked for while it is in sight. ``left``: the person goes back to the heatmap."""

    left = Signal()

    def __init__(self, context: Context, slot: str, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.values = TwinModel(context.settings, self)
        self.setModel(self.values)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self._slot = f"{slot}.table"
        self._stage = ""
        self.verticalHeader().setMaximumWidth(ROW_LABELS)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        context.feed.answered.connect(self._on_answer)
        context.selection.cell_changed.connect(lambda query, key: self._go_to_selected())
        context.selection.head_changed.connect(lambda head: self._ask())
        context.bands.changed.connect(self._size_rows)
        self.selectionModel().currentChanged.connect(self._select)
        self._size_rows()

    def open(self, stage: str) -> None:
        """Show ``stage`` from now on."""
        self._stage = stage
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

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
            return
        super().keyPressEvent(event)

    def _ask(self) -> None:
        if self._stage:
            self.context.feed.ask(self._slot, StageAsk(self._stage, self.context.selection.head))

    def _on_answer(self, slot: str, answer: object) -> None:
        trace = self.context.feed.trace
        if slot == self._slot and isinstance(answer, StageValues) and trace is not None:
            self.values.show_stage(answer, trace.experiment)
            self._size_columns()
            self._go_to_selected()

    def _go_to_selected(self) -> None:
        selection = self.context.selection
        index = self.values.index(selection.query, selection.key)
        if index.isValid() and index != self.currentIndex():
            with QSignalBlocker(self.selectionModel()):
                self.go_to(selection.query, selection.key)
            self.viewport().update()

    def _select(self, now: QModelIndex, before: QModelIndex) -> None:
        if now.isValid():
            self.context.selection.set_cell(now.row(), now.column())

    def _size_columns(self) -> None:
        width = self.viewport().width() // max(1, self.values.columnCount())
        self.horizontalHeader().setDefaultSectionSize(max(NARROWEST, min(width, WIDEST)))

    def _size_rows(self) -> None:
        self.verticalHeader().setDefaultSectionSize(self.context.bands.row_height)
        self.horizontalHeader().setFixedHeight(self.context.bands.header)
