"""The table twin of a heatmap: the same numbers, the same selection, in a table that a screen reader reads."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QModelIndex, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHeaderView, QWidget

from attn_gui.files.layout import layout
from attn_gui.model.answers import StageValues
from attn_gui.model.asks import StageAsk
from attn_gui.model.experiment import Experiment
from attn_gui.model.trace import Head
from attn_gui.views.bands import HEADER
from attn_gui.views.context import Context
from attn_gui.views.drawers.stage_model import StageModel
from attn_gui.views.drawers.stage_table import StageTable
from attn_gui.views.grid import Index
from attn_gui.views.heatmap.painting import is_allowed
from attn_gui.views.heatmap.words import cell_description

ROW_LABELS = 96


class TwinModel(StageModel):
    """A square stage whose cells also say of which tokens they are and whether the mask allows them."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self._experiment: Experiment | None = None
        self._head: Head = 0
        self._of = ""

    def show_values(self, answer: StageValues, experiment: Experiment) -> None:
        self._experiment, self._head, self._of = experiment, answer.ask.head, answer.ask.stage
        self.show_stage(self._of, answer.values, layout(experiment, self._of), experiment.precision)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.AccessibleTextRole and index.isValid() and self._experiment is not None:
            return self.description(index.row(), index.column())
        return super().data(index, role)

    def description(self, i: int, j: int) -> str:
        """``query is, key the, head 1, weight 0.2226, allowed``."""
        assert self._experiment is not None
        value = float(super().data(self.index(i, j), Qt.ItemDataRole.EditRole))
        found = value, is_allowed(self._experiment, i, j)
        decimals = self._context.settings.decimals
        return cell_description(self._experiment, self._of, self._head, (i, j), found, decimals)


class Twin(StageTable):
    """Has the stage asked for while it is in sight. ``left``: the person goes back to the heatmap."""

    left = Signal()

    def __init__(self, context: Context, slot: str, parent: QWidget | None = None) -> None:
        self.values = TwinModel(context)
        super().__init__(context, self.values, parent)
        self.values.setParent(self)
        self._slot = f"{slot}.table"
        self._stage = ""
        self.horizontalHeader().setFixedHeight(HEADER)
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
            self.values.show_values(answer, trace.experiment)
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

    def _size_rows(self) -> None:
        self.verticalHeader().setDefaultSectionSize(self.context.bands.row_height)
