"""RowsModel: how many keys each query may attend to, with each meaning of a mask."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, Qt

from attn_gui.files.summary import printable
from attn_gui.files.tensors.previewing import MaskPreview
from attn_gui.views.grid import Index

ROOT = QModelIndex()
HEADS = {"allowed": "True = may attend", "blocked": "True = blocked", "additive": "Added to the scores"}
NO_KEY = "0, fully masked"


class RowsModel(QAbstractTableModel):
    """One row a query of the first head, one column a meaning."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._previews: tuple[MaskPreview, ...] = ()
        self._names: Sequence[str] = ()

    def show(self, previews: tuple[MaskPreview, ...], names: Sequence[str]) -> None:
        """Show ``previews``; ``names`` are those of the queries, empty where they have none."""
        self.beginResetModel()
        self._previews, self._names = previews, names
        self.endResetModel()

    def rowCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() or not self._previews else len(self._previews[0].per_row)

    def columnCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(self._previews)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            count = int(self._previews[index.column()].per_row[index.row()])
            return f"{count:,}" if count else NO_KEY
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Horizontal and section < len(self._previews):
            if role == Qt.ItemDataRole.DisplayRole:
                return HEADS[self._previews[section].meaning]
            if role == Qt.ItemDataRole.TextAlignmentRole:
                return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom
        if orientation == Qt.Orientation.Vertical and role == Qt.ItemDataRole.DisplayRole:
            if self.rowCount() == 1 and len(self._names) != 1:
                return "every query"
            return printable(self._names[section]) if section < len(self._names) else f"query {section + 1:,}"
        return None
