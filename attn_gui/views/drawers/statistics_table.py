"""StatisticsTable: the statistics of every head, sorted by any of them."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QSortFilterProxyModel, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QApplication, QHeaderView, QTableView, QWidget

from attn_gui.views.drawers.statistics_model import HEAD, SORT_ROLE
from attn_gui.views.look import number_font

ROW_HEIGHT = 28


class _Sorted(QSortFilterProxyModel):
    """Marks in its heading what it is sorted by; the style's arrow would lie over the text."""

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        text = super().headerData(section, orientation, role)
        if role != Qt.ItemDataRole.DisplayRole or orientation is Qt.Orientation.Vertical:
            return text
        rising = self.sortOrder() is Qt.SortOrder.AscendingOrder
        return f"{'↑' if rising else '↓'} {text}" if section == self.sortColumn() else text


class StatisticsTable(QTableView):
    """A click on a heading sorts; Enter or a double click opens the line (``opened``); Ctrl+C copies the lines."""

    opened = Signal(int)

    def __init__(
        self, model: QAbstractTableModel, name: str = "Statistics of each head", parent: QWidget | None = None
    ) -> None:
        """``model``: a line for each head, sorted by SORT_ROLE, and first by the first column."""
        super().__init__(parent)
        self._statistics = model
        self._sorted = _Sorted(self)
        self._sorted.setSourceModel(model)
        self._sorted.setSortRole(SORT_ROLE)
        self.setModel(self._sorted)
        self.setAccessibleName(name)
        self.setFont(number_font())
        self.setSortingEnabled(True)
        self.horizontalHeader().setSortIndicatorShown(False)
        self.sortByColumn(HEAD, Qt.SortOrder.AscendingOrder)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setFrameShape(QTableView.Shape.NoFrame)
        self.setShowGrid(False)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
        header = self.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.doubleClicked.connect(self._open)

    def show_line(self, line: int) -> None:
        """Select a line of the model."""
        index = self._sorted.mapFromSource(self._statistics.index(line, HEAD))
        if index.isValid() and index.row() != self.currentIndex().row():
            self.setCurrentIndex(index)

    def copied(self) -> str:
        """The lines that are selected, all where none is, with their headings, by tabs."""
        model, statistics = self._sorted, self._statistics
        rows = sorted({index.row() for index in self.selectedIndexes()}) or range(model.rowCount())
        columns = range(model.columnCount())
        horizontal = Qt.Orientation.Horizontal
        lines = [[str(statistics.headerData(column, horizontal)) for column in columns]]
        lines += [[str(model.index(row, column).data()) for column in columns] for row in rows]
        return "\n".join("\t".join(line) for line in lines) + "\n"

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._open(self.currentIndex())
        elif event.matches(QKeySequence.StandardKey.Copy):
            QApplication.clipboard().setText(self.copied())
        else:
            super().keyPressEvent(event)

    def _open(self, index: QModelIndex) -> None:
        if index.isValid():
            self.opened.emit(self._sorted.mapToSource(index).row())
