"""EditActions: cut, copy, paste, fill and clear for the menu bar, where they act on whatever table has the focus."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QApplication, QMenu, QMenuBar, QWidget

from attn_gui.views.block_actions import BlockActions
from attn_gui.views.spreadsheet import SpreadsheetView

Of = Callable[[BlockActions], QAction]


class EditActions(QObject):
    """One action for each thing a table's own actions do; disabled while no table has the focus.

    Copying is there for whatever has the focus and answers to the keys of Copy.

    Their keys are shown only: the table's own actions answer to them.
    """

    def __init__(self, pattern: SpreadsheetView) -> None:
        """``pattern``: a table whose texts, keys and tips are taken over."""
        super().__init__(pattern)
        self._table: SpreadsheetView | None = None
        self._own_copy: QAction | None = None
        self._pairs: list[tuple[QAction, Of]] = []
        self._list: list[QAction | None] = []
        for group in ((_cut, _copy, _paste, _clear), (_fill_down, _fill_right)):
            for of in group:
                self._list.append(self._twin(of(pattern.blocks), of))
            self._list.append(None)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._on_focus)
        self._on_focus(None, QApplication.focusWidget())

    def actions(self) -> list[QAction | None]:
        """The actions, None for a separator."""
        return self._list[:-1]

    def _twin(self, own: QAction, of: Of) -> QAction:
        action = QAction(own.text(), self)
        action.setShortcut(own.shortcut())
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        action.setStatusTip(own.statusTip())
        action.triggered.connect(lambda: self._trigger(of))
        self._pairs.append((action, of))
        return action

    def _trigger(self, of: Of) -> None:
        if of is _copy and self._own_copy is not None:
            self._own_copy.trigger()
        elif self._table is not None:
            of(self._table.blocks).trigger()

    def _on_focus(self, old: QWidget | None, new: QWidget | None) -> None:
        if new is None or isinstance(new, QMenu | QMenuBar):
            return  # a menu that is open acts on what had the focus before
        self._table = new if isinstance(new, SpreadsheetView) else None
        self._own_copy = _copying(new) if self._table is None else None
        offered = self._table.blocks.actions() if self._table is not None else []
        for action, of in self._pairs:
            action.setEnabled(self._table is not None and of(self._table.blocks) in offered)
            if of is _copy and self._own_copy is not None:
                action.setEnabled(True)


def _copying(focused: QWidget) -> QAction | None:
    """What ``focused``, which is no table, does at the keys of Copy."""
    keys = QKeySequence.keyBindings(QKeySequence.StandardKey.Copy)
    widget: QWidget | None = focused
    while widget is not None and not widget.isWindow():
        for action in widget.actions():
            within = widget is focused or action.shortcutContext() == Qt.ShortcutContext.WidgetWithChildrenShortcut
            if within and action.isEnabled() and any(key in keys for key in action.shortcuts()):
                return action
        widget = widget.parentWidget()
    return None


def _cut(blocks: BlockActions) -> QAction:
    return blocks.cut_action


def _copy(blocks: BlockActions) -> QAction:
    return blocks.copy_action


def _paste(blocks: BlockActions) -> QAction:
    return blocks.paste_action


def _clear(blocks: BlockActions) -> QAction:
    return blocks.clear_action


def _fill_down(blocks: BlockActions) -> QAction:
    return blocks.fill_down_action


def _fill_right(blocks: BlockActions) -> QAction:
    return blocks.fill_right_action
