"""PartsModel: the tensors of a file, and what each is read as."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, Qt

from attn_gui.model.tensors.info import Contents
from attn_gui.model.tensors.reading import Part, Reading
from attn_gui.views.grid import Index
from attn_gui.views.tensors.words import axes_text, part_name, range_text, shape_text

COLUMNS = ("Tensor", "Shape", "Numbers", "Range", "Read as", "Axes")
NOT_USED = "not used"
ROOT = QModelIndex()


class PartsModel(QAbstractTableModel):
    """One row a part of the reading; those at fault are marked."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._contents: Contents | None = None
        self._parts: tuple[Part, ...] = ()
        self._faulty: frozenset[int] = frozenset()

    def show(self, contents: Contents | None, reading: Reading | None, faulty: frozenset[int] = frozenset()) -> None:
        """Show ``reading`` of ``contents``; ``faulty`` are the parts that do not fit."""
        parts = () if reading is None else reading.parts
        if contents is self._contents and len(parts) == len(self._parts):
            self._parts, self._faulty = parts, faulty
            if parts:
                self.dataChanged.emit(self.index(0, 0), self.index(len(parts) - 1, len(COLUMNS) - 1))
            return
        self.beginResetModel()
        self._contents, self._parts, self._faulty = contents, parts, faulty
        self.endResetModel()

    def rowCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(self._parts)

    def columnCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(COLUMNS)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or self._contents is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._cells(index.row())[index.column()]
        if role == Qt.ItemDataRole.ToolTipRole:
            return "\n".join(self._parts[index.row()].tensors[:20]) if index.column() == 0 else None
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return ", ".join(word for word in self._cells(index.row()) if word)
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.DisplayRole and orientation == Qt.Orientation.Horizontal:
            return COLUMNS[section]
        if role == Qt.ItemDataRole.TextAlignmentRole and orientation == Qt.Orientation.Horizontal:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom
        return None

    def _cells(self, row: int) -> tuple[str, ...]:
        assert self._contents is not None
        part = self._parts[row]
        tensor = self._contents.tensor(part.tensors[0])
        used = part.role is not None
        mark = "⚠ " if row in self._faulty else ""
        return (
            part_name(part),
            shape_text(tensor),
            tensor.dtype,
            range_text(tensor),
            mark + (part.role.label if part.role is not None else NOT_USED),
            axes_text(part.axes) if used else "",
        )
