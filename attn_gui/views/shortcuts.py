"""The list of keyboard shortcuts, read from the menus so that it cannot be out of date."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QLineEdit,
    QMenu,
    QMenuBar,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from attn_gui.views.buttons import give_letters

# a property of actions whose text would not say in a list what they do
LISTED_AS = "listed as"

# keys and gestures that belong to a view and have no menu entry
IN_VIEWS = {
    "Panels": (("One panel alone, and all again", "Double-click its title"),),
    "Tables": (
        ("Edit the cell", "F2, or type"),
        ("Take what is typed", "Enter, Tab"),
        ("Give up what is typed", "Esc"),
        ("Select several cells", "Shift+Arrows"),
        ("Select whole rows", "Shift+Space"),
        ("Select whole columns", "Ctrl+Space"),
        ("Go on to the next control", "Ctrl+Tab"),
        ("Go back to the previous control", "Ctrl+Shift+Tab"),
    ),
    "Heatmaps, by keyboard": (
        ("Move the selected cell", "Arrows, Home, End, Page Up, Page Down"),
        ("Move to the first or last row or column", "Ctrl+Arrows"),
        ("Pick several tokens", "Shift with these"),
        ("Unpick them", "Esc"),
        ("Go into the table of the same numbers", "Enter"),
        ("Scores: mask a cell or allow it again", "Space"),
    ),
    "Heatmaps, by mouse": (
        ("Read a cell", "Point at it"),
        ("Select a cell", "Click it"),
        ("Pick a row or column", "Click its label"),
        ("Pick a range", "Shift+Click a label"),
        ("Pick one more, or one less", "Ctrl+Click a label"),
        ("Zoom about the pointer", "Wheel"),
        ("Move what is in sight", "Drag"),
        ("Bring everything into sight", "Double-click"),
        ("Go elsewhere in a long sequence", "Click or drag in the minimap"),
        ("Mask or allow cells, while painting", "Click or drag"),
        ("Copy, export, colours", "Right-click"),
    ),
    "Walk through": (
        ("Stage before, next stage", "Left, Right"),
        ("Another cell", "Up, Down"),
        ("First stage, last stage", "Home, End"),
        ("Numbers further on or back", "Page Down, Page Up"),
        ("Play, and rest", "Space"),
        ("Leave", "Esc"),
    ),
    "Flow": (
        ("Go from token to token", "Arrows, Home, End, Page Up, Page Down"),
        ("Select the token", "Enter, or click it"),
        ("See one token’s lines alone", "Point at it"),
        ("Scroll", "Wheel"),
        ("Zoom", "Ctrl+Wheel"),
        ("Copy or save as a picture", "Right-click"),
    ),
    "Why": (
        ("Every step to the number in a cell", "Ctrl+Return"),
        ("Next number, in the steps", "Tab"),
        ("Steps to that number", "Enter"),
        ("Back to the number before", "Alt+Left"),
    ),
    "Find bars": (
        ("Next place", "Enter"),
        ("Previous place", "Shift+Enter"),
        ("Close", "Esc"),
    ),
    "Tours": (
        ("Next step, in the bar of the tour", "Page Down"),
        ("Previous step, in the bar of the tour", "Page Up"),
        ("Leave the tour", "Esc"),
    ),
    "Help window": (
        ("Back", "Alt+Left"),
        ("Forward", "Alt+Right"),
        ("Start page", "Alt+Home"),
        ("Find in the page", "Ctrl+F"),
        ("Search all pages", "Ctrl+K, Ctrl+Shift+F"),
        ("Larger text", "Ctrl+Plus, Ctrl+="),
        ("Smaller text", "Ctrl+Minus"),
        ("Text as large as at first", "Ctrl+0"),
        ("Next link", "Tab"),
        ("Follow the link", "Enter"),
        ("Close the help", "Esc"),
    ),
}


@dataclass(frozen=True)
class Group:
    """Shortcuts of one menu or one kind of view: (what it does, the keys)."""

    title: str
    rows: tuple[tuple[str, str], ...]


class ShortcutsDialog(QDialog):
    """Two columns, what it does and the keys, in groups; what is typed above narrows them down."""

    def __init__(self, bar: QMenuBar, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keyboard and mouse")
        self.resize(600, 600)
        self._bar = bar
        self._groups: list[Group] = []
        self.field = QLineEdit()
        self.field.setPlaceholderText("Show only lines with…")
        self.field.setAccessibleName("Show only lines with")
        self.field.setClearButtonEnabled(True)
        self.table = QTableWidget(0, 2)
        self.table.setObjectName("list")
        self.table.setAccessibleName("Keyboard and mouse")
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
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.copy = buttons.addButton("&Copy as text", QDialogButtonBox.ButtonRole.ActionRole)
        self.copy.setToolTip("The whole list, to paste into a document and print")
        for button in buttons.findChildren(QPushButton):
            button.setAutoDefault(False)  # Enter in the field above is meant for the list
        give_letters(buttons)
        buttons.rejected.connect(self.reject)
        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(as_text(self._groups)))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 12)
        layout.setSpacing(12)
        for widget in (self.field, self.table, buttons):
            layout.addWidget(widget)
        self.field.textChanged.connect(lambda text: self._narrow())
        self.read()

    def read(self) -> None:
        """List what the menus offer now."""
        self._groups = sheet(self._bar)
        rows: list[tuple[str, str | None]] = []
        for group in self._groups:
            rows += [(group.title, None), *group.rows]
        self.table.clearSpans()
        self.table.setRowCount(len(rows))
        for row, (text, keys) in enumerate(rows):
            item = QTableWidgetItem(text)
            self.table.setItem(row, 0, item)
            self.table.setItem(row, 1, QTableWidgetItem(keys or ""))
            if keys is None:
                font = item.font()
                font.setBold(True)
                item.setFont(font)
                self.table.setSpan(row, 0, 1, 2)
        self._narrow()

    def _narrow(self) -> None:
        wanted = self.field.text().casefold().split()
        heading, shown = -1, False
        for row in range(self.table.rowCount()):
            text, keys = (item.text() for column in (0, 1) if (item := self.table.item(row, column)) is not None)
            if not keys:
                if heading >= 0:
                    self.table.setRowHidden(heading, not shown)
                heading, shown = row, False
                continue
            fits = all(word in f"{text} {keys}".casefold() for word in wanted)
            self.table.setRowHidden(row, not fits)
            shown = shown or fits
        if heading >= 0:
            self.table.setRowHidden(heading, not shown)


def sheet(bar: QMenuBar) -> list[Group]:
    """Everything that keys and the mouse do: a group for each menu, then one for each kind of view."""
    groups = []
    listed: set[tuple[str, str]] = set()
    for action in bar.actions():
        menu = action.menu()
        rows = _rows([action]) if isinstance(menu, QMenu) else []
        # an action that stands in several menus is listed where it stands first
        own = tuple(row for row in rows if row not in listed)
        listed.update(own)
        if own:
            groups.append(Group(plain(action.text()), own))
    return groups + [Group(title, rows) for title, rows in IN_VIEWS.items()]


def as_text(groups: list[Group]) -> str:
    """The list in two columns of plain text, to paste or print."""
    wide = max(len(text) for group in groups for text, _ in group.rows)
    parts = []
    for group in groups:
        lines = [f"  {text:<{wide}}  {keys}" for text, keys in group.rows]
        parts.append("\n".join([group.title, *lines]))
    return "\n\n".join(parts) + "\n"


def shortcuts(bar: QMenuBar) -> list[tuple[str, str]]:
    """What the menus' actions do and their keys. Menus that offer the same are named before it, in one line."""
    return _rows(bar.actions())


