"""SpreadsheetView: a table that is typed, copied, pasted and filled as in a spreadsheet."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPoint,
    QRect,
    Qt,
)
from PySide6.QtGui import QAction, QColor, QContextMenuEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractItemView, QMenu, QTableView, QWidget

from attn_gui.views import cell_ranges
from attn_gui.views.block_actions import BlockActions
from attn_gui.views.cell_painter import CellPainter
from attn_gui.views.cell_ranges import CellRange
from attn_gui.views.clipboard import Block
from attn_gui.views.context import Context
from attn_gui.views.cut_text import CutHeader
from attn_gui.views.grid import EDITABLE, GridModel, Index
from attn_gui.views.look import number_font
from attn_gui.views.number_delegate import CellEditor, NumberDelegate
from attn_gui.views.painting import guarded
from attn_gui.views.reason import Reason

_ARROWS = {
    Qt.Key.Key_Down: (1, 0),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
}
_RETURNS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_TABS = (Qt.Key.Key_Tab, Qt.Key.Key_Backtab)
_SHIFT = Qt.KeyboardModifier.ShiftModifier
_CTRL = Qt.KeyboardModifier.ControlModifier
_KEYPAD = Qt.KeyboardModifier.KeypadModifier


class SpreadsheetView(QTableView):
    """Shows a :class:`GridModel`, which decides what may be written and says why not.

    cells: draws it. blocks: copy, paste and the like, with their actions. extra_actions (None for a separator): what
    comes after them in the context menu. reason: shows why something was refused, at its place. faded: whether numbers
    are drawn pale.
    """

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.context = context
        self.faded = False
        self.extra_actions: list[QAction | None] = []
        self.reason = Reason(context.look, self)
        self.blocks = BlockActions(self)
        self._tab_origin: int | None = None
        self._delegate = NumberDelegate(self)
        self.setItemDelegate(self._delegate)
        self.setFont(number_font())
        self.cells = CellPainter(self)
        self.setWordWrap(False)
        self.setCornerButtonEnabled(False)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        triggers = QAbstractItemView.EditTrigger
        self.setEditTriggers(triggers.AnyKeyPressed | triggers.DoubleClicked | triggers.EditKeyPressed)
        self.setHorizontalHeader(CutHeader(Qt.Orientation.Horizontal, self))
        self.setVerticalHeader(CutHeader(Qt.Orientation.Vertical, self))
        context.look.changed.connect(self.viewport().update)
        # whatever was changed since, a refusal is no longer news
        context.document.changed.connect(lambda before, after: None if self.held else self.reason.withdraw())

    def setModel(self, model: QAbstractItemModel | None) -> None:
        super().setModel(model)
        if model is not None:
            model.modelReset.connect(self.reason.withdraw)
            # a header that knows the selection asks every row of it each time that it is painted
            for header in (self.horizontalHeader(), self.verticalHeader()):
                header.setSelectionModel(QItemSelectionModel(model, header))

    @property
    def grid(self) -> GridModel:
        return cast(GridModel, self.model())

    def backdrop(self, index: Index) -> QColor | None:
        """The colour behind a cell, or None."""
        return None

    def clear_cells(self) -> None:
        """What the Delete key does."""
        self.blocks.clear()

    @property
    def selected(self) -> list[CellRange]:
        return cell_ranges.ranges(self.selectionModel())

    @property
    def shows_selection(self) -> bool:
        """Whether selected cells are marked: of one alone, the frame round it is enough."""
        selected = self.selected
        return len(selected) > 1 or (len(selected) == 1 and not selected[0].single)

    @property
    def editing(self) -> CellEditor | None:
        """The open editor."""
        return next((e for e in self.viewport().findChildren(CellEditor) if e.isVisible()), None)

    @property
    def held(self) -> bool:
        """Whether an editor holds what was refused, which must not be lost."""
        editor = self.editing
        return editor is not None and editor.refused

    def go_to(self, row: int, column: int) -> None:
        """Make a cell the current one and the only one selected, whatever keys are held."""
        index = self.grid.index(row, column)
        self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    def select_block(self, block: CellRange) -> None:
        """Select ``block`` and make its first cell the current one."""
        model, first = self.selectionModel(), self.grid.index(block.top, block.left)
        model.setCurrentIndex(first, QItemSelectionModel.SelectionFlag.NoUpdate)
        cells = QItemSelection(first, self.grid.index(block.bottom, block.right))
        model.select(cells, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    def place_of(self, index: Index) -> QRect:
        """Where a cell is, in this widget's coordinates."""
        return self.visualRect(index).translated(self.viewport().pos())

    def write(self, row: int, column: int, block: Block, label: str) -> bool:
        """Have the model take ``block`` from (row, column) on; whether it did. A refusal is shown there."""
        reason = self.grid.set_block(row, column, block, label)
        if reason is None:
            self.reason.withdraw()
        else:
            self.reason.say(reason, self.place_of(self.grid.index(row, column)))
        return reason is None

    def move_by_key(self, event: QKeyEvent) -> bool:
        """Move the current cell by Enter, Tab or an arrow. False where Tab would leave the table.

        Ctrl+Tab leaves it. Enter after Tabs goes back to the column where they began, one row on.
        """
        key, now = Qt.Key(event.key()), self.currentIndex()
        back = bool(event.modifiers() & _SHIFT)
        if key in _TABS:
            back = back or key == Qt.Key.Key_Backtab
            if event.modifiers() & _CTRL:
                return QWidget.focusNextPrevChild(self, not back)  # the table's own presses Tab
            return self._tab(back)
        if key in _RETURNS:
            column = now.column() if self._tab_origin is None else self._tab_origin
            rows, columns = -1 if back else 1, column - now.column()
        else:
            rows, columns = _ARROWS[key]
        self._tab_origin = None
        row = max(0, min(now.row() + rows, self.grid.rowCount() - 1))
        column = max(0, min(now.column() + columns, self.grid.columnCount() - 1))
        self.go_to(row, column)
        return True

    def edit(  # type: ignore[override]
        self,
        index: Index,
        trigger: QAbstractItemView.EditTrigger = QAbstractItemView.EditTrigger.AllEditTriggers,
        event: QEvent | None = None,
    ) -> bool:
        self._delegate.typed = trigger == QAbstractItemView.EditTrigger.AnyKeyPressed
        return super().edit(index, trigger, cast(QEvent, event))

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and self._begins_edit(cast(QKeyEvent, event)):
            event.accept()
            return True
        return super().event(event)

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        # not the one of QTableView, which goes back and forth between here and Qt for every cell
        painter = QPainter(self.viewport())
        self.cells.paint(painter, event.rect())
        painter.end()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self.reason.withdraw()
        key, modifiers = event.key(), event.modifiers()
        plain = not modifiers & ~(_SHIFT | _KEYPAD)
        if plain and key in _TABS:
            # in a table that cannot be changed Tab goes on to the next control
            event.setAccepted(self.grid.editable and self.currentIndex().isValid() and self.move_by_key(event))
        elif key in _TABS and modifiers & _CTRL:
            event.setAccepted(self.move_by_key(event))
        elif plain and key in _RETURNS and self.currentIndex().isValid():
            self.move_by_key(event)
        elif key == Qt.Key.Key_Space and modifiers == _SHIFT:
            self._extend(QItemSelectionModel.SelectionFlag.Rows)
        elif key == Qt.Key.Key_Space and modifiers == _CTRL:
            self._extend(QItemSelectionModel.SelectionFlag.Columns)
        else:
            before = self.currentIndex()
            super().keyPressEvent(event)
            if self.currentIndex() != before:
                self._tab_origin = None

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        super().scrollContentsBy(dx, dy)
        if dx:
            # what an edge cuts is drawn otherwise than what has been moved away from it
            self.viewport().update()
            self.horizontalHeader().viewport().update()

    def moveCursor(self, action: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier) -> QModelIndex:
        now, move = self.currentIndex(), QAbstractItemView.CursorAction
        edges = {
            move.MoveUp: (0, now.column()),
            move.MoveDown: (self.grid.rowCount() - 1, now.column()),
            move.MoveLeft: (now.row(), 0),
            move.MoveRight: (now.row(), self.grid.columnCount() - 1),
        }
        if modifiers & _CTRL and now.isValid() and action in edges:
            return self.grid.index(*edges[action])
        return super().moveCursor(action, modifiers)

    def selectionCommand(self, index: Index, event: QEvent | None = None) -> QItemSelectionModel.SelectionFlag:
        if isinstance(event, QKeyEvent) and event.modifiers() & _CTRL:
            # Ctrl with an arrow goes to the edge and selects as the arrow alone would
            event = QKeyEvent(event.type(), event.key(), event.modifiers() & ~_CTRL, event.text())
        return super().selectionCommand(index, event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._tab_origin = None
        editor = self.editing
        if editor is not None and editor.refused:
            editor.setFocus()
            return
        self.reason.withdraw()
        super().mousePressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self.open_menu(event.globalPos())

    def open_menu(self, at: QPoint) -> None:
        """Open the context menu at a place of the screen."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for action in self.blocks.actions() + ([None, *self.extra_actions] if self.extra_actions else []):
            if action is None:
                menu.addSeparator()
            else:
                menu.addAction(action)
        menu.popup(at)

    def _begins_edit(self, event: QKeyEvent) -> bool:
        """Whether a key is typed into the cell, and so is no shortcut of the window."""
        plain = not event.modifiers() & ~(_SHIFT | _KEYPAD)
        typed = event.text() != "" and event.text().isprintable()
        return plain and typed and bool(self.currentIndex().flags() & EDITABLE)

    def _tab(self, back: bool) -> bool:
        now, columns = self.currentIndex(), self.grid.columnCount()
        place = now.row() * columns + now.column() + (-1 if back else 1)
        if not 0 <= place < columns * self.grid.rowCount():
            return False
        if self._tab_origin is None:
            self._tab_origin = now.column()
        self.go_to(*divmod(place, columns))
        return True

    def _extend(self, what: QItemSelectionModel.SelectionFlag) -> None:
        """Extend the selection to whole rows or columns."""
        model = self.selectionModel()
        model.select(model.selection(), QItemSelectionModel.SelectionFlag.Select | what)
