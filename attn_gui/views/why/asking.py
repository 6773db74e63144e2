"""Asking why: the action of a table whose cells can be derived."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence

from attn_gui.model.derivation import Cell
from attn_gui.views.spreadsheet import SpreadsheetView

TEXT = "Wh&y this number"
KEYS = "Ctrl+Return"
TIP = "Every step to the number in the cell, with its real numbers"


def why_action(table: SpreadsheetView, cell_at: Callable[[int, int], Cell | None]) -> QAction:
    """An action in the menu of ``table`` that has its current cell derived; None where there is no such cell."""
    action = QAction(TEXT, table)
    action.setShortcut(QKeySequence(KEYS))
    action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
    action.setStatusTip(TIP)

    def ask() -> None:
        index = table.currentIndex()
        cell = cell_at(index.row(), index.column()) if index.isValid() else None
        if cell is not None:
            table.context.selection.ask_why(cell)

    action.triggered.connect(ask)
    table.addAction(action)
    table.extra_actions.append(action)
    return action
