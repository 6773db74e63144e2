"""CheckModel: the cells that somebody typed for a stage, and the verdicts on them."""

from __future__ import annotations

from html import escape
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal

from attn_gui.files.layout import Layout
from attn_gui.model.check import Checked, GivenTable, NotANumber, Unfitting, Verdict, read_cell
from attn_gui.model.check.text import cells_in, split
from attn_gui.views.check.kept import LONGEST_CELL
from attn_gui.views.clipboard import Block, Refused
from attn_gui.views.grid import NOWHERE, GridModel, Index
from attn_gui.views.heatmap.labels import token_text

Role = Qt.ItemDataRole
NOTHING = GivenTable("A", 0, ())
NO_LAYOUT = Layout("query", "key", (), ())
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class CheckModel(GridModel):
    """``edited(label, table)`` tells what has been typed; whoever keeps it shows it again."""

    edited = Signal(str, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.table = NOTHING
        self._layout = NO_LAYOUT
        self._checked: Checked | None = None

    def show_table(self, table: GivenTable, layout: Layout) -> None:
        """Show the cells of ``table``, which has the rows and columns of ``layout``."""
        reset = layout != self._layout or (table.stage, table.head) != (self.table.stage, self.table.head)
        if reset:
            self.beginResetModel()
        self.table, self._layout = table, layout
        if reset:
            self._checked = None
            self.endResetModel()
        else:
            self._say_all_changed()

    def show_verdicts(self, checked: Checked | None) -> None:
        """Show what was said of the cells; of those typed anew since nothing is said."""
        self._checked = checked
        self._say_all_changed()

    def verdict(self, row: int, column: int) -> Verdict:
        """What is said of a cell; BLANK where nothing is."""
        checked = self._checked
        if checked is None or not checked.verdicts.size or checked.table.shape != self.table.shape:
            return Verdict.BLANK
        same = checked.table.cells[row][column] == self.table.cells[row][column]
        return Verdict(int(checked.verdicts[row, column])) if same else Verdict.BLANK

    def rowCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._layout.rows)

    def columnCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._layout.columns)

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row, column = index.row(), index.column()
        if role in (Role.DisplayRole, Role.EditRole):
            return self.table.cells[row][column]
        if role == Role.TextAlignmentRole:
            return _RIGHT
        if role == Role.ToolTipRole:
            return self.words(row, column) or None
        if role == Role.AccessibleTextRole:
            layout, text = self._layout, self.table.cells[row][column] or "empty"
            place = f"{layout.row_kind} {layout.rows[row]}, {layout.column_kind} {layout.columns[column]}"
            return ", ".join(filter(None, (self.table.stage, place, text, self.words(row, column))))
        return None

    def words(self, row: int, column: int) -> str:
        """What is said of a cell, in words."""
        if self.verdict(row, column) is Verdict.BLANK or self._checked is None:
            return ""
        return self._checked.words_at(row, column)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole) -> Any:
        across = orientation == Qt.Orientation.Horizontal
        if role == Role.TextAlignmentRole:
            right_below = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom
            return right_below if across else Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        labels = self._layout.columns if across else self._layout.rows
        if role not in (Role.DisplayRole, Role.ToolTipRole) or section >= len(labels):
            return None
        # a token may look like markup, which Qt would follow in a tooltip
        label = labels[section]
        return token_text(label) if role == Role.DisplayRole else f"<span>{escape(label)}</span>"

    def set_block(self, row: int, column: int, block: Block, label: str) -> str | None:
        cut, rows, columns = _cut(block), self.rowCount(), self.columnCount()
        if (row, column) == (0, 0) and (len(cut) > rows or len(cut[0]) > columns):
            # the whole table with names around it
            try:
                cut = cells_in("\n".join("\t".join(cell or "" for cell in line) for line in cut), rows, columns)
            except Unfitting as error:
                return str(error)
        return super().set_block(row, column, cut, label)

    def write(self, row: int, column: int, block: Block, label: str) -> None:
        cells = [list(line) for line in self.table.cells]
        read: dict[str, str] = {}  # each text is read once
        for r, line in enumerate(block):
            for c, text in enumerate(line):
                if text is not None:
                    if text not in read:
                        read[text] = _accepted(r, c, text.strip())
                    cells[row + r][column + c] = read[text]
        self.edited.emit(label, GivenTable.of(self.table.stage, self.table.head, cells))

    def cleared(self, column: int) -> str:
        return ""

    def _say_all_changed(self) -> None:
        if self.rowCount() and self.columnCount():
            self.dataChanged.emit(self.index(0, 0), self.index(self.rowCount() - 1, self.columnCount() - 1))


def _accepted(row: int, column: int, text: str) -> str:
    """``text`` where it is a number or blank."""
    if len(text) > LONGEST_CELL:
        raise Refused(row, column, f"at most {LONGEST_CELL} characters to a number")
    try:
        read_cell(text)
    except NotANumber as error:
        raise Refused(row, column, str(error)) from error
    return text


def _cut(block: Block) -> Block:
    """``block``; where it is lines of several numbers, with commas or blanks between them, these cut into cells."""
    lines = [line[0] for line in block if len(line) == 1 and line[0] is not None]
    if len(lines) < len(block) or all(map(_is_number, lines)):  # 0,5 below 0,25 are two numbers, not four
        return block
    if len(block) > 1 or "[" in lines[0]:
        try:
            rows = split("\n".join(lines))
        except Unfitting:
            return block
        if rows and len(rows[0]) > 1 and all(len(row) == len(rows[0]) for row in rows):
            return rows
    return block


def _is_number(text: str) -> bool:
    try:
        read_cell(text)
    except NotANumber:
        return False
    return True
