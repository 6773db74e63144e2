"""StageModel: a stage's numbers as a table to read and to copy."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Qt

from attn_gui.files.layout import Layout
from attn_gui.model.precision import Precision
from attn_gui.views.array_model import ArrayModel
from attn_gui.views.context import Context
from attn_gui.views.grid import Index
from attn_gui.views.heatmap.labels import token_text

NOTHING = Layout("query", "key", (), ())


class StageModel(ArrayModel):
    """An ArrayModel that says of each cell what it is: "N, query is, key the, 0.2226"."""

    def __init__(self, context: Context, parent: QObject | None = None) -> None:
        super().__init__(context.settings, parent)
        self._context = context
        self._stage = ""
        self._layout = NOTHING

    def show_stage(
        self,
        stage: str,
        values: NDArray[Any],
        layout: Layout,
        precision: Precision,
        origin: tuple[int, int] = (0, 0),
    ) -> None:
        """Show ``values`` of ``stage``, [rows, columns] or a block of it from ``origin`` on."""
        self._stage, self._layout = stage, layout
        self.show_block(values, origin, layout.rows, layout.columns, precision)

    def forget(self) -> None:
        """Let go of the numbers."""
        self.show_stage("", np.empty((0, 0)), NOTHING, Precision.FLOAT64)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.AccessibleTextRole and index.isValid():
            row, column = self._layout.rows[index.row()], self._layout.columns[index.column()]
            exact = super().data(index, Qt.ItemDataRole.EditRole)
            return f"{self._stage}, {self._layout.row_kind} {row}, {self._layout.column_kind} {column}, {exact}"
        return super().data(index, role)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        found = super().headerData(section, orientation, role)
        if role == Qt.ItemDataRole.DisplayRole and found is not None:
            return token_text(found)
        # a token may look like markup, which Qt would follow in a tooltip
        return f"<span>{escape(found)}</span>" if role == Qt.ItemDataRole.ToolTipRole and found is not None else found
