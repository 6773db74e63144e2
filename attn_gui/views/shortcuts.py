"""The list of keyboard shortcuts, read from the menus so that it cannot be out of date."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QHeaderView,
    QMenu,
    QMenuBar,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

# keys that belong to a view and have no menu entry
IN_HEATMAPS = (
    ("Move the selected cell", "Arrows, Home, End, Page Up, Page Down"),
    ("Zoom in, out, fit", "+, −, 0, or the wheel"),
)


class ShortcutsDialog(QDialog):
    """Two columns: what it does, and the keys."""

    def __init__(self, bar: QMenuBar, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keyboard shortcuts")
        self.resize(520, 560)
        rows = [*_shortcuts(bar.actions()), *IN_HEATMAPS]
        table = QTableWidget(len(rows), 2)
        table.setHorizontalHeaderLabels(["Action", "Keys"])
        table.verticalHeader().hide()
        table.setShowGrid(False)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        table.horizontalHeader().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        for row, (text, keys) in enumerate(rows):
            table.setItem(row, 0, QTableWidgetItem(text))
            table.setItem(row, 1, QTableWidgetItem(keys))
        layout = QVBoxLayout(self)
        layout.addWidget(table)


def _shortcuts(actions: list[QAction]) -> Iterator[tuple[str, str]]:
    for action in actions:
        menu = action.menu()
        if isinstance(menu, QMenu):
            yield from _shortcuts(menu.actions())
        elif not action.shortcut().isEmpty():
            keys = ", ".join(s.toString(QKeySequence.SequenceFormat.NativeText) for s in action.shortcuts())
            yield action.text().replace("&", "").rstrip("…"), keys
