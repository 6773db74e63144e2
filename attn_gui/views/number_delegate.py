"""NumberDelegate: how a spreadsheet's cells are edited."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QAbstractItemModel, QEvent, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemDelegate,
    QLineEdit,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from attn_gui.views import half_typed
from attn_gui.views.cut_text import PADDING
from attn_gui.views.grid import GridModel, Index

if TYPE_CHECKING:
    from attn_gui.views.spreadsheet import SpreadsheetView

# what a column needs besides its text: padding and the grid line
SPACE = 2 * PADDING + 2

_PASSING = (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.ActiveWindowFocusReason)

_LEAVES = (
    Qt.Key.Key_Return,
    Qt.Key.Key_Enter,
    Qt.Key.Key_Tab,
    Qt.Key.Key_Backtab,
    Qt.Key.Key_Up,
    Qt.Key.Key_Down,
)
_SIDEWAYS = (Qt.Key.Key_Left, Qt.Key.Key_Right)


class CellEditor(QLineEdit):
    """The line in which a cell is typed. ``refused`` while what it holds has been refused."""

    def __init__(self, delegate: NumberDelegate, index: Index, typed: bool, parent: QWidget) -> None:
        super().__init__(parent)
        self._delegate = delegate
        self.index = QPersistentModelIndex(index)
        self.typed = typed
        self.refused = False
        self.setFrame(False)

    @property
    def table(self) -> SpreadsheetView:
        """What it is a cell of."""
        return self._delegate.view

    def commit(self) -> bool:
        """Have what is typed taken, and close; False where it is refused just now."""
        return self.refused or self._delegate.finish(self)

    def drop(self) -> None:
        """Close, and leave the cell as it is."""
        self._delegate.give_up(self)


class NumberDelegate(QStyledItemDelegate):
    """Opens and closes the editors of cells; an edit that was refused stays open with what was typed."""

    def __init__(self, view: SpreadsheetView) -> None:
        super().__init__(view)
        self._view = view
        self.typed = False  # whether the edit about to begin was begun by typing, so that arrows leave the cell

    @property
    def view(self) -> SpreadsheetView:
        return self._view

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        theme = self._view.context.look.theme
        editor = CellEditor(self, index, self.typed, parent)
        self.typed = False
        editor.setFont(self._view.font())
        editor.setAlignment(Qt.AlignmentFlag(index.data(Qt.ItemDataRole.TextAlignmentRole)))
        editor.setAccessibleName(str(index.data(Qt.ItemDataRole.AccessibleTextRole) or "Cell"))
        editor.setStyleSheet(
            f"QLineEdit {{ color: {theme.text}; background: {theme.field}; border: 2px solid {theme.accent};"
            f" padding: 0 {PADDING - 4}px; }}"
        )
        editor.textEdited.connect(lambda: self._on_edited(editor))
        return editor

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        # what stands behind it may change while somebody types: a verdict comes, say
        if isinstance(editor, CellEditor) and not editor.refused and not editor.isModified():
            editor.setText(str(index.data(Qt.ItemDataRole.EditRole)))

    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: Index) -> None:
        if isinstance(editor, CellEditor) and not editor.refused:
            self._commit(editor)

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        editor.setGeometry(option.rect)
        if isinstance(editor, CellEditor) and editor.refused:
            self._view.reason.place(self._view.place_of(index))

    def destroyEditor(self, editor: QWidget, index: Index) -> None:
        if isinstance(editor, CellEditor):
            half_typed.end(editor)
            if editor.refused:
                self._view.reason.withdraw()
        super().destroyEditor(editor, index)

    def finish(self, editor: CellEditor) -> bool:
        """Have what is typed taken, and close the editor; False where it is refused."""
        taken = self._commit(editor)
        if taken:
            self.closeEditor.emit(editor, QAbstractItemDelegate.EndEditHint.NoHint)
        return taken

    def give_up(self, editor: CellEditor) -> None:
        """Close the editor, and leave the cell as it is."""
        self.closeEditor.emit(editor, QAbstractItemDelegate.EndEditHint.RevertModelCache)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(watched, CellEditor):
            return super().eventFilter(watched, event)
        kind = event.type()
        if kind == QEvent.Type.ShortcutOverride and cast(QKeyEvent, event).key() == Qt.Key.Key_Escape:
            event.accept()
            return True
        if kind == QEvent.Type.KeyPress:
            return self._on_key(watched, cast(QKeyEvent, event))
        if kind == QEvent.Type.FocusOut and cast(QFocusEvent, event).reason() not in _PASSING:
            watched.commit()
        return False

    def editorEvent(self, event: QEvent, model: QAbstractItemModel, option: QStyleOptionViewItem, index: Index) -> bool:
        checked = index.data(Qt.ItemDataRole.CheckStateRole)
        if checked is None or not isinstance(model, GridModel):
            return False
        kind = event.type()
        keys = (Qt.Key.Key_Space, Qt.Key.Key_Select)
        by_key = kind == QEvent.Type.KeyPress and cast(QKeyEvent, event).key() in keys
        if by_key or kind == QEvent.Type.MouseButtonRelease:
            text = "0" if checked else "1"
            model.set_block(index.row(), index.column(), [[text]], "Change padding")
            return True
        return kind == QEvent.Type.MouseButtonDblClick

    def _on_key(self, editor: CellEditor, event: QKeyEvent) -> bool:
        key = event.key()
        if key == Qt.Key.Key_Escape:
            self.give_up(editor)
            return True
        leaves = key in _LEAVES or (editor.typed and key in _SIDEWAYS and not event.modifiers())
        if not leaves:
            return False
        if self.finish(editor):
            self._view.move_by_key(event)
        return True

    def _commit(self, editor: CellEditor) -> bool:
        """Hand what was typed to the model; whether it was taken."""
        half_typed.end(editor)
        model, index = self._view.model(), editor.index
        if not index.isValid() or not isinstance(model, GridModel):
            return True
        if editor.text() == str(index.data(Qt.ItemDataRole.EditRole)):
            return True
        reason = model.set_block(index.row(), index.column(), [[editor.text()]], "Edit cell")
        editor.refused = reason is not None
        editor.setAccessibleDescription(reason or "")
        if reason is not None:
            half_typed.begin(editor)
            self._view.reason.say(reason, self._view.place_of(index))
        return reason is None

    def _on_edited(self, editor: CellEditor) -> None:
        if editor.refused:
            editor.refused = False
            editor.setAccessibleDescription("")
            self._view.reason.withdraw()
        half_typed.begin(editor)
