"""BlockActions: copy, cut, paste, fill and clear of a spreadsheet's selected cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence

from attn_gui.views import cell_ranges
from attn_gui.views.cell_ranges import CellRange
from attn_gui.views.clipboard import Block, from_text, to_text

if TYPE_CHECKING:
    from attn_gui.views.spreadsheet import SpreadsheetView

Line = Sequence[str | None]


class BlockActions(QObject):
    """Works on the selection of ``view``; its actions have their shortcuts while the table has the focus."""

    def __init__(self, view: SpreadsheetView) -> None:
        super().__init__(view)
        self._view = view
        self.copy_action = self._action("&Copy", "Ctrl+C", self.copy, "Copy the selected cells in full precision")
        self.cut_action = self._action("Cu&t", "Ctrl+X", self.cut, "Copy the selected cells and set them to 0")
        self.paste_action = self._action("&Paste", "Ctrl+V", self.paste, "Paste a block from the clipboard")
        self.fill_down_action = self._action(
            "Fill do&wn", "Ctrl+D", self.fill_down, "Copy the top row of the selection into the rows below it"
        )
        self.fill_right_action = self._action(
            "Fill ri&ght", "Ctrl+R", self.fill_right, "Copy the left column of the selection into the others"
        )
        self.clear_action = self._action("C&lear", "Del", self._view.clear_cells, "Set the selected cells to 0")

    def actions(self) -> list[QAction | None]:
        """The actions that the table allows, None for a separator."""
        if not self._view.grid.editable:
            return [self.copy_action]
        return [
            self.cut_action,
            self.copy_action,
            self.paste_action,
            self.clear_action,
            None,
            self.fill_down_action,
            self.fill_right_action,
        ]

    def copy(self) -> None:
        """Put the selected cells on the clipboard, tab separated; those between that are not selected stay empty."""
        selected = self._selected()
        if not selected:
            return
        rows, columns = cell_ranges.row_runs(selected), cell_ranges.column_runs(selected)
        row_at, column_at = ({k: i for i, k in enumerate(chain.from_iterable(runs))} for runs in (rows, columns))
        cells = [[""] * len(column_at) for _ in row_at]
        for r in selected:
            left = column_at[r.left]
            for row, line in zip(r.rows, self._view.grid.cells(r.rows, r.columns), strict=True):
                cells[row_at[row]][left : left + len(line)] = line
        QGuiApplication.clipboard().setText(to_text(cells))

    def cut(self) -> None:
        self.copy()
        self.clear("Cut")

    def paste(self) -> None:
        """Write the clipboard's block from the selection's first cell on.

        A block that fits the selection a whole number of times fills it.
        """
        selected, text = self._selected(), QGuiApplication.clipboard().text()
        if not selected or not text:
            return
        to = cell_ranges.around(selected)
        block: Block = from_text(text)
        height, width = len(block), len(block[0])
        times_down, rest_down = divmod(len(to.rows), height)
        times_right, rest_right = divmod(len(to.columns), width)
        if not rest_down and not rest_right and all(len(row) == width for row in block):
            block = [list(row) * times_right for row in block] * times_down
        if self._view.write(to.top, to.left, block, "Paste"):
            self._view.select_block(CellRange(to.top, to.left, to.top + len(block) - 1, to.left + len(block[0]) - 1))

    def clear(self, label: str = "Clear") -> None:
        """Set the selected cells to 0, or to what the model clears them to."""
        grid = self._view.grid
        self._write_lines(lambda r: [[grid.cleared(column) for column in r.columns]] * len(r.rows), label)

    def fill_down(self) -> None:
        """Copy the top row of each selected range down over it; over a single row, the row above."""

        def lines(r: CellRange) -> Sequence[Line]:
            source = r.top if len(r.rows) > 1 else max(0, r.top - 1)
            return self._view.grid.cells(range(source, source + 1), r.columns) * len(r.rows)

        self._write_lines(lines, "Fill down")

    def fill_right(self) -> None:
        """Copy the left column of each selected range right over it; over a single column, the one left of it."""

        def lines(r: CellRange) -> Sequence[Line]:
            source = r.left if len(r.columns) > 1 else max(0, r.left - 1)
            first = self._view.grid.cells(r.rows, range(source, source + 1))
            return [line * len(r.columns) for line in first]

        self._write_lines(lines, "Fill right")

    def _write_lines(self, lines: Callable[[CellRange], Sequence[Line]], label: str) -> None:
        """Write what ``lines`` gives for each selected range, all of them as one step."""
        selected = self._selected()
        if not selected:
            return
        whole = cell_ranges.around(selected)
        if len(selected) == 1:
            block: Block = lines(whole)
        else:
            scattered: list[list[str | None]] = [[None] * len(whole.columns) for _ in whole.rows]
            for r in selected:
                left = r.left - whole.left
                for row, line in zip(r.rows, lines(r), strict=True):
                    scattered[row - whole.top][left : left + len(line)] = line
            block = scattered
        self._view.write(whole.top, whole.left, block, label)

    def _selected(self) -> list[CellRange]:
        return cell_ranges.ranges(self._view.selectionModel())

    def _action(self, text: str, keys: str, do: Callable[[], None], tip: str) -> QAction:
        action = QAction(text, self._view)
        action.setShortcut(QKeySequence(keys))
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        action.setStatusTip(tip)
        action.triggered.connect(lambda: do())
        self._view.addAction(action)
        return action