def _rows(actions: list[QAction]) -> list[tuple[str, str]]:
    menus: dict[tuple[str, str], list[str]] = {}
    for title, text, keys in _actions(actions, ""):
        menus.setdefault((text, keys), []).append(title)
    return [(_named(titles, text), keys) for (text, keys), titles in menus.items()]


def _actions(actions: list[QAction], title: str) -> Iterator[tuple[str, str, str]]:
    for action in actions:
        menu = action.menu()
        if isinstance(menu, QMenu):
            yield from _actions(menu.actions(), plain(menu.title()))
        elif keys := ", ".join(readable(keys) for keys in action.shortcuts() if _on_any_keyboard(keys)):
            yield title, action.property(LISTED_AS) or plain(action.text()), keys


def _on_any_keyboard(keys: QKeySequence) -> bool:
    """Whether these are no keys that only some keyboards have, such as Redo or Copy."""
    return not keys.isEmpty() and keys[0].key() < Qt.Key.Key_Back  # type: ignore[index]


def readable(keys: QKeySequence) -> str:
    """``keys``, with a sign that would be taken for the one between them spelled out."""
    text = keys.toString(QKeySequence.SequenceFormat.NativeText)
    for sign, name in (("+", "Plus"), ("-", "Minus")):
        if text.endswith("+" + sign):
            return text[:-1] + name
    return text


def _named(titles: list[str], text: str) -> str:
    return text if len(titles) == 1 else f"{', '.join(titles)}: {text[0].lower()}{text[1:]}"


def plain(text: str) -> str:
    """The text of an action or a menu without its letter and dots."""
    return text.replace("&", "").rstrip("…")
