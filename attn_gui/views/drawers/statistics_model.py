"""StatisticsModel: a line for each head, a column for each statistic."""

from __future__ import annotations

import math
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from attn_gui.model.statistics import STATISTICS, HeadStatistics
from attn_gui.views.figures import percentages, shown

Index = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole
NOWHERE = QModelIndex()
HEAD = 0
# what a column is sorted by: the number itself
SORT_ROLE = Role.UserRole


class StatisticsModel(QAbstractTableModel):
    """Column 0 is the head's number, the others are STATISTICS; empty until ``show`` has been called."""

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self.statistics: HeadStatistics | None = None
        self._decimals = 4

    def show(self, statistics: HeadStatistics | None, decimals: int) -> None:
        """Show the statistics of other weights, or none."""
        rows = 0 if statistics is None else len(statistics.values)
        if rows != self.rowCount():
            self.beginResetModel()
            self.statistics, self._decimals = statistics, decimals
            self.endResetModel()
            return
        self.statistics, self._decimals = statistics, decimals
        if rows:
            self.dataChanged.emit(self.index(0, 0), self.index(rows - 1, len(STATISTICS)))

    def rowCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() or self.statistics is None else len(self.statistics.values)

    def columnCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else 1 + len(STATISTICS)

    def value(self, head: int, column: int) -> float:
        """The number in ``column``, 1 for the first statistic."""
        assert self.statistics is not None
        return float(self.statistics.values[head, column - 1])

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:
        if not index.isValid() or self.statistics is None:
            return None
        row, column = index.row(), index.column()
        if role == Role.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if column == HEAD:
            return {Role.DisplayRole: str(row + 1), SORT_ROLE: row}.get(Role(role))
        value = self.value(row, column)
        statistic = STATISTICS[column - 1]
        if role == Role.DisplayRole:
            return self.text(row, column)
        if role == SORT_ROLE:
            return -math.inf if math.isnan(value) else value
        if role == Role.AccessibleTextRole:
            return f"Head {row + 1}, {statistic.title.lower()} {self.text(row, column)}"
        return None

    def text(self, head: int, column: int) -> str:
        """What is shown of a number."""
        value = self.value(head, column)
        if math.isnan(value):
            return "–"
        return percentages([value])[0] if STATISTICS[column - 1].percent else shown(value, self._decimals)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole) -> Any:
        if orientation is Qt.Orientation.Vertical:
            return None
        if section == HEAD:
            return {Role.DisplayRole: "Head"}.get(Role(role))
        statistic = STATISTICS[section - 1]
        if role == Role.DisplayRole:
            return statistic.title
        if role == Role.ToolTipRole:
            return f"{statistic.title} = {statistic.formula}\n{statistic.about}"
        return None
