"""StageModel: a stage's numbers as a table to read and to copy."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QObject, Qt

from attn_gui.files import numbers
from attn_gui.files.layout import Layout
from attn_gui.model.precision import Precision
from attn_gui.views.context import Context
from attn_gui.views.figures import common_decimals, shown
from attn_gui.views.grid import NOWHERE, GridModel, Index

# of larger stages the decimals are not measured, which would take longer than a key press
MEASURED_CELLS = 1 << 14
NOTHING = Layout("query", "key", (), ())

Array = np.ndarray[Any, Any]


class StageModel(GridModel):
    """Numbers become text as they are asked for. What is copied is exact in the stage's precision."""

    editable = False

    def __init__(self, context: Context, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._values: Array = np.empty((0, 0))
        self._layout = NOTHING
        self._stage = ""
        self._precision = Precision.FLOAT64
        self._decimals = 1
        context.settings.changed.connect(lambda name: self._measure() if name == "decimals" else None)

    def show_stage(self, stage: str, values: Array, layout: Layout, precision: Precision) -> None:
        """Show ``values`` [rows, columns]; a table of the same shape keeps its place and selection."""
        stays = stage == self._stage and values.shape == self._values.shape
        if not stays:
            self.beginResetModel()
        self._stage, self._values, self._layout, self._precision = stage, values, layout, precision
        self._measure()
        if stays:
            self.headerDataChanged.emit(Qt.Orientation.Vertical, 0, self.rowCount() - 1)
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, self.columnCount() - 1)
        else:
            self.endResetModel()

    def forget(self) -> None:
        """Let go of the numbers."""
        self.show_stage("", np.empty((0, 0)), NOTHING, Precision.FLOAT64)

    def rowCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else self._values.shape[0]

    def columnCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else self._values.shape[1]

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        value = float(self._values[index.row(), index.column()])
        if role == Qt.ItemDataRole.DisplayRole:
            return shown(value, self._decimals)
        if role in (Qt.ItemDataRole.EditRole, Qt.ItemDataRole.ToolTipRole):
            return numbers.text(value, self._precision)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            row, column = self._layout.rows[index.row()], self._layout.columns[index.column()]
            kinds = self._layout
            exact = numbers.text(value, self._precision)
            return f"{self._stage}, {kinds.row_kind} {row}, {kinds.column_kind} {column}, {exact}"
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role not in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return None
        names = self._layout.columns if orientation == Qt.Orientation.Horizontal else self._layout.rows
        return names[section] if section < len(names) else None

    def cells(self, rows: range, columns: range) -> list[list[str]]:
        block = self._values[rows.start : rows.stop, columns.start : columns.stop]
        return [[cell.decode("ascii") for cell in numbers.cells(row, self._precision)] for row in block]

    def _measure(self) -> None:
        most = self._context.settings.decimals
        self._decimals = common_decimals(self._values, most) if self._values.size <= MEASURED_CELLS else most
        if self._values.size:
            self.dataChanged.emit(self.index(0, 0), self.index(self.rowCount() - 1, self.columnCount() - 1))
