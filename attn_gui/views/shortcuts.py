"""The list of keyboard shortcuts, read from the menus so that it cannot be out of date."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QMenu,
    QMenuBar,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from attn_gui.views.buttons import give_letters

# a property of actions whose text would not say in a list what they do
LISTED_AS = "listed as"

# keys that belong to a view and have no menu entry
IN_VIEWS = (
    ("Tables: edit the cell", "F2"),
    ("Tables: select whole rows", "Shift+Space"),
    ("Tables: select whole columns", "Ctrl+Space"),
    ("Tables: go on to the next control", "Ctrl+Tab"),
    ("Tables: go back to the previous control", "Ctrl+Shift+Tab"),
    ("Heatmaps: move the selected cell", "Arrows, Home, End, Page Up, Page Down"),
    ("Heatmaps: select several tokens", "Shift with these"),
    ("Scores: mask a cell or allow it again", "Space"),
)


class ShortcutsDialog(QDialog):
    """Two columns: what it does, and the keys."""

    def __init__(self, bar: QMenuBar, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keyboard shortcuts")
        self.resize(560, 560)
        rows = [*shortcuts(bar), *IN_VIEWS]
        self.table = QTableWidget(len(rows), 2)
        self.table.setObjectName("list")
        self.table.setAccessibleName("Keyboard shortcuts")
        self.table.setHorizontalHeaderLabels(["Action", "Keys"])
        self.table.verticalHeader().hide()
        self.table.setShowGrid(False)
        self.table.setTabKeyNavigation(False)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        header = self.table.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom)
        header.setHighlightSections(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        for row, (text, keys) in enumerate(rows):
            self.table.setItem(row, 0, QTableWidgetItem(text))
            self.table.setItem(row, 1, QTableWidgetItem(keys))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        give_letters(buttons)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 12)
        layout.setSpacing(12)
        layout.addWidget(self.table)
        layout.addWidget(buttons)


def shortcuts(bar: QMenuBar) -> list[tuple[str, str]]:
    """What the menus' actions do and their keys. Menus that offer the same are named before it, in one line."""
    menus: dict[tuple[str, str], list[str]] = {}
    for title, text, keys in _actions(bar.actions(), ""):
        menus.setdefault((text, keys), []).append(title)
    return [(_named(titles, text), keys) for (text, keys), titles in menus.items()]


def _actions(actions: list[QAction], title: str) -> Iterator[tuple[str, str, str]]:
    for action in actions:
        menu = action.menu()
        if isinstance(menu, QMenu):
            yield from _actions(menu.actions(), _plain(menu.title()))
        elif keys := ", ".join(_readable(keys) for keys in action.shortcuts() if _on_any_keyboard(keys)):
            yield title, action.property(LISTED_AS) or _plain(action.text()), keys


def _on_any_keyboard(keys: QKeySequence) -> bool:
    """Whether these are no keys that only some keyboards have, such as Redo or Copy."""
    return not keys.isEmpty() and keys[0].key() < Qt.Key.Key_Back  # type: ignore[index]


def _readable(keys: QKeySequence) -> str:
    """``keys``, with a sign that would be taken for the one between them spelled out."""
    text = keys.toString(QKeySequence.SequenceFormat.NativeText)
    for sign, name in (("+", "Plus"), ("-", "Minus")):
        if text.endswith("+" + sign):
            return text[:-1] + name
    return text


def _named(titles: list[str], text: str) -> str:
    return text if len(titles) == 1 else f"{', '.join(titles)}: {text[0].lower()}{text[1:]}"


def _plain(text: str) -> str:
    return text.replace("&", "").rstrip("…")
