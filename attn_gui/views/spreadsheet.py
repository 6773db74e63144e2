"""SpreadsheetView: a table that is typed, copied, pasted and filled as in a spreadsheet."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from PySide6.QtCore import QEvent, QItemSelection, QItemSelectionModel, QModelIndex, QObject, QRect, Qt
from PySide6.QtGui import (
    QAction,
    QColor,
    QContextMenuEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QMenu, QTableView, QWidget

from attn_gui.views.clipboard import Block, from_text, to_text
from attn_gui.views.context import Context
from attn_gui.views.grid import EDITABLE, GridModel, Index
from attn_gui.views.look import number_font
from attn_gui.views.number_delegate import CellEditor, NumberDelegate
from attn_gui.views.reason import Reason

_STEPS = {
    Qt.Key.Key_Return: (1, 0),
    Qt.Key.Key_Enter: (1, 0),
    Qt.Key.Key_Down: (1, 0),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
    Qt.Key.Key_Tab: (0, 1),
    Qt.Key.Key_Backtab: (0, -1),
}
_RETURNS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_TABS = (Qt.Key.Key_Tab, Qt.Key.Key_Backtab)


class SpreadsheetView(QTableView):
    """Shows a :class:`GridModel`, which decides what may be written and says why not.

    ``extra_actions`` (None for a separator) come last in its context menu. A refusal is shown in ``reason``.
    """

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.context = context
        self.faded = False
        self.extra_actions: list[QAction | None] = []
        self.reason = Reason(context.look, self)
        self._tab_origin: int | None = None
        self._delegate = NumberDelegate(self)
        self.setItemDelegate(self._delegate)
        self.setFont(number_font())
        self.setWordWrap(False)
        self.setCornerButtonEnabled(False)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        triggers = QAbstractItemView.EditTrigger
        self.setEditTriggers(triggers.AnyKeyPressed | triggers.DoubleClicked | triggers.EditKeyPressed)
        for header in (self.horizontalHeader(), self.verticalHeader()):
            header.setHighlightSections(False)
        self.copy_action = self._action("&Copy", "Ctrl+C", self.copy, "Copy the selected cells, in full precision")
        self.cut_action = self._action("Cu&t", "Ctrl+X", self.cut, "Copy the selected cells and set them to 0")
        self.paste_action = self._action("&Paste", "Ctrl+V", self.paste, "Paste a block from the clipboard")
        self.fill_down_action = self._action(
            "Fill &down", "Ctrl+D", self.fill_down, "Copy the top row of the selection into the rows below it"
        )
        self.fill_right_action = self._action(
            "Fill &right", "Ctrl+R", self.fill_right, "Copy the left column of the selection into those right of it"
        )
        self.clear_action = self._action("C&lear", "Del", self.clear_cells, "Set the selected cells to 0")
        context.look.changed.connect(self.viewport().update)

    # what a subclass may say

    def backdrop(self, index: Index) -> QColor | None:
        """The colour behind a cell, or None."""
        return None

    @property
    def editable(self) -> bool:
        return self.grid.editable

    @property
    def grid(self) -> GridModel:
        return cast(GridModel, self.model())

    @property
    def shows_selection(self) -> bool:
        """Whether selected cells are marked: always where several are, else the frame round the one is enough."""
        ranges = self.selectionModel().selection()
        return len(ranges) > 1 or (len(ranges) == 1 and ranges[0].height() * ranges[0].width() > 1)

    @property
    def editing(self) -> CellEditor | None:
        """The open editor."""
        editor = self.indexWidget(self.currentIndex())
        found = editor if isinstance(editor, CellEditor) else self.viewport().findChild(CellEditor)
        return found if found is not None and found.isVisible() else None

    @property
    def held(self) -> bool:
        """Whether an editor holds what was refused, which must not be lost."""
        editor = self.editing
        return editor is not None and editor.refused

    def edit_actions(self) -> list[QAction | None]:
        """Cut, copy, paste, fill and clear, as far as the table may be changed."""
        if not self.editable:
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

    # the selection

    def selected_rows(self) -> list[int]:
        """Rows with a selected cell, ascending."""
        return sorted({row for r in self.selectionModel().selection() for row in range(r.top(), r.bottom() + 1)})

    def selected_columns(self) -> list[int]:
        """Columns with a selected cell, ascending."""
        return sorted({c for r in self.selectionModel().selection() for c in range(r.left(), r.right() + 1)})

    def select_block(self, top: int, left: int, bottom: int, right: int) -> None:
        """Select the cells from (top, left) to (bottom, right), both included, and make the first the current one."""
        model = self.selectionModel()
        first = self.grid.index(top, left)
        model.setCurrentIndex(first, QItemSelectionModel.SelectionFlag.NoUpdate)
        block = QItemSelection(first, self.grid.index(bottom, right))
        model.select(block, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    def selected_range(self) -> tuple[int, int, int, int] | None:
        """The smallest rectangle round the selection: top, left, bottom, right."""
        ranges = list(self.selectionModel().selection())
        if not ranges:
            return None
        return (
            min(r.top() for r in ranges),
            min(r.left() for r in ranges),
            max(r.bottom() for r in ranges),
            max(r.right() for r in ranges),
        )

    def place_of(self, index: Index) -> QRect:
        """Where a cell is, in this widget's coordinates."""
        rect = self.visualRect(index)
        return rect.translated(self.viewport().pos())

    # what one can do

    def copy(self) -> None:
        """Put the selected cells on the clipboard, tab separated; cells between that are not selected stay empty."""
        around = self.selected_range()
        if around is None:
            return
        top, left, bottom, right = around
        ranges = list(self.selectionModel().selection())
        if len(ranges) == 1:
            cells = self.grid.cells(range(top, bottom + 1), range(left, right + 1))
        else:
            cells = self._scattered(ranges)
        QGuiApplication.clipboard().setText(to_text(cells))

    def cut(self) -> None:
        self.copy()
        self.clear_cells()

    def paste(self) -> None:
        """Write the clipboard's block from the selection's first cell on; a block that divides the selection tiles it."""
        around = self.selected_range()
        text = QGuiApplication.clipboard().text()
        if around is None or not text:
            return
        top, left, bottom, right = around
        block: Block = from_text(text)
        rows, columns = bottom - top + 1, right - left + 1
        height, width = len(block), len(block[0])
        if rows % height == 0 and columns % width == 0 and all(len(row) == width for row in block):
            block = [list(row) * (columns // width) for row in block] * (rows // height)
        if self.write(top, left, block, "Paste"):
            self.select_block(top, left, top + len(block) - 1, left + len(block[0]) - 1)

    def clear_cells(self) -> None:
        """Set the selected cells to 0, or to what the model clears them to."""
        self._replace_selected(lambda row, column: self.grid.cleared(row, column), "Clear")

    def fill_down(self) -> None:
        """Copy the top row of the selection down over it; of a single row, the row above."""
        self._fill(down=True)

    def fill_right(self) -> None:
        """Copy the left column of the selection right over it; of a single column, the one left of it."""
        self._fill(down=False)

    def write(self, row: int, column: int, block: Block, label: str) -> bool:
        """Have the model take ``block``; a refusal is shown at its first cell. Whether it was taken."""
        reason = self.grid.set_block(row, column, block, label)
        if reason is None:
            self.reason.withdraw()
        else:
            self.reason.say(reason, self.place_of(self.grid.index(row, column)))
        return reason is None

    def step(self, rows: int, columns: int) -> None:
        """Move the current cell, within the table."""
        now = self.currentIndex()
        row = max(0, min(now.row() + rows, self.grid.rowCount() - 1))
        column = max(0, min(now.column() + columns, self.grid.columnCount() - 1))
        self.setCurrentIndex(self.grid.index(row, column))

    def move_by_key(self, event: QKeyEvent) -> bool:
        """Enter, Tab and the arrows as in a spreadsheet. False where Tab would leave the table."""
        key = Qt.Key(event.key())
        back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        now = self.currentIndex()
        if key in _RETURNS:
            column = now.column() if self._tab_origin is None else self._tab_origin
            self.step(-1 if back else 1, column - now.column())
            self._tab_origin = None
            return True
        if key not in _TABS:
            self.step(*_STEPS[key])
            self._tab_origin = None
            return True
        return self._tab(back or key == Qt.Key.Key_Backtab)

    # Qt's events

    def edit(self, index: QModelIndex, trigger: QAbstractItemView.EditTrigger, event: QEvent) -> bool:  # type: ignore[override]
        self._delegate.typed = trigger == QAbstractItemView.EditTrigger.AnyKeyPressed
        return super().edit(index, trigger, event)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and self._would_type(cast(QKeyEvent, event)):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self.reason.withdraw()
        key, modifiers = event.key(), event.modifiers()
        if key in (*_RETURNS, *_TABS) and not modifiers & ~(_SHIFT | Qt.KeyboardModifier.KeypadModifier):
            if self.editable and self.currentIndex().isValid() and self.move_by_key(event):
                event.accept()
            elif key in _TABS:
                event.ignore()
            else:
                self.step(-1 if modifiers & _SHIFT else 1, 0)
            return
        if key == Qt.Key.Key_Space and modifiers == _SHIFT:
            self._select_whole(QItemSelectionModel.SelectionFlag.Rows)
            return
        if key == Qt.Key.Key_Space and modifiers == Qt.KeyboardModifier.ControlModifier:
            self._select_whole(QItemSelectionModel.SelectionFlag.Columns)
            return
        self._tab_origin = None
        super().keyPressEvent(event)

    def moveCursor(
        self, action: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier
    ) -> QModelIndex:
        now, edge = self.currentIndex(), QAbstractItemView.CursorAction
        last = self.grid.rowCount() - 1, self.grid.columnCount() - 1
        edges = {
            edge.MoveUp: (0, now.column()),
            edge.MoveDown: (last[0], now.column()),
            edge.MoveLeft: (now.row(), 0),
            edge.MoveRight: (now.row(), last[1]),
        }
        if modifiers & Qt.KeyboardModifier.ControlModifier and now.isValid() and action in edges:
            return self.grid.index(*edges[action])
        return super().moveCursor(action, modifiers)

    def selectionCommand(
        self, index: Index, event: QEvent | None = None
    ) -> QItemSelectionModel.SelectionFlag:
        if isinstance(event, QKeyEvent) and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            # Ctrl with an arrow goes to the edge and selects as the arrow alone would
            plain = event.modifiers() & ~Qt.KeyboardModifier.ControlModifier
            event = QKeyEvent(event.type(), event.key(), plain, event.text())
        return super().selectionCommand(index, event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._tab_origin = None
        if self.held and self.editing is not None:
            self.editing.setFocus()
            return
        self.reason.withdraw()
        super().mousePressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for action in self.edit_actions() + ([None, *self.extra_actions] if self.extra_actions else []):
            if action is None:
                menu.addSeparator()
            else:
                menu.addAction(action)
        menu.popup(event.globalPos())

    # how

    def _action(self, text: str, keys: str, do: Callable[[], None], tip: str) -> QAction:
        action = QAction(text, self)
        action.setShortcut(QKeySequence(keys))
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        action.setStatusTip(tip)
        action.triggered.connect(do)
        self.addAction(action)
        return action

    def _would_type(self, event: QKeyEvent) -> bool:
        """Whether a key begins an edit here, and so is no shortcut of the window."""
        plain = not event.modifiers() & ~(_SHIFT | Qt.KeyboardModifier.KeypadModifier)
        index = self.currentIndex()
        return plain and event.text().isprintable() and event.text() != "" and bool(index.flags() & EDITABLE)

    def _tab(self, back: bool) -> bool:
        now = self.currentIndex()
        columns = self.grid.columnCount()
        place = now.row() * columns + now.column() + (-1 if back else 1)
        if not 0 <= place < columns * self.grid.rowCount():
            return False
        if self._tab_origin is None:
            self._tab_origin = now.column()
        self.setCurrentIndex(self.grid.index(*divmod(place, columns)))
        return True

    def _select_whole(self, what: QItemSelectionModel.SelectionFlag) -> None:
        model = self.selectionModel()
        model.select(model.selection(), QItemSelectionModel.SelectionFlag.Select | what)

    def _scattered(self, ranges: list) -> list[list[str]]:  # type: ignore[type-arg]
        rows, columns = self.selected_rows(), self.selected_columns()
        row_at, column_at = ({k: i for i, k in enumerate(keys)} for keys in (rows, columns))
        cells = [[""] * len(columns) for _ in rows]
        for r in ranges:
            across = range(r.left(), r.right() + 1)
            block = self.grid.cells(range(r.top(), r.bottom() + 1), across)
            for row, line in zip(range(r.top(), r.bottom() + 1), block, strict=True):
                cells[row_at[row]][column_at[r.left()] : column_at[r.left()] + len(line)] = line
        return cells

    def _replace_selected(self, text: Callable[[int, int], str | None], label: str) -> None:
        around = self.selected_range()
        if around is None:
            return
        top, left, bottom, right = around
        block: list[list[str | None]] = [[None] * (right - left + 1) for _ in range(top, bottom + 1)]
        for r in self.selectionModel().selection():
            for row in range(r.top(), r.bottom() + 1):
                for column in range(r.left(), r.right() + 1):
                    block[row - top][column - left] = text(row, column)
        self.write(top, left, block, label)

    def _fill(self, down: bool) -> None:
        around = self.selected_range()
        if around is None:
            return
        top, left, bottom, right = around
        if down:
            source = top if bottom > top else max(0, top - 1)
            line = self.grid.cells(range(source, source + 1), range(left, right + 1))[0]
            self._replace_selected(lambda row, column: line[column - left], "Fill down")
        else:
            source = left if right > left else max(0, left - 1)
            texts = [line[0] for line in self.grid.cells(range(top, bottom + 1), range(source, source + 1))]
            self._replace_selected(lambda row, column: texts[row - top], "Fill right")


_SHIFT = Qt.KeyboardModifier.ShiftModifier

__all__ = ["QObject", "SpreadsheetView"]
