"""TensorModel: the tensors of a file, as a table of names, shapes and what they become."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, Qt

from attn_gui.files.checkpoint.declared import Declared
from attn_gui.files.checkpoint.modules import AttentionModule
from attn_gui.files.summary import printable
from attn_gui.views.grid import Index

COLUMNS = ("Tensor", "Shape", "Numbers", "Becomes")
ROOT = QModelIndex()


class TensorModel(QAbstractTableModel):
    """One row a tensor, in the order of the file."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[tuple[str, str, str, str]] = []

    def show(self, tensors: Mapping[str, Declared], module: AttentionModule | None) -> None:
        """Show ``tensors``, and which of them ``module`` is made of."""
        self.beginResetModel()
        self._rows = [
            (
                printable(name),
                " × ".join(map(str, tensor.shape)) or "1",
                tensor.dtype,
                "" if module is None else ", ".join(module.role(name)),
            )
            for name, tensor in tensors.items()
        ]
        self.endResetModel()

    @property
    def first_used(self) -> int | None:
        """The first row that becomes something."""
        return next((row for row, cells in enumerate(self._rows) if cells[3]), None)

    def rowCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(COLUMNS)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        cells = self._rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return cells[index.column()]
        if role == Qt.ItemDataRole.AccessibleTextRole:
            name, shape, dtype, becomes = cells
            return f"{name}, shape {shape}, {dtype}, {f'becomes {becomes}' if becomes else 'not used'}"
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.DisplayRole and orientation == Qt.Orientation.Horizontal:
            return COLUMNS[section]
        if role == Qt.ItemDataRole.TextAlignmentRole and orientation == Qt.Orientation.Horizontal:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom
        return None
