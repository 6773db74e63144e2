"""ArrayModel: a finished array as a table that can be read and copied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Qt, Signal

from attn_gui.control.settings import Settings
from attn_gui.files.numbers import text as number_text
from attn_gui.model.precision import Precision
from attn_gui.views.figures import shown
from attn_gui.views.grid import NOWHERE, GridModel, Index, full_texts
from attn_gui.views.spans import Span, span_of

Array = NDArray[Any]
Role = Qt.ItemDataRole
WAITING = "…"
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class ArrayModel(GridModel):
    """A numpy array [rows, columns], with a label for each row and column. Cells are formatted when they are looked at.

    ``figures`` is what all its numbers take on screen; ``figures_changed`` comes after every change.
    """

    editable = False
    figures_changed = Signal()

    def __init__(self, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self.values: Array = np.zeros((0, 0))
        self.row_labels: Sequence[str] = ()
        self.column_labels: Sequence[str] = ()
        self._precision = Precision.FLOAT64
        self.figures = Span()
        self._waiting = False
        settings.changed.connect(self._on_setting)

    def show(
        self, values: Array, row_labels: Sequence[str], column_labels: Sequence[str], precision: Precision
    ) -> None:
        """Show ``values`` [rows, columns], which hold numbers of ``precision`` (bfloat16 widened to float32).

        The array is kept, not copied. Raises ValueError unless there is one label for each row and column.
        """
        if values.shape != (len(row_labels), len(column_labels)):
            raise ValueError(f"expected {len(row_labels)} x {len(column_labels)} values, received {values.shape}")
        same_shape = values.shape == self.values.shape
        if not same_shape:
            self.beginResetModel()
        self._waiting = False
        self.values, self._precision = values, precision
        self.row_labels, self.column_labels = row_labels, column_labels
        self.figures = span_of(values, self._settings.decimals)
        if not same_shape:
            self.endResetModel()
        elif values.size:
            self._say_all_changed()
            self.headerDataChanged.emit(Qt.Orientation.Vertical, 0, len(row_labels) - 1)
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(column_labels) - 1)
        self.figures_changed.emit()

    def wait(self, shape: tuple[int, int], row_labels: Sequence[str], column_labels: Sequence[str]) -> None:
        """Show cells whose numbers are still to come."""
        if self._waiting and shape == self.values.shape and row_labels is self.row_labels:
            return
        self.beginResetModel()
        self._waiting = True
        self.values, self.figures = np.broadcast_to(np.float64(0.0), shape), Span()
        self.row_labels, self.column_labels = row_labels, column_labels
        self.endResetModel()
        self.figures_changed.emit()

    def rowCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else self.values.shape[0]

    def columnCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else self.values.shape[1]

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:
        if not index.isValid():
            return None
        if role == Role.TextAlignmentRole:
            return _RIGHT
        row, column = index.row(), index.column()
        if self._waiting:
            return WAITING if role in (Role.DisplayRole, Role.EditRole) else None
        if role == Role.DisplayRole:
            return shown(float(self.values[row, column]), self.figures.decimals)
        if role in (Role.EditRole, Role.ToolTipRole):
            return self._text(row, column)
        if role == Role.AccessibleTextRole:
            return f"{self.row_labels[row]}, {self.column_labels[column]}, {self._text(row, column)}"
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole) -> Any:
        across = orientation == Qt.Orientation.Horizontal
        labels = self.column_labels if across else self.row_labels
        if role == Role.TextAlignmentRole:
            right_below = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom
            return right_below if across else Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        if role not in (Role.DisplayRole, Role.ToolTipRole) or section >= len(labels):
            return None
        return labels[section]

    def cells(self, rows: range, columns: range) -> list[list[str]]:
        block = self.values[rows.start : rows.stop, columns.start : columns.stop]
        return full_texts(block, self._precision)

    def _text(self, row: int, column: int) -> str:
        return number_text(float(self.values[row, column]), self._precision)

    def _on_setting(self, name: str) -> None:
        if name == "decimals" and self.values.size:
            self.figures = span_of(self.values, self._settings.decimals)
            self._say_all_changed()
            self.figures_changed.emit()

    def _say_all_changed(self) -> None:
        self.dataChanged.emit(self.index(0, 0), self.index(self.rowCount() - 1, self.columnCount() - 1))
