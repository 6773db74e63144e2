"""WeightsModel: the table that is shown, as a spreadsheet that writes into the experiment."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from PySide6.QtCore import QObject, Qt, Signal

from attn_gui.files import numbers
from attn_gui.model.precision import Precision
from attn_gui.model.tables import with_table_cells
from attn_gui.views.clipboard import Block, read_numbers
from attn_gui.views.context import Context
from attn_gui.views.drawers.weights_part import WeightsPart
from attn_gui.views.figures import shown
from attn_gui.views.grid import NOWHERE, GridModel, Index
from attn_gui.views.heatmap.labels import token_text
from attn_gui.views.spans import Span, TableSpans


class WeightsModel(GridModel):
    """Numbers are read from the table as they are asked for: opening a large matrix costs what is in sight.

    ``figures`` is what the numbers of the whole table take on screen; ``figures_changed`` comes after every change.
    """

    figures_changed = Signal()

    def __init__(self, context: Context, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.part: WeightsPart | None = None
        self.figures = Span()
        self._spans = TableSpans()
        context.settings.changed.connect(self._on_setting)

    def show_part(self, part: WeightsPart | None) -> None:
        """Show ``part``; the same cells of a later experiment keep selection and editor."""
        before, now = self._layout(self.part), self._layout(part)
        if before != now:
            self.beginResetModel()
            self.part = part
            self._measure()
            self.endResetModel()
            self.figures_changed.emit()
        elif part is not None:
            self.part = part
            self._measure()
            self._say_all_changed()
            for orientation, count in ((Qt.Orientation.Horizontal, now[3]), (Qt.Orientation.Vertical, now[2])):
                self.headerDataChanged.emit(orientation, 0, count - 1)

    def rowCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() or self.part is None else len(self.part.rows)

    def columnCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() or self.part is None else len(self.part.columns)

    @property
    def bound(self) -> float:
        """The largest magnitude in the table."""
        return max(-self.figures.low, self.figures.high)

    def value(self, index: Index) -> float:
        if self.part is None:
            return 0.0
        return float(self.part.values[index.row(), index.column()])

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or self.part is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return shown(self.value(index), self.figures.decimals)
        if role in (Qt.ItemDataRole.EditRole, Qt.ItemDataRole.ToolTipRole):
            return numbers.text(self.value(index), Precision.FLOAT64)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            part = self.part
            place = f"{part.row_name(index.row())}, {part.column_name(index.column())}"
            return f"{part.title}, {place}, {numbers.text(self.value(index), Precision.FLOAT64)}"
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        part = self.part
        if part is None or role not in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return None
        name = part.column_name(section) if orientation == Qt.Orientation.Horizontal else part.row_name(section)
        if role == Qt.ItemDataRole.DisplayRole:
            return token_text(name)
        # a token may look like markup, which Qt would follow in a tooltip
        return f"<span>{escape(name)}</span>"

    def cells(self, rows: range, columns: range) -> list[list[str]]:
        if self.part is None:
            return []
        block = self.part.values[rows.start : rows.stop, columns.start : columns.stop]
        return [[cell.decode("ascii") for cell in numbers.cells(row, Precision.FLOAT64)] for row in block]

    def write(self, row: int, column: int, block: Block, label: str) -> None:
        part = self.part
        if part is None:
            raise ValueError("there is no table")
        found = [
            (r, c, value)
            for r, line in enumerate(read_numbers(block))
            for c, value in enumerate(line)
            if value is not None
        ]
        if not found:
            return
        rows, columns, values = (np.array(each) for each in zip(*found, strict=True))
        rows, columns = rows + part.rows.start + row, columns + part.columns.start + column
        if np.array_equal(part.table.array()[rows, columns], values):
            return
        experiment = with_table_cells(self._context.document.experiment, part.name, rows, columns, values)
        self._context.document.apply(f"{label} in {part.title}", experiment)

    def _on_setting(self, name: str) -> None:
        if name == "decimals" and self.part is not None:
            self._measure()
            self._say_all_changed()

    def _measure(self) -> None:
        if self.part is None:
            return
        self.figures = self._spans.of(self.part.table, self._context.settings.decimals)

    def _say_all_changed(self) -> None:
        self.dataChanged.emit(self.index(0, 0), self.index(self.rowCount() - 1, self.columnCount() - 1))
        self.figures_changed.emit()

    @staticmethod
    def _layout(part: WeightsPart | None) -> tuple[str, int | None, int, int]:
        return ("", None, 0, 0) if part is None else (part.name, part.group, len(part.rows), len(part.columns))
