"""ArrayModel: numbers as a table that can be read and copied."""

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
    """Numbers [rows, columns], with a label for each row and column. Cells are formatted when they are looked at.

    ``values`` is what there is of them, from the cell ``origin`` on; the others are still to come. ``figures`` is what
    they take on screen; ``figures_changed`` comes after every change.
    """

    editable = False
    figures_changed = Signal()

    def __init__(self, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self.values: Array = np.zeros((0, 0))
        self.origin = (0, 0)
        self.row_labels: Sequence[str] = ()
        self.column_labels: Sequence[str] = ()
        self._precision = Precision.FLOAT64
        self.figures = Span()
        settings.changed.connect(self._on_setting)

    def show(
        self, values: Array, row_labels: Sequence[str], column_labels: Sequence[str], precision: Precision
    ) -> None:
        """Show ``values`` [rows, columns], which hold numbers of ``precision`` (bfloat16 widened to float32).

        The array is kept, not copied. Raises ValueError unless there is one label for each row and column.
        """
        if values.shape != (len(row_labels), len(column_labels)):
            raise ValueError(f"expected {len(row_labels)} x {len(column_labels)} values, received {values.shape}")
        self.show_block(values, (0, 0), row_labels, column_labels, precision)

    def show_block(
        self,
        values: Array,
        origin: tuple[int, int],
        row_labels: Sequence[str],
        column_labels: Sequence[str],
        precision: Precision,
    ) -> None:
        """As :meth:`show`, of a table of which there is only a block, from the cell ``origin`` on."""
        shape = len(row_labels), len(column_labels)
        same_shape = shape == (self.rowCount(), self.columnCount())
        if not same_shape:
            self.beginResetModel()
        self.values, self.origin, self._precision = values, origin, precision
        self.row_labels, self.column_labels = row_labels, column_labels
        self.figures = span_of(values, self._settings.decimals)
        if not same_shape:
            self.endResetModel()
        elif shape[0] and shape[1]:
            self._say_all_changed()
            self.headerDataChanged.emit(Qt.Orientation.Vertical, 0, len(row_labels) - 1)
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(column_labels) - 1)
        self.figures_changed.emit()

    def wait(self, row_labels: Sequence[str], column_labels: Sequence[str]) -> None:
        """Show cells whose numbers are still to come."""
        if self.values.size or row_labels is not self.row_labels:
            self.show_block(np.zeros((0, 0)), (0, 0), row_labels, column_labels, Precision.FLOAT64)

    def holds(self, rows: range, columns: range) -> bool:
        """Whether the numbers of these cells are there."""
        (top, left), (height, width) = self.origin, self.values.shape
        inside = top <= rows.start and rows.stop <= top + height
        return inside and left <= columns.start and columns.stop <= left + width

    def value(self, row: int, column: int) -> float | None:
        """A number, None where it is still to come."""
        i, j = row - self.origin[0], column - self.origin[1]
        here = 0 <= i < self.values.shape[0] and 0 <= j < self.values.shape[1]
        return float(self.values[i, j]) if here else None

    def rowCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.row_labels)

    def columnCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.column_labels)

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:
        if not index.isValid():
            return None
        if role == Role.TextAlignmentRole:
            return _RIGHT
        row, column = index.row(), index.column()
        value = self.value(row, column)
        if value is None:
            return WAITING if role in (Role.DisplayRole, Role.EditRole) else None
        if role == Role.DisplayRole:
            return shown(value, self.figures.decimals)
        if role in (Role.EditRole, Role.ToolTipRole):
            return number_text(value, self._precision)
        if role == Role.AccessibleTextRole:
            text = number_text(value, self._precision)
            return f"{self.row_labels[row]}, {self.column_labels[column]}, {text}"
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
        if not self.holds(rows, columns):
            return super().cells(rows, columns)
        top, left = self.origin
        block = self.values[rows.start - top : rows.stop - top, columns.start - left : columns.stop - left]
        return full_texts(block, self._precision)

    def _on_setting(self, name: str) -> None:
        if name == "decimals" and self.values.size:
            self.figures = span_of(self.values, self._settings.decimals)
            self._say_all_changed()
            self.figures_changed.emit()

    def _say_all_changed(self) -> None:
        self.dataChanged.emit(self.index(0, 0), self.index(self.rowCount() - 1, self.columnCount() - 1))
